"""Capacity and counters of a cluster before and after, in quantities."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from dra import quantity
from dra.errors import QuantityError
from dra.names import PoolKey, qualified_name
from dra.objects import Device
from dra.pools import Pool
from dra.quantity import Format, Quantity
from dra.snapshot import Snapshot
from dra.usage import Holder, PoolUse, left_of
from dra.whatif.result import AmountChange

_MEMO: Final = "whatif amounts"


class Amount(NamedTuple):
    """Nano units published and taken, and the format to write them in."""

    total: int = 0
    taken: int = 0
    format: Format = Format.DECIMAL

    def plus(self, other: Amount, times: int = 1) -> Amount:
        return Amount(
            self.total + times * other.total,
            self.taken + times * other.taken,
            other.format,
        )


class PoolAmounts(NamedTuple):
    """By capacity's qualified name, and by counter set and counter."""

    capacity: Mapping[str, Amount]
    counters: Mapping[tuple[str, str], Amount]


_NONE: Final = PoolAmounts({}, {})


def amounts(
    before: Snapshot, after: Snapshot
) -> tuple[tuple[AmountChange, ...], tuple[AmountChange, ...]]:
    """The capacities and the counters that changed, summed up by driver and name."""
    was = _sums(before)
    is_ = was.copy()
    for key in changed_pools(before, after):
        is_.add(before, key, -1)
        is_.add(after, key, 1)
    return (
        tuple(_changes(was.capacity, is_.capacity)),
        tuple(_changes(was.counters, is_.counters)),
    )


def changed_pools(before: Snapshot, after: Snapshot) -> Iterator[PoolKey]:
    """Pools that are published otherwise or held by others, by driver and name."""
    for key in sorted(before.pools.keys() | after.pools.keys()):
        if before.pools.get(key) is not after.pools.get(key) or before.in_use.pool(
            key
        ) is not after.in_use.pool(key):
            yield key


def _changes(old: _Sums, new: _Sums) -> Iterator[AmountChange]:
    for key in sorted(old.keys() | new.keys()):
        one, other = old.get(key, Amount()), new.get(key, Amount())
        if one[:2] != other[:2]:
            yield _change(*key, one, other)


def counter_sets(before: Snapshot, after: Snapshot) -> list[AmountChange]:
    """The counters that changed, set by set."""
    found = []
    for key in changed_pools(before, after):
        was = _of_pool(before.pools.get(key), before.in_use.pool(key)).counters
        is_ = _of_pool(after.pools.get(key), after.in_use.pool(key)).counters
        for counter in sorted(was.keys() | is_.keys()):
            one, other = was.get(counter, Amount()), is_.get(counter, Amount())
            if one[:2] != other[:2]:
                change = _change(key.driver, counter[1], one, other)
                found.append(replace(change, pool=key.name, counter_set=counter[0]))
    return found


def _change(driver: str, name: str, old: Amount, new: Amount) -> AmountChange:
    style = new.format if new.total else old.format
    amounts = (
        *(old.total, old.taken, new.total, new.taken),
        *(new.total - old.total, new.taken - old.taken),
    )
    written = (Quantity(nanos, style).canonical() for nanos in amounts)
    return AmountChange(driver, name, *written)


type _Sums = dict[tuple[str, str], Amount]
"""By driver and name."""


@dataclasses.dataclass(slots=True)
class _Totals:
    capacity: _Sums = dataclasses.field(default_factory=dict)
    counters: _Sums = dataclasses.field(default_factory=dict)

    def copy(self) -> _Totals:
        return _Totals(dict(self.capacity), dict(self.counters))

    def add(self, snapshot: Snapshot, key: PoolKey, times: int) -> None:
        found = _of_pool(snapshot.pools.get(key), snapshot.in_use.pool(key))
        for name, amount in found.capacity.items():
            at = (key.driver, name)
            self.capacity[at] = self.capacity.get(at, Amount()).plus(amount, times)
        for (_, name), amount in found.counters.items():
            at = (key.driver, name)
            self.counters[at] = self.counters.get(at, Amount()).plus(amount, times)


def _sums(snapshot: Snapshot) -> _Totals:
    """The amounts of a whole cluster, kept until pools or claims change."""
    memo = snapshot.device_tables.memo
    known = memo.get(_MEMO)
    if (
        known is None
        or known[0] is not snapshot.pools
        or known[1] is not snapshot.in_use
    ):
        totals = _Totals()
        for key in snapshot.pools:
            totals.add(snapshot, key, 1)
        known = memo[_MEMO] = (snapshot.pools, snapshot.in_use, totals)
    found: _Totals = known[2]
    return found


def _of_pool(pool: Pool | None, use: PoolUse) -> PoolAmounts:
    """The amounts of a pool; none of one that contradicts itself."""
    if pool is None or not pool.valid:
        return _NONE
    known = pool.memo.get(_MEMO)
    if known is None or known[0] is not use:
        try:
            found = PoolAmounts(_capacity(pool, use), _counters(pool, use))
        except QuantityError:  # of a claim: slices were looked through
            found = _NONE
        known = pool.memo[_MEMO] = (use, found)
    result: PoolAmounts = known[1]
    return result


def _capacity(pool: Pool, use: PoolUse) -> dict[str, Amount]:
    found: dict[str, Amount] = {}
    for device in pool.devices():
        if device.consumes_counters:
            continue
        holders = use.holders.get(device.name, ())
        for name, amount in _of_device(device, holders):
            at = qualified_name(name, pool.driver)
            found[at] = found.get(at, Amount()).plus(amount)
    return found


def _of_device(
    device: Device, holders: tuple[Holder, ...]
) -> Iterator[tuple[str, Amount]]:
    alone = any(h.result.share_id is None for h in holders)
    for name, capacity in (device.capacity or {}).items():
        total = quantity.nanos(capacity.value)
        taken = total if alone else 0
        if holders and not alone:
            for holder in holders:
                consumed = (holder.result.consumed_capacity or {}).get(name, "0")
                taken += quantity.nanos(consumed)
        yield name, Amount(total, taken, quantity.read(capacity.value).format)


def _counters(pool: Pool, use: PoolUse) -> dict[tuple[str, str], Amount]:
    if not pool.counter_slices or not pool.usable:
        return {}
    left = left_of(pool, use.holders)
    found = {}
    for piece in pool.counter_slices:
        for counter_set in piece.spec.shared_counters or ():
            for name, counter in (counter_set.counters or {}).items():
                total = quantity.read(counter.value)
                taken = total.nanos - left[counter_set.name, name]
                found[counter_set.name, name] = Amount(total.nanos, taken, total.format)
    return found
