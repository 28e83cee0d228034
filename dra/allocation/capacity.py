"""Consumable capacity: how much of a device a request takes, and what is left.

Amounts follow allocator.md section 9: the request, or the policy's default, or
everything; rounded up as the policy says; refused when the policy still does not
allow it. What is used is counted in nano units (``Quantity.nanos``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from dra.allocation.amounts import read_quantity
from dra.allocation.request import Ask
from dra.allocation.views import Candidate, make_room
from dra.objects import CapacityRequestPolicy, DeviceCapacity, RawQuantity
from dra.quantity import Format, Quantity

MAX_MEMO = 32
"""Kinds of request whose shares a device keeps; the oldest goes first."""

Usage = Mapping[str, int]
"""Nano units used, by capacity."""


@dataclasses.dataclass(frozen=True, slots=True)
class Share:
    """What one request takes of one device, and what the device has in all.

    ``fits_alone``: it fits when nobody else uses the device.
    """

    amounts: Mapping[str, Quantity]
    totals: Usage
    fits_alone: bool

    def fits(self, *used: Usage) -> bool:
        """Whether the share fits beside what is used already."""
        if not any(used):
            return self.fits_alone
        for name, amount in self.amounts.items():
            total = amount.nanos + sum(usage.get(name, 0) for usage in used)
            if total > self.totals[name]:
                return False
        return True


def share_of(ask: Ask, candidate: Candidate) -> Share | None:
    """What ``ask`` would take of the device; None when it can never serve it."""
    key = ("share", ask.capacity_key)
    memo = candidate.memo
    found = memo.get(key, _NOT_KNOWN)
    if found is _NOT_KNOWN:
        found = _share(ask.capacity, candidate)
        make_room(memo, MAX_MEMO)
        memo[key] = found
    return found  # type: ignore[return-value]  # the memo holds many kinds of value


_NOT_KNOWN: Final = object()


def _share(requests: Mapping[str, RawQuantity], candidate: Candidate) -> Share | None:
    capacities = candidate.device.capacity or {}
    if any(name not in capacities for name in requests):
        return None
    amounts: dict[str, Quantity] = {}
    totals: dict[str, int] = {}
    for name, capacity in capacities.items():
        where = f"device {candidate.id}, capacity {name}"
        amount = amount_of(requests.get(name), capacity, where)
        if amount is None:
            return None
        amounts[name] = amount
        totals[name] = read_quantity(capacity.value, where).nanos
    fits_alone = all(amounts[name].nanos <= totals[name] for name in amounts)
    return Share(amounts, totals, fits_alone)


def amount_of(
    request: RawQuantity | None, capacity: DeviceCapacity, where: str
) -> Quantity | None:
    """How much to take of one capacity; None when the policy does not allow it.

    ``request`` None: the claim does not name the capacity. ``where`` names device and
    capacity in the AllocationError for a quantity that cannot be read.
    """
    policy = capacity.request_policy
    if policy is None:
        return read_quantity(capacity.value if request is None else request, where)
    if request is not None:
        amount = _round(read_quantity(request, where), policy, where)
    else:
        whole = policy.default is None
        amount = read_quantity(capacity.value if whole else policy.default, where)
    return amount if _allowed(amount, policy, where) else None


def _round(amount: Quantity, policy: CapacityRequestPolicy, where: str) -> Quantity:
    """The next amount that the policy offers; as is when it offers none."""
    limits = policy.valid_range
    if limits is not None and limits.min is not None:
        least = read_quantity(limits.min, where)
        if amount < least:
            return least
        if limits.step is None:
            return amount
        start, step = least.value(), _step(limits.step, where)
        steps = -((start - amount.value()) // step)
        return Quantity.of(start + steps * step, Format.BINARY)
    for spelled in policy.valid_values or ():
        offered = read_quantity(spelled, where)
        if offered >= amount:
            return offered
    return amount


def _allowed(amount: Quantity, policy: CapacityRequestPolicy, where: str) -> bool:
    if policy.default is not None and _is_default(amount, policy.default, where):
        return True
    limits = policy.valid_range
    if limits is not None:
        if limits.max is not None and amount > read_quantity(limits.max, where):
            return False
        if limits.step is not None and limits.min is not None:
            start = read_quantity(limits.min, where).value()
            return (amount.value() - start) % _step(limits.step, where) == 0
        return True
    if policy.valid_values:
        return any(read_quantity(v, where) == amount for v in policy.valid_values)
    return True


def _is_default(amount: Quantity, default: RawQuantity, where: str) -> bool:
    """Whether the amount is the default itself, which no range and no list limits.

    Kubernetes compares what it holds, not the values: the spelling of the suffix
    counts, and what it does not hold in 64 bits is never the same.
    """
    offered = read_quantity(default, where)
    return (
        amount.compact is not None
        and amount.compact == offered.compact
        and amount.format == offered.format
    )


def _step(spelled: RawQuantity, where: str) -> int:
    """The step in whole units; the API refuses one that is not above zero."""
    return max(1, read_quantity(spelled, where).value())
