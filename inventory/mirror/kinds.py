"""The stores of the kinds that say what a cluster offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from dra import objects
from dra.names import PoolKey
from dra.values import first_value_problem
from inventory import models
from inventory.choices import Happened
from inventory.history.changes import DeviceHistory
from inventory.history.happenings import Recorder
from inventory.history.rules import RuleHistory, RuleState, Selector
from inventory.mirror import columns
from inventory.mirror.columns import Columns
from inventory.mirror.derivation import Derivation, Known, Written
from inventory.mirror.pools import (
    Holdings,
    nothing_held,
    pools_of_rules,
    refresh_pools,
)
from inventory.mirror.reading import Json, Reading, read_object
from inventory.mirror.store import MirrorStore
from inventory.mirror.writing import ALWAYS, Guard, Writer


class NamespaceStore(MirrorStore):
    kind = "Namespace"
    model = models.Namespace

    def columns(self, reading: Reading[objects.Namespace]) -> Columns:
        assert reading.object is not None
        return columns.namespace_columns(reading.object)


class NodeStore(MirrorStore):
    kind = "Node"
    model = models.Node
    remember: ClassVar[tuple[str, ...]] = ("ready", "unschedulable")

    def columns(self, reading: Reading[objects.Node]) -> Columns:
        assert reading.object is not None
        return columns.node_columns(reading.object)

    def derivation(self, writer: Writer) -> Derivation:
        return _NodeHistory(writer, self)


class DeviceClassStore(MirrorStore):
    kind = "DeviceClass"
    model = models.DeviceClass
    remember: ClassVar[tuple[str, ...]] = ("raw",)

    def columns(self, reading: Reading[objects.DeviceClass]) -> Columns:
        assert reading.object is not None
        return columns.class_columns(reading.object)

    def derivation(self, writer: Writer) -> Derivation:
        return _ClassHistory(writer, self)


class _PoolStore(MirrorStore):
    """A kind whose changes reach pools and devices."""

    def __init__(
        self,
        cluster_id: int,
        *,
        guard: Guard = ALWAYS,
        compare_raw: bool = False,
        holdings: Holdings = nothing_held,
    ) -> None:
        super().__init__(cluster_id, guard=guard, compare_raw=compare_raw)
        self.holdings = holdings


class ResourceSliceStore(_PoolStore):
    kind = "ResourceSlice"
    model = models.ResourceSlice
    remember: ClassVar[tuple[str, ...]] = ("driver", "pool_name")

    def read(self, raw: Json) -> Reading[objects.ResourceSlice]:
        return read_object(raw, objects.ResourceSlice, first_value_problem)

    def columns(self, reading: Reading[objects.ResourceSlice]) -> Columns:
        assert reading.object is not None
        return columns.slice_columns(reading.object)

    def salvage(self, raw: Json) -> Columns:
        return columns.salvaged_slice_columns(raw)

    def derivation(self, writer: Writer) -> Derivation:
        return _SliceDerivation(writer, self.holdings)


class DeviceTaintRuleStore(_PoolStore):
    kind = "DeviceTaintRule"
    model = models.DeviceTaintRule
    remember: ClassVar[tuple[str, ...]] = ("driver", "pool", "device", "raw")

    def columns(self, reading: Reading[objects.DeviceTaintRule]) -> Columns:
        assert reading.object is not None
        return columns.rule_columns(reading.object)

    def derivation(self, writer: Writer) -> Derivation:
        return _RuleDerivation(writer, self.holdings)


class _History(Derivation):
    """What happens to objects of a kind from which nothing else follows."""

    def __init__(self, writer: Writer, store: MirrorStore) -> None:
        self.kind = store.kind
        self.model = store.model
        self.recorder = Recorder(writer.cluster_id, store.kind)

    def written(self, rows: Sequence[Written]) -> None:
        for written in rows:
            row, before = written.row, written.before
            if before is not None and before.uid != row.uid:
                self.recorder.note(
                    self.kind, row.name, Happened.DELETED, uid=before.uid
                )
                before = None
            if before is None:
                self.recorder.note(self.kind, row.name, Happened.CREATED, uid=row.uid)
            else:
                self.changed(row, before)

    def deleting(self, rows: Sequence[Known]) -> None:
        gone = self.model._default_manager.filter(pk__in=[known.pk for known in rows])
        for name, uid in gone.values_list("name", "uid"):
            self.recorder.note(self.kind, name, Happened.DELETED, uid=uid)

    def finish(self) -> None:
        self.recorder.save()

    def changed(self, row: Any, before: Known) -> None:
        """A row that was there already; ``before`` is what it was."""


class _NodeHistory(_History):
    """Cordoned or not, ready or not."""

    def changed(self, row: models.Node, before: Known) -> None:
        ready, unschedulable = before.remembered
        if row.unschedulable != unschedulable:
            what = Happened.CORDONED if row.unschedulable else Happened.UNCORDONED
            self.recorder.note(self.kind, row.name, what, uid=row.uid)
        if row.ready != ready:
            what = Happened.READY if row.ready else Happened.UNREADY
            self.recorder.note(self.kind, row.name, what, uid=row.uid)


class _ClassHistory(_History):
    """Changes of the spec, by the names of its parts."""

    def changed(self, row: models.DeviceClass, before: Known) -> None:
        was, now = _spec(before.remembered[0]), _spec(row.raw)
        parts = sorted(
            part for part in was.keys() | now.keys() if was.get(part) != now.get(part)
        )
        if parts:
            note = self.recorder.note
            note(self.kind, row.name, Happened.CHANGED, uid=row.uid, parts=parts[:16])


def _spec(raw: Json) -> Json:
    spec = raw.get("spec")
    return spec if isinstance(spec, dict) else {}


class _SliceDerivation(Derivation):
    """Pools that a changed slice belongs to, or belonged to before."""

    def __init__(self, writer: Writer, holdings: Holdings) -> None:
        self.writer = writer
        self.holdings = holdings
        self.keys: set[PoolKey] = set()
        self.history = DeviceHistory(writer.cluster_id, ResourceSliceStore.kind)

    def written(self, rows: Sequence[Written]) -> None:
        for written in rows:
            self.keys.add(PoolKey(written.row.driver, written.row.pool_name))
            if written.before is not None:
                self._add(written.before)

    def deleting(self, rows: Sequence[Known]) -> None:
        self.history.going([known.pk for known in rows])
        for known in rows:
            self._add(known)

    def finish(self) -> None:
        refresh_pools(self.writer, self.keys, self.holdings, self.history)
        self.history.save()

    def _add(self, known: Known) -> None:
        driver, pool = known.remembered
        self.keys.add(PoolKey(driver, pool))


class _RuleDerivation(Derivation):
    """Pools with devices that a changed rule means, or meant before."""

    def __init__(self, writer: Writer, holdings: Holdings) -> None:
        self.writer = writer
        self.holdings = holdings
        self.selectors: set[Selector] = set()
        self.history = RuleHistory(writer.cluster_id)

    def written(self, rows: Sequence[Written]) -> None:
        for written in rows:
            row, known = written.row, written.before
            was = _rule_state(row.name, known) if known is not None else None
            now = None
            if written.object is not None:
                selector = Selector(row.driver, row.pool, row.device)
                now = RuleState.of(row.name, row.raw, selector)
            self._add(row.name, row.uid, was, now)

    def deleting(self, rows: Sequence[Known]) -> None:
        pks = [known.pk for known in rows]
        names = dict(
            models.DeviceTaintRule.objects.filter(pk__in=pks).values_list("pk", "name")
        )
        for known in rows:
            name = names[known.pk]
            self._add(name, known.uid, _rule_state(name, known), None)

    def finish(self) -> None:
        keys = pools_of_rules(self.writer.cluster_id, self.selectors)
        refresh_pools(self.writer, keys, self.holdings, self.history)
        self.history.save()

    def _add(
        self, name: str, uid: str, was: RuleState | None, now: RuleState | None
    ) -> None:
        self.selectors |= {one.selector for one in (was, now) if one is not None}
        self.history.rule(name, uid, was, now)


def _rule_state(name: str, known: Known) -> RuleState | None:
    """Of a rule as it was; None for one that could not be read, which had no effect."""
    if known.problem:
        return None
    *selector, raw = known.remembered
    return RuleState.of(name, raw, Selector(*selector))
