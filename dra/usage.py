"""Which devices are held, by whom, and what can be done with the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from dra import quantity
from dra.names import DeviceID, PoolKey
from dra.objects import (
    Device,
    DeviceResult,
    DeviceTaint,
    ResourceClaim,
)
from dra.pools import Pool
from dra.quantity import Quantity
from dra.taints import prevents_allocation


class Holder(NamedTuple):
    """One result of one allocated claim that names a device.

    ``position`` is its place in the claim's results.
    """

    namespace: str
    claim: str
    uid: str
    position: int
    result: DeviceResult

    @property
    def claim_key(self) -> tuple[str, str]:
        return (self.namespace, self.claim)


def holdings(claim: ResourceClaim) -> dict[PoolKey, list[Holder]]:
    """What ``claim``, allocated or not, names in each pool; admin access included."""
    found: dict[PoolKey, list[Holder]] = {}
    allocation = claim.status.allocation
    if allocation is None:
        return found
    meta = claim.metadata
    for position, result in enumerate(allocation.devices.results or ()):
        holder = Holder(meta.namespace, meta.name, meta.uid, position, result)
        found.setdefault(PoolKey(result.driver, result.pool), []).append(holder)
    return found


@dataclass(frozen=True, slots=True)
class PoolUse:
    """Who holds the devices of one pool: device name to holders, by claim.

    Results with admin access hold nothing and are in ``admin`` alone
    (allocator.md section 1). Devices need not exist (any more).
    """

    holders: Mapping[str, tuple[Holder, ...]]
    admin: Mapping[str, tuple[Holder, ...]]

    def results(self) -> Iterator[Holder]:
        """Everything, admin access included."""
        for held in (self.holders, self.admin):
            for holders in held.values():
                yield from holders


def _alone(holders: Iterable[Holder]) -> bool:
    return any(h.result.share_id is None for h in holders)


NO_USE = PoolUse({}, {})


@dataclass(frozen=True, slots=True)
class InUse:
    """The in-use state of a cluster, by pool."""

    by_pool: Mapping[PoolKey, PoolUse]

    def pool(self, key: tuple[str, str]) -> PoolUse:
        return self.by_pool.get(PoolKey(*key), NO_USE)

    def holders(self, device: DeviceID) -> tuple[Holder, ...]:
        """Who holds ``device``; admin access does not count."""
        use = self.by_pool.get(PoolKey(device.driver, device.pool), NO_USE)
        return use.holders.get(device.device, ())


NOTHING_IN_USE = InUse({})


def change_use(
    use: PoolUse, gone: frozenset[tuple[str, str]], added: Iterable[Holder]
) -> PoolUse:
    """``use`` without the claims ``gone`` and with ``added``."""
    new = list(added)
    return PoolUse(
        _change(use.holders, gone, (h for h in new if not h.result.admin_access)),
        _change(use.admin, gone, (h for h in new if h.result.admin_access)),
    )


def _change(
    holders: Mapping[str, tuple[Holder, ...]],
    gone: frozenset[tuple[str, str]],
    added: Iterable[Holder],
) -> dict[str, tuple[Holder, ...]]:
    changed: dict[str, tuple[Holder, ...]] = {}
    for name, those in holders.items():
        left = tuple(h for h in those if (h.namespace, h.claim) not in gone)
        if left:
            changed[name] = left if len(left) != len(those) else those
    for holder in added:
        name = holder.result.device
        those = (*changed.get(name, ()), holder)
        changed[name] = tuple(sorted(those, key=lambda h: h[:4]))
    return changed


# --- states ------------------------------------------------------------------


class State(StrEnum):
    """What an operator can do with a device now; the first that applies counts."""

    IN_USE = "in use"
    """A claim holds it alone."""
    SHARED = "shared"
    """Claims hold shares of it."""
    INVALID = "invalid"
    INCOMPLETE = "incomplete"
    """Its pool is; nothing of it can be allocated."""
    TAINTED = "tainted"
    """Only claims that tolerate its taints get it."""
    BLOCKED = "blocked"
    """Free by itself, but what is left of its counters does not suffice."""
    FREE = "free"


class DeviceUse(NamedTuple):
    """``holders`` without admin access."""

    state: State
    holders: tuple[Holder, ...]

    @property
    def claim_count(self) -> int:
        """How many claims hold the device."""
        return len({h.claim_key for h in self.holders})


def device_states(
    pool: Pool,
    results: Iterable[Holder],
    rule_taints: Mapping[str, Sequence[DeviceTaint]],
) -> dict[str, DeviceUse]:
    """The state of each device of the newest generation of ``pool``, by name.

    ``results`` are what claims name in this pool (:meth:`PoolUse.results`), admin
    access included or not. ``rule_taints`` are taints per device beside those
    that its slice publishes (:meth:`TaintRules.for_pool`).
    """
    held = _by_device(results)
    left = left_of(pool, held) if pool.usable else {}
    states: dict[str, DeviceUse] = {}
    for device in pool.devices():
        holders = held.get(device.name, ())
        if holders:
            state = State.IN_USE if _alone(holders) else State.SHARED
        elif not pool.valid:
            state = State.INVALID
        elif not pool.complete:
            state = State.INCOMPLETE
        elif any(map(prevents_allocation, device.taints or ())) or any(
            map(prevents_allocation, rule_taints.get(device.name, ()))
        ):
            state = State.TAINTED
        elif device.consumes_counters and _lacks(device, left):
            state = State.BLOCKED
        else:
            state = State.FREE
        states[device.name] = DeviceUse(state, tuple(holders))
    return states


def _by_device(results: Iterable[Holder]) -> dict[str, list[Holder]]:
    held: dict[str, list[Holder]] = {}
    for holder in results:
        if not holder.result.admin_access:
            held.setdefault(holder.result.device, []).append(holder)
    return held


# --- counters ----------------------------------------------------------------

type CounterName = tuple[str, str]
"""Counter set and counter."""


def left_of(pool: Pool, held: Iterable[str]) -> dict[CounterName, int]:
    """Nano units left of each counter of a usable ``pool``; may be negative.

    ``held`` are names of devices; those the pool publishes now draw their share
    once, however many claims share them.
    """
    left = {name: total.nanos for name, total in _totals(pool).items()}
    if left:
        names = set(held)
        for device in pool.devices():
            if device.consumes_counters and device.name in names:
                for counter, amount in _draws(device):
                    left[counter] -= amount
    return left


def _totals(pool: Pool) -> dict[CounterName, Quantity]:
    return {
        (counter_set.name, name): quantity.read(counter.value)
        for piece in pool.counter_slices
        for counter_set in piece.spec.shared_counters or ()
        for name, counter in (counter_set.counters or {}).items()
    }


def _draws(device: Device) -> list[tuple[CounterName, int]]:
    """What the device takes of each counter; the API allows each set once."""
    return [
        ((use.counter_set, name), quantity.nanos(counter.value))
        for use in device.consumes_counters or ()
        for name, counter in (use.counters or {}).items()
    ]


def _lacks(device: Device, left: Mapping[CounterName, int]) -> bool:
    for use in device.consumes_counters or ():
        counter_set = use.counter_set
        for name, counter in (use.counters or {}).items():
            if quantity.nanos(counter.value) > left[counter_set, name]:
                return True
    return False


class Shortage(NamedTuple):
    """A counter of which too little is left, and the held devices that draw from it.

    The amounts are written in the format of the published counter.
    """

    counter_set: str
    counter: str
    needed: Quantity
    left: Quantity
    total: Quantity
    drawn_by: tuple[str, ...]


def shortages(
    pool: Pool, results: Iterable[Holder], device_name: str
) -> tuple[Shortage, ...]:
    """Which counters of ``pool`` do not allow the device now; empty when all do.

    Asks as if the device itself were free. Empty too when the pool is not usable
    or has no such device.
    """
    if not pool.usable:
        return ()
    draws = {device.name: dict(_draws(device)) for device in pool.devices()}
    held = _by_device(results).keys() - {device_name}
    totals = _totals(pool)
    left = left_of(pool, held)
    return tuple(
        Shortage(
            *counter,
            needed=Quantity(amount, totals[counter].format),
            left=Quantity(left[counter], totals[counter].format),
            total=totals[counter],
            drawn_by=tuple(
                name for name in draws if name in held and draws[name].get(counter)
            ),
        )
        for counter, amount in draws.get(device_name, {}).items()
        if amount > left[counter]
    )
