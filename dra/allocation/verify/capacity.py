"""What a request consumes of a device's capacity, by the rules of request policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dra import quantity
from dra.errors import QuantityError
from dra.objects import (
    CapacityRequestPolicy,
    Device,
    DeviceCapacity,
    RawQuantity,
)
from dra.quantity import Quantity

Amounts = dict[str, Quantity]


def amounts_of(requested: Mapping[str, RawQuantity], device: Device) -> Amounts | str:
    """How much of each capacity a request takes; or why it cannot have the device."""
    capacities = device.capacity or {}
    for name in requested:
        if name not in capacities:
            return f"does not have the capacity {name} that the request names"
    found: Amounts = {}
    try:
        for name, capacity in capacities.items():
            amount = _amount(requested.get(name), capacity)
            if not _is_offered(amount, capacity.request_policy):
                return f"does not give {amount} of its capacity {name}"
            found[name] = amount
    except QuantityError as error:
        return f"has a capacity that cannot be read: {error}"
    return found


def exceeded(device: Device, consumed: Iterable[Mapping[str, Quantity]]) -> str:
    """The first capacity of which more is consumed than there is, in words, or nothing."""
    shares = list(consumed)
    for name, capacity in (device.capacity or {}).items():
        total = quantity.read(capacity.value)
        used = sum((share[name].nanos for share in shares if name in share), 0)
        if used > total.nanos:
            return (
                f"has {total} of the capacity {name}, but {Quantity(used, total.format)} "
                "are taken"
            )
    return ""


def _amount(requested: RawQuantity | None, capacity: DeviceCapacity) -> Quantity:
    policy = capacity.request_policy
    if requested is None:
        if policy is None or policy.default is None:
            return quantity.read(capacity.value)
        return quantity.read(policy.default)
    amount = quantity.read(requested)
    if policy is None:
        return amount
    limits = policy.valid_range
    if limits is not None and limits.min is not None:
        least = quantity.read(limits.min)
        if amount < least:
            return least
        step = _step(policy)
        if step:
            steps = -(-(amount.value() - least.value()) // step)
            return Quantity.of(least.value() + steps * step, quantity.Format.BINARY)
        return amount
    offered = (quantity.read(value) for value in policy.valid_values or ())
    return next((value for value in offered if value >= amount), amount)


def _is_offered(amount: Quantity, policy: CapacityRequestPolicy | None) -> bool:
    """Whether the policy lets the amount be taken; its default always may be."""
    if policy is None:
        return True
    if policy.default is not None and amount == quantity.read(policy.default):
        return True
    limits = policy.valid_range
    if limits is not None:
        if limits.max is not None and amount > quantity.read(limits.max):
            return False
        step = _step(policy)
        if limits.min is None or not step:
            return True
        return (amount.value() - quantity.read(limits.min).value()) % step == 0
    values = policy.valid_values
    return not values or any(quantity.read(value) == amount for value in values)


def _step(policy: CapacityRequestPolicy) -> int:
    """The step in whole units, 0 for none; the API refuses a step below 1."""
    limits = policy.valid_range
    if limits is None or limits.step is None:
        return 0
    return max(1, quantity.read(limits.step).value())
