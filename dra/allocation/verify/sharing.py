"""What requests and claims take from one another: devices, capacity, counters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dra import quantity
from dra.allocation.features import Features
from dra.allocation.verify.capacity import Amounts, amounts_of, exceeded
from dra.allocation.verify.holdings import Held
from dra.allocation.verify.taken import Taken
from dra.allocation.verify.violations import Code, Violation
from dra.allocation.verify.world import SeenPool
from dra.errors import QuantityError
from dra.names import DeviceID
from dra.objects import Device, RawQuantity
from dra.quantity import Quantity

Holdings = Mapping[DeviceID, Sequence[Held]]


def check_devices(
    taken: Sequence[Taken], held: Holdings, features: Features
) -> Iterator[Violation]:
    """Nobody gets a device that another claim, or another request, has."""
    by_device: dict[DeviceID, list[Taken]] = defaultdict(list)
    for one in taken:
        by_device[one.id].append(one)
        yield from _held_by_others(one, held.get(one.id, ()), features)
    for those in by_device.values():
        for position, one in enumerate(those):
            words = _clash(one, those[:position], features)
            if words:
                yield one.violation(Code.TAKEN_TWICE, words)


def _held_by_others(
    one: Taken, holders: Sequence[Held], features: Features
) -> Iterator[Violation]:
    if one.want.admin or not holders:
        return
    alone = [h for h in holders if h.share_id is None]
    if alone:
        yield one.violation(Code.DEVICE_IN_USE, f"is held by claim {alone[0].claim}")
    elif not one.is_shared(features):
        yield one.violation(
            Code.DEVICE_IN_USE, f"is still shared by claim {holders[0].claim}"
        )


def _clash(one: Taken, earlier: Sequence[Taken], features: Features) -> str:
    for other in earlier:
        if one.is_shared(features):
            if other.want is one.want:
                return "is given to it twice"
        elif other.want.index == one.want.index or not (
            one.want.admin or other.want.admin
        ):
            return f"is given to the {other.want} as well"
    return ""


# --- capacity ----------------------------------------------------------------


def check_capacity(
    taken: Sequence[Taken], held: Holdings, features: Features
) -> Iterator[Violation]:
    """Shares are as the request policies say, and together fit into the device."""
    new: dict[DeviceID, list[Amounts]] = defaultdict(list)
    seen: dict[DeviceID, set[str]] = defaultdict(set)
    for one in taken:
        yield from _check_share_id(one, held, seen[one.id], features)
        amounts: Amounts | str = {}
        if features.consumable_capacity:
            amounts = amounts_of(one.want.capacity, one.found.device)
        if isinstance(amounts, str):
            yield one.violation(Code.CAPACITY_EXCEEDED, amounts)
            continue
        shared = one.is_shared(features)
        yield from _check_consumed(one, amounts if shared else {})
        if shared:
            new[one.id].append(amounts)
            continue
        words = exceeded(one.found.device, [amounts])
        if words:
            yield one.violation(Code.CAPACITY_EXCEEDED, words)
    for one in {one.id: one for one in taken}.values():
        if new[one.id]:
            words = _too_much(one.found.device, held.get(one.id, ()), new[one.id])
            if words:
                yield one.violation(Code.CAPACITY_EXCEEDED, words)


def has_room(
    device: Device,
    requested: Mapping[str, RawQuantity],
    held: Sequence[Held],
) -> bool:
    """Whether a request could have the device beside what other claims hold."""
    amounts = amounts_of(requested, device)
    return not isinstance(amounts, str) and not _too_much(device, held, [amounts])


def _too_much(device: Device, held: Sequence[Held], new: Sequence[Amounts]) -> str:
    try:
        before = [
            {name: quantity.read(raw) for name, raw in h.consumed.items()}
            for h in held
            if h.share_id is not None
        ]
    except QuantityError as error:
        return f"is shared by a claim whose part cannot be read: {error}"
    return exceeded(device, [*before, *new])


def _check_share_id(
    one: Taken, held: Holdings, seen: set[str], features: Features
) -> Iterator[Violation]:
    share_id = one.result.share_id
    if not one.is_shared(features):
        if share_id is not None:
            yield one.violation(Code.SHARE_ID, "has a share id, but cannot be shared")
        return
    if not share_id:
        yield one.violation(Code.SHARE_ID, "is shared, but has no share id")
        return
    others = {h.share_id for h in held.get(one.id, ())}
    if share_id in seen or share_id in others:
        yield one.violation(
            Code.SHARE_ID, f"has the share id {share_id}, which another share has"
        )
    seen.add(share_id)


def _check_consumed(one: Taken, amounts: Amounts) -> Iterator[Violation]:
    try:
        stated = {
            name: quantity.read(raw)
            for name, raw in (one.result.consumed_capacity or {}).items()
        }
    except QuantityError as error:
        words = f"has a consumedCapacity that cannot be read: {error}"
        yield one.violation(Code.CONSUMED_CAPACITY, words)
        return
    if stated != amounts:
        yield one.violation(
            Code.CONSUMED_CAPACITY,
            f"consumes {_in_words(amounts)}, but the result says {_in_words(stated)}",
        )


def _in_words(amounts: Amounts) -> str:
    parts = [f"{name}={amount}" for name, amount in sorted(amounts.items())]
    return ", ".join(parts) or "no capacity"


# --- counters ----------------------------------------------------------------


def check_counters(
    taken: Sequence[Taken], held: Holdings, features: Features
) -> Iterator[Violation]:
    """Devices draw no more from shared counters than there is, and get along."""
    drawing: dict[SeenPool, list[Taken]] = defaultdict(list)
    shared: set[DeviceID] = set()
    for one in taken:
        if not one.found.device.consumes_counters:
            continue
        if one.is_shared(features):
            if one.id in shared or held.get(one.id):
                continue  # An earlier share has drawn for the whole device.
            shared.add(one.id)
        drawing[one.found.pool].append(one)
    for pool, those in drawing.items():
        in_use = [d for d in _all_devices(pool) if held.get(_id(pool, d))]
        try:
            yield from _overdrawn(pool, in_use, those)
        except QuantityError as error:
            words = f"draws from counters that cannot be read: {error}"
            yield those[0].violation(Code.COUNTERS_OVERDRAWN, words)
        if features.device_compatibility_groups:
            yield from _incompatible(in_use, those)


def _all_devices(pool: SeenPool) -> Iterator[Device]:
    """The pool's devices, those of other nodes included."""
    for piece in pool.known:
        if not piece.spec.shared_counters:
            yield from piece.spec.devices or ()


