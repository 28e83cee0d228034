"""The stores of the kinds that say what a cluster offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from dra import objects
from dra.names import PoolKey
from dra.values import first_value_problem
from inventory import models
from inventory.mirror import columns
from inventory.mirror.columns import Columns
from inventory.mirror.pools import (
    Holdings,
    nothing_held,
    pools_of_rules,
    refresh_pools,
)
from inventory.mirror.reading import Json, Reading, read_object
from inventory.mirror.store import Derivation, Known, MirrorStore, Written
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

    def columns(self, reading: Reading[objects.Node]) -> Columns:
        assert reading.object is not None
        return columns.node_columns(reading.object)


class DeviceClassStore(MirrorStore):
    kind = "DeviceClass"
    model = models.DeviceClass

    def columns(self, reading: Reading[objects.DeviceClass]) -> Columns:
        assert reading.object is not None
        return columns.class_columns(reading.object)


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
    remember: ClassVar[tuple[str, ...]] = ("driver", "pool", "device")

    def columns(self, reading: Reading[objects.DeviceTaintRule]) -> Columns:
        assert reading.object is not None
        return columns.rule_columns(reading.object)

    def derivation(self, writer: Writer) -> Derivation:
        return _RuleDerivation(writer, self.holdings)


class _SliceDerivation(Derivation):
    """Pools that a changed slice belongs to, or belonged to before."""

    def __init__(self, writer: Writer, holdings: Holdings) -> None:
        self.writer = writer
        self.holdings = holdings
        self.keys: set[PoolKey] = set()

    def written(self, rows: Sequence[Written]) -> None:
        for written in rows:
            self.keys.add(PoolKey(written.row.driver, written.row.pool_name))
            if written.before is not None:
                self._add(written.before)

    def deleting(self, rows: Sequence[Known]) -> None:
        for known in rows:
            self._add(known)

    def finish(self) -> None:
        refresh_pools(self.writer, self.keys, self.holdings)

    def _add(self, known: Known) -> None:
        driver, pool = known.remembered
        self.keys.add(PoolKey(driver, pool))


class _RuleDerivation(Derivation):
    """Pools with devices that a changed rule means, or meant before."""

    def __init__(self, writer: Writer, holdings: Holdings) -> None:
        self.writer = writer
        self.holdings = holdings
        self.selectors: set[tuple[Any, ...]] = set()

    def written(self, rows: Sequence[Written]) -> None:
        for written in rows:
            row = written.row
            if written.object is not None:
                self.selectors.add((row.driver, row.pool, row.device))
            if written.before is not None:
                self.selectors.add(written.before.remembered)

    def deleting(self, rows: Sequence[Known]) -> None:
        self.selectors.update(known.remembered for known in rows)

    def finish(self) -> None:
        keys = pools_of_rules(self.writer.cluster_id, self.selectors)
        refresh_pools(self.writer, keys, self.holdings)
