"""What devices offer of a capacity, in words, and what an amount comes to.

The amounts are the engine's own (``dra.allocation.capacity``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from claims.authoring.choices.words import listed
from dra import quantity
from dra.allocation.capacity import amount_of
from dra.allocation.errors import AllocationError
from dra.errors import QuantityError
from dra.objects import CapacityRequestPolicy, DeviceCapacity, RawQuantity

_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Rounded:
    """What a request for ``asked`` ("" for none) consumes of one device.

    ``consumes`` is empty where such a device cannot serve it. ``words`` say all of it:
    ``5Gi → 8Gi, from 4Gi in steps of 4Gi``.
    """

    asked: str
    consumes: str
    changed: bool
    words: str


def rounded(capacity: DeviceCapacity, amount: RawQuantity | None) -> Rounded:
    """What the policy of ``capacity`` makes of ``amount``; None: not asked for.

    Any text will do as an amount; what is wrong with it is in the words.
    """
    asked = "" if amount is None else str(amount)
    try:
        wanted = None if amount is None else quantity.read(amount)
        total = quantity.read(capacity.value)
        found = amount_of(amount, capacity, "the capacity")
    except (AllocationError, QuantityError) as error:
        return Rounded(asked, "", changed=False, words=f"{error}")
    shown, policy = asked or "none", policy_words(capacity)
    if found is None:
        return Rounded(asked, "", changed=False, words=f"{shown} → refused, {policy}")
    if found > total:
        words = f"{shown} → {found}, but the device has only {capacity.value}"
        return Rounded(asked, "", changed=found != wanted, words=words)
    if found == wanted:
        return Rounded(asked, str(found), changed=False, words=asked)
    return Rounded(
        asked, str(found), changed=True, words=f"{shown} → {found}, {policy}"
    )


def policy_words(capacity: DeviceCapacity) -> str:
    """Which amounts a device gives: ``from 1Gi to 80Gi in steps of 1Gi (1Gi by default)``."""
    policy = capacity.request_policy
    if policy is None:
        return f"any amount up to {capacity.value} (all of it by default)"
    offered = _range(policy) or _values(policy) or f"any amount up to {capacity.value}"
    default = "all of it" if policy.default is None else policy.default
    return f"{offered} ({default} by default)"


def _range(policy: CapacityRequestPolicy) -> str:
    limits = policy.valid_range
    if limits is None:
        return ""
    parts = []
    if limits.min is not None:
        parts.append(f"from {limits.min}")
    if limits.max is not None:
        parts.append(f"to {limits.max}" if parts else f"up to {limits.max}")
    if limits.step is not None:
        parts.append(f"in steps of {limits.step}")
    return " ".join(parts)


def _values(policy: CapacityRequestPolicy) -> str:
    offered = [str(value) for value in policy.valid_values or ()]
    if len(offered) < 2:
        return f"only {offered[0]}" if offered else ""
    if len(offered) > _SHOWN:
        more = len(offered) - _SHOWN
        return f"one of {', '.join(offered[:_SHOWN])} and {more:,} more"
    return f"one of {listed(offered, 'or')}"


def first_amount(capacity: DeviceCapacity) -> str:
    """An amount to start with that the policy gives unchanged; "" where none is known.

    The default, else the least on offer, else all of it.
    """
    policy = capacity.request_policy
    if policy is None:
        candidates: list[RawQuantity | None] = [capacity.value]
    else:
        limits = policy.valid_range
        least = limits.min if limits else None
        values = policy.valid_values or []
        candidates = [policy.default, least, *values[:1], capacity.value]
    for candidate in candidates:
        if candidate is None:
            continue
        found = rounded(capacity, candidate)
        if found.consumes and not found.changed and _positive(candidate):
            return str(candidate)
    return ""


def _positive(amount: RawQuantity) -> bool:
    return quantity.read(amount) > quantity.ZERO
