"""Pools and devices: derived from slices, taint rules and what claims hold.

Two entrances, both inside an open transaction:

* :func:`refresh_pools` after slices or taint rules changed: pool rows, device rows
  and device states of the pools named;
* :func:`refresh_states` after claims changed: device states alone.

Claims live in a room above this one, so what they hold comes through
:class:`Holdings`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Protocol

from django.db.models import Q, QuerySet

from dra import objects
from dra.names import PoolKey
from dra.pools import Pool, make_pool
from dra.taints import TaintRules
from dra.usage import DeviceUse, Holder, device_states
from inventory import models
from inventory.history.changes import DeviceHistory
from inventory.mirror.columns import Columns
from inventory.mirror.devices import device_columns
from inventory.mirror.reading import Json, fit, read_object
from inventory.mirror.writing import Writer

DEVICES_PER_STEP = 2_000
"""How many devices are in memory at a time; a pool is never split."""

_OF_RULES = frozenset({"taints", "tainted", "state", "holder_count"})
"""What a taint rule can change of a device."""
_MANY_ALIKE = 20

type _Place = tuple[int, int]
"""A slice's key, and the position of a device in it."""

SLICE = "ResourceSlice"
"""Pools and devices count as changes of slices for whoever waits for news."""


class Holdings(Protocol):
    """What allocated claims hold in some pools of one cluster."""

    def __call__(
        self, cluster_id: int, keys: Collection[PoolKey], /
    ) -> Mapping[PoolKey, Sequence[Holder]]: ...


def nothing_held(
    _cluster_id: int, _keys: Collection[PoolKey]
) -> Mapping[PoolKey, Sequence[Holder]]:
    """Holdings of a mirror without claims."""
    return {}


def load_rules(cluster_id: int) -> TaintRules:
    """The readable taint rules of the cluster."""
    rows = models.DeviceTaintRule.objects.filter(cluster_id=cluster_id, problem="")
    raws = list(rows.values_list("raw", flat=True))
    readings = [read_object(raw, objects.DeviceTaintRule) for raw in raws]
    return TaintRules(r.object for r in readings if r.object is not None)


def pool_filter(keys: Iterable[PoolKey], *, pool: str) -> Q:
    """Rows of any of ``keys``; ``pool`` is the column with the pool's name."""
    names: dict[str, list[str]] = {}
    for key in keys:
        names.setdefault(key.driver, []).append(key.name)
    wanted = Q(pk__in=[])
    for driver, those in names.items():
        wanted |= Q(driver=driver) & Q(**{f"{pool}__in": those})
    return wanted


def pools_of_rules(
    cluster_id: int, selectors: Iterable[tuple[str, str, str]]
) -> set[PoolKey]:
    """The pools with a device that one of ``selectors`` (driver, pool, device) means.

    An empty text means any. (A rule that asks for the empty text itself means no
    device; looking at too many pools does no harm.)
    """
    wanted = Q(pk__in=[])
    for driver, pool, device in selectors:
        values = {"driver": driver, "pool": pool, "name": device}
        condition = Q(**{name: value for name, value in values.items() if value})
        wanted |= condition or Q(pk__isnull=False)
    rows = models.Device.objects.filter(wanted, cluster_id=cluster_id)
    return {PoolKey(*key) for key in rows.values_list("driver", "pool").distinct()}


def refresh_pools(
    writer: Writer,
    keys: Collection[PoolKey],
    holdings: Holdings,
    history: DeviceHistory,
) -> None:
    """Make pool and device rows of ``keys`` follow their slices, rules and claims.

    1. Group the readable slices of each pool; a pool without any is deleted.
    2. Write the pool rows that differ.
    3. Devices of the newest generation get rows. Those of older generations have
       none, so no total counts them.
    4. The state of each device is computed; device rows that differ are written.
    """
    if not keys:
        return
    rules = load_rules(writer.cluster_id)
    for step in _steps(writer.cluster_id, keys):
        writer.guard.check()
        pools = _load(writer.cluster_id, step, holdings)
        _write_pools(writer, step, pools)
        wanted: dict[_Place, Columns] = {}
        for pool in pools.values():
            wanted.update(_device_rows(pool, rules))
        _write_devices(writer, step, wanted, history)