def _id(pool: SeenPool, device: Device) -> DeviceID:
    return DeviceID(pool.key.driver, pool.key.name, device.name)


def _overdrawn(
    pool: SeenPool, in_use: Sequence[Device], those: Sequence[Taken]
) -> Iterator[Violation]:
    total = {
        (counter_set.name, name): quantity.read(counter.value)
        for piece in pool.known
        for counter_set in piece.spec.shared_counters or ()
        for name, counter in (counter_set.counters or {}).items()
    }
    drawn: Counter[tuple[str, str]] = Counter()
    for device in in_use:
        drawn.update(_draws(device))
    for one in those:
        draws = _draws(one.found.device)
        drawn.update(draws)
        for counter, amount in draws.items():
            if amount and drawn[counter] > total[counter].nanos:
                there = total[counter]
                yield one.violation(
                    Code.COUNTERS_OVERDRAWN,
                    f"draws from counter {counter[1]} of {counter[0]}, of which there is "
                    f"{there} and {Quantity(drawn[counter], there.format)} would be drawn",
                )


def _draws(device: Device) -> Counter[tuple[str, str]]:
    """Nano units, by counter set and counter."""
    found: Counter[tuple[str, str]] = Counter()
    for use in device.consumes_counters or ():
        for name, counter in (use.counters or {}).items():
            found[use.counter_set, name] += quantity.read(counter.value).nanos
    return found


def _incompatible(
    in_use: Sequence[Device], those: Sequence[Taken]
) -> Iterator[Violation]:
    """Devices on one counter set share a compatibility group, or none has any."""
    members: dict[str, list[frozenset[str]]] = defaultdict(list)
    for device in in_use:
        for name, groups in _groups(device).items():
            members[name].append(groups)
    for one in those:
        for name, groups in _groups(one.found.device).items():
            members[name].append(groups)
            if any(members[name]) and not frozenset.intersection(*members[name]):
                yield one.violation(
                    Code.GROUPS_INCOMPATIBLE,
                    f"has no compatibility group in common with the devices on counter set "
                    f"{name}",
                )


def _groups(device: Device) -> dict[str, frozenset[str]]:
    return {
        use.counter_set: frozenset(use.compatibility_groups or ())
        for use in device.consumes_counters or ()
    }
