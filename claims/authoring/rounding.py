"""What a request consumes of a capacity, and why that is more than it asks for.

The amounts are the engine's own (``dra.allocation.capacity``); here they get words.
Devices that differ in policy or size have entries of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra import quantity
from dra.allocation.capacity import amount_of
from dra.allocation.errors import AllocationError
from dra.allocation.traits import kinds
from dra.cel.table import DeviceTable
from dra.errors import QuantityError
from dra.names import DeviceID
from dra.objects import (
    CapacityRequestPolicy,
    Device,
    DeviceCapacity,
    RawQuantity,
)

type Mask = NDArray[np.bool_]

MOST_KINDS: Final = 500
"""Kinds of devices that are looked at; more are nearly all of one sort."""
MOST_SHOWN: Final = 8
"""Entries of one request, those of most devices first."""
_VALUES_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Rounding:
    """One capacity on devices that treat the request alike.

    ``asked`` is empty where the request does not name the capacity. ``consumes`` is
    what it takes, empty where such a device cannot serve it; ``total`` is what the
    device has, empty where it has no such capacity. ``words`` say it as in "asks 5Gi,
    consumes 8Gi: steps of 4Gi from 4Gi". ``devices`` counts all of them that match,
    free or not.
    """

    capacity: str
    asked: str
    consumes: str
    total: str
    words: str
    devices: int
    example: DeviceID


def roundings(
    asked: Mapping[str, RawQuantity], table: DeviceTable, matching: Mask
) -> tuple[Rounding, ...]:
    """Of the matching devices of a table, those of most devices first.

    Capacities that the request does not name count where devices are shared: a
    share takes of them too.
    """
    found: dict[tuple[str, str, str], Rounding] = {}
    for device, example, number in _kinds_of(table, matching):
        for name, spelled, capacity in _concerned(asked, device):
            rounding = _rounding(name, spelled, capacity, device, example, number)
            key = (name, rounding.total, rounding.words)
            known = found.get(key)
            found[key] = (
                rounding
                if known is None
                else replace(known, devices=known.devices + number)
            )
    names = list(asked)
    order = {name: place for place, name in enumerate(names)}
    shown = sorted(
        found.values(),
        key=lambda each: (order.get(each.capacity, len(names)), -each.devices),
    )
    return tuple(shown[:MOST_SHOWN])


def _kinds_of(
    table: DeviceTable, matching: Mask
) -> Iterator[tuple[Device, DeviceID, int]]:
    """A device of each kind with its name, and how many there are; the most first."""
    rows = np.flatnonzero(matching)
    if not len(rows):
        return
    codes = table.made_by(kinds).codes[rows]
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MOST_KINDS]
    for place in most.tolist():
        row = int(rows[first[place]])
        yield table.listing.devices[row], table.ids[row], int(counts[place])


def _concerned(
    asked: Mapping[str, RawQuantity], device: Device
) -> Iterator[tuple[str, RawQuantity | None, DeviceCapacity | None]]:
    capacities = device.capacity or {}
    for name, spelled in asked.items():
        yield name, spelled, capacities.get(name)
    if device.allow_multiple_allocations:
        for name, capacity in capacities.items():
            if name not in asked:
                yield name, None, capacity


def _rounding(
    name: str,
    asked: RawQuantity | None,
    capacity: DeviceCapacity | None,
    device: Device,
    example: DeviceID,
    number: int,
) -> Rounding:
    spelled = "" if asked is None else str(asked)
    consumes = total = ""
    if capacity is None:
        words = f"asks {spelled}, but the device has no {name}"
    else:
        total = str(capacity.value)
        shared = bool(device.allow_multiple_allocations)
        try:
            consumes, words = _taken(asked, capacity, shared=shared)
        except (AllocationError, QuantityError) as error:
            words = f"cannot be read: {error}"
    return Rounding(name, spelled, consumes, total, words, number, example)


def _taken(
    asked: RawQuantity | None, capacity: DeviceCapacity, *, shared: bool
) -> tuple[str, str]:
    """What is consumed ("" where it is refused), and the words."""
    said = "asks for none" if asked is None else f"asks {asked}"
    amount = amount_of(asked, capacity, "the amount")
    total = quantity.read(capacity.value)
    if amount is None:
        return "", f"{said}, which is refused: {_refusal(asked, capacity)}"
    if amount > total:
        return "", f"{said}, more than the device has, {capacity.value}"
    if not shared:
        return str(amount), f"{said}, gets the whole device with its {capacity.value}"
    return str(amount), f"{said}, consumes {amount}: {_rule(asked, capacity)}"


def _rule(asked: RawQuantity | None, capacity: DeviceCapacity) -> str:
    """Why an amount is what it is."""
    policy = capacity.request_policy
    if asked is None:
        if policy is None or policy.default is None:
            return "all of it, as the device has no default"
        return "the default"
    if policy is None:
        return "as asked"
    limits = policy.valid_range
    if limits is not None and limits.min is not None:
        if quantity.read(asked) < quantity.read(limits.min):
            return f"{limits.min} is the least"
        if limits.step is not None:
            return f"steps of {limits.step} from {limits.min}"
        return f"any amount from {limits.min}"
    return _values(policy) or "as asked"


def _refusal(asked: RawQuantity | None, capacity: DeviceCapacity) -> str:
    """Why a policy gives nothing."""
    policy = capacity.request_policy
    limits = policy.valid_range if policy else None
    if limits is not None and limits.max is not None:
        return f"{limits.max} is the most that one request may have"
    values = _values(policy) if policy else ""
    return values or ("no default" if asked is None else "not on offer")


def _values(policy: CapacityRequestPolicy) -> str:
    offered = [str(value) for value in policy.valid_values or ()]
    if not offered:
        return ""
    more = len(offered) - _VALUES_SHOWN
    shown = ", ".join(offered[:_VALUES_SHOWN])
    return f"one of {shown}{f' and {more:,} more' if more > 0 else ''}"