def refresh_states(
    writer: Writer, keys: Collection[PoolKey], holdings: Holdings
) -> None:
    """Compute the state of every device of ``keys`` anew; write those that differ.

    Devices that get the same state are written by one statement and share a ``seq``.
    """
    if not keys:
        return
    rules = load_rules(writer.cluster_id)
    for step in _steps(writer.cluster_id, keys):
        writer.guard.check()
        pools = _load(writer.cluster_id, step, holdings)
        uses = {key: pool.uses(rules) for key, pool in pools.items()}
        changes: dict[tuple[str, int], list[int]] = {}
        rows = _devices(writer.cluster_id, step).values_list(
            "pk", "driver", "pool", "name", "state", "holder_count"
        )
        for pk, driver, pool_name, name, *now in rows:
            use = uses[PoolKey(driver, pool_name)].get(name)
            if use is not None and now != [use.state.value, use.claim_count]:
                changes.setdefault((use.state.value, use.claim_count), []).append(pk)
        seq = writer.next_seq(SLICE) if changes else 0
        for (state, count), pks in changes.items():
            models.Device.objects.filter(pk__in=pks).update(
                state=state, holder_count=count, seq=seq
            )


@dataclass(frozen=True, slots=True)
class _Slice:
    pk: int
    raw: Json
    object: objects.ResourceSlice


@dataclass(frozen=True, slots=True)
class _Pool:
    """A pool with its slices' rows and what claims hold in it."""

    pool: Pool
    members: Mapping[str, _Slice]
    holders: Sequence[Holder]

    def uses(self, rules: TaintRules) -> dict[str, DeviceUse]:
        """State and holders of each device, by name."""
        return device_states(self.pool, self.holders, rules.for_pool(self.pool))


def _steps(cluster_id: int, keys: Iterable[PoolKey]) -> Iterator[list[PoolKey]]:
    """``keys`` in portions of about DEVICES_PER_STEP devices."""
    for some in batched(sorted(keys), 500):
        sizes = Counter[PoolKey]()
        rows = models.ResourceSlice.objects.filter(cluster_id=cluster_id)
        rows = rows.filter(pool_filter(some, pool="pool_name"))
        for driver, name, count in rows.values_list(
            "driver", "pool_name", "device_count"
        ):
            sizes[PoolKey(driver, name)] += count
        step: list[PoolKey] = []
        total = 0
        for key in some:
            step.append(key)
            total += sizes[key] + 1
            if total >= DEVICES_PER_STEP:
                yield step
                step, total = [], 0
        if step:
            yield step


def _load(
    cluster_id: int, keys: Sequence[PoolKey], holdings: Holdings
) -> dict[PoolKey, _Pool]:
    """Those of ``keys`` that have a readable slice."""
    members: dict[PoolKey, dict[str, _Slice]] = {}
    rows = models.ResourceSlice.objects.filter(cluster_id=cluster_id)
    rows = rows.filter(pool_filter(keys, pool="pool_name")).order_by("name")
    for pk, driver, pool, raw in rows.values_list("pk", "driver", "pool_name", "raw"):
        # One with an unreadable quantity takes part: it makes the pool invalid.
        piece = read_object(raw, objects.ResourceSlice).object
        if piece is not None:
            those = members.setdefault(PoolKey(driver, pool), {})
            those[piece.metadata.name] = _Slice(pk, raw, piece)
    held = holdings(cluster_id, keys)
    return {
        key: _Pool(
            make_pool(m.object for m in those.values()), those, held.get(key, ())
        )
        for key, those in members.items()
    }


def _device_rows(pool: _Pool, rules: TaintRules) -> Iterator[tuple[_Place, Columns]]:
    """Rows of the newest generation, each under its slice's key and its position."""
    uses = pool.uses(rules)
    for piece in pool.pool.device_slices:
        member = pool.members[piece.metadata.name]
        published = (member.raw.get("spec") or {}).get("devices") or ()
        for position, raw in enumerate(published):
            row = device_columns(piece, position, raw, rules)
            use = uses[row["name"]]
            row["state"], row["holder_count"] = use.state.value, use.claim_count
            yield (member.pk, position), row


def _write_pools(
    writer: Writer, keys: Sequence[PoolKey], pools: Mapping[PoolKey, _Pool]
) -> None:
    rows = models.Pool.objects.filter(cluster_id=writer.cluster_id)
    known = {
        PoolKey(row.driver, row.name): row
        for row in rows.filter(pool_filter(keys, pool="name"))
    }
    gone = [row.pk for key, row in known.items() if key not in pools]
    if gone:
        models.Pool.objects.filter(pk__in=gone).delete()
        writer.next_seq(SLICE)
    changed = [
        row
        for key, pool in pools.items()
        if (row := _changed(models.Pool, known.get(key), pool_columns(pool.pool)))
    ]
    _save(writer, models.Pool, changed)


def pool_columns(pool: Pool) -> Columns:
    return {
        "driver": pool.driver,
        "name": pool.name,
        "node_name": pool.node_name,
        "generation": pool.generation,
        "slices_wanted": pool.wanted,
        "slices_present": pool.present,
        "slices_older": len(pool.older),
        "device_count": sum(1 for _ in pool.devices()),
        "counter_set_count": sum(
            len(s.spec.shared_counters or ()) for s in pool.counter_slices
        ),
        "complete": pool.complete,
        "valid": pool.valid,
        "problem": pool.problem,
    }


def _write_devices(
    writer: Writer,
    keys: Sequence[PoolKey],
    wanted: Mapping[_Place, Columns],
    history: DeviceHistory,
) -> None:
    known = {
        (row.slice_id, row.position): row for row in _devices(writer.cluster_id, keys)
    }
    history.compare(keys, map(vars, known.values()), wanted.values())
    gone = [row.pk for place, row in known.items() if place not in wanted]
    if gone:
        models.Device.objects.filter(pk__in=gone).delete()
        writer.next_seq(SLICE)
    alike = _write_alike(writer, known, wanted)
    changed = []
    for place, columns in wanted.items():
        row = None
        if place not in alike:
            row = _changed(models.Device, known.get(place), columns)
        if row is not None:
            row.slice_id = place[0]
            changed.append(row)
    _save(writer, models.Device, changed)


def _write_alike(
    writer: Writer,
    known: Mapping[_Place, models.Device],
    wanted: Mapping[_Place, Columns],
) -> set[_Place]:
    """Rows of which many change in the same way, as a taint rule changes them.

    One statement writes all of a kind, and of each row only what differs.
    """
    places: dict[str, list[_Place]] = {}
    news: dict[str, Columns] = {}
    for place, row in known.items():
        if place not in wanted:
            continue
        columns = wanted[place]
        changes = {n: v for n, v in columns.items() if getattr(row, n) != v}
        if changes and changes.keys() <= _OF_RULES:
            text = json.dumps(changes, sort_keys=True)
            news[text] = changes
            places.setdefault(text, []).append(place)
    many = {t: some for t, some in places.items() if len(some) >= _MANY_ALIKE}
    seq = writer.next_seq(SLICE) if many else 0
    for text, some in many.items():
        rows = models.Device.objects.filter(pk__in=[known[place].pk for place in some])
        rows.update(seq=seq, **fit(models.Device, news[text]))
    return {place for some in many.values() for place in some}


def _changed[M: (models.Pool, models.Device)](
    model: type[M], row: M | None, columns: Columns
) -> M | None:
    """``row`` with ``columns`` set, a new row, or None when nothing differs."""
    columns = fit(model, columns)
    if row is None:
        return model(**columns)
    if all(getattr(row, name) == value for name, value in columns.items()):
        return None
    for name, value in columns.items():
        setattr(row, name, value)
    return row


def _save[M: (models.Pool, models.Device)](
    writer: Writer, model: type[M], rows: Sequence[M]
) -> None:
    """Insert rows without a primary key, update the others, all with one new seq."""
    if not rows:
        return
    seq = writer.next_seq(SLICE)
    for row in rows:
        row.cluster_id = writer.cluster_id
        row.seq = seq
    new = [row for row in rows if row._state.adding]
    old = [row for row in rows if not row._state.adding]
    model._default_manager.bulk_create(new, batch_size=500)
    if old:
        fields = [f.name for f in model._meta.concrete_fields if not f.primary_key]
        model._default_manager.bulk_create(
            old,
            batch_size=500,
            update_conflicts=True,
            unique_fields=["pk"],
            update_fields=fields,
        )


def _devices(cluster_id: int, keys: Sequence[PoolKey]) -> QuerySet[models.Device]:
    rows = models.Device.objects.filter(cluster_id=cluster_id)
    return rows.filter(pool_filter(keys, pool="pool"))
