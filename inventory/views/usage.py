"""How much of a device's capacity its holders have taken, for its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dra import quantity
from dra.errors import QuantityError
from dra.quantity import Quantity
from inventory.models import Device


class Share(Protocol):
    """A result of an allocated claim."""

    @property
    def admin_access(self) -> bool: ...
    @property
    def consumed_capacity(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class CapacityUse:
    """One capacity. ``taken`` is empty for a device that cannot be shared.

    ``policy`` says in words which amounts a claim may ask for.
    """

    name: str
    domain: str
    short: str
    total: str
    taken: str
    left: str
    taken_share: float
    policy: str


def capacity_uses(device: Device, shares: Sequence[Share]) -> list[CapacityUse]:
    """Each capacity by name. Amounts that do not parse are shown and not summed."""
    return [
        _use(device, name, item if isinstance(item, dict) else {}, shares)
        for name, item in sorted(device.capacity.items())
    ]


def _use(
    device: Device, name: str, item: Mapping[str, Any], shares: Sequence[Share]
) -> CapacityUse:
    domain, _, short = name.rpartition("/")
    taken = left = ""
    part = 0.0
    total = _read(item.get("value"))
    if device.shareable and total is not None:
        amount = sum(_consumed(share, device.driver, name) for share in shares)
        taken = str(Quantity(amount, total.format))
        left = str(Quantity(total.nanos - amount, total.format))
        part = min(1.0, max(0.0, amount / total.nanos)) if total.nanos else 0.0
    return CapacityUse(
        name=name,
        domain=domain,
        short=short,
        total=str(item.get("value", "")),
        taken=taken,
        left=left,
        taken_share=part,
        policy=_policy(item.get("requestPolicy")),
    )


def _consumed(share: Share, driver: str, name: str) -> int:
    """Nano units. Results may name a capacity with or without the driver's domain."""
    if share.admin_access:
        return 0
    raw = share.consumed_capacity.get(name)
    if raw is None:
        raw = share.consumed_capacity.get(name.removeprefix(f"{driver}/"))
    found = _read(raw)
    return found.nanos if found is not None else 0


def _read(raw: Any) -> Quantity | None:
    try:
        return quantity.read(raw) if raw is not None else None
    except QuantityError:
        return None


def _policy(policy: Any) -> str:
    if not isinstance(policy, Mapping):
        return ""
    parts = []
    if policy.get("default") is not None:
        parts.append(f"{policy['default']} unless asked otherwise")
    if policy.get("validValues"):
        parts.append(f"one of {', '.join(map(str, policy['validValues']))}")
    bounds = policy.get("validRange")
    if isinstance(bounds, Mapping):
        words = [
            f"{word} {bounds[key]}"
            for word, key in (("from", "min"), ("to", "max"), ("in steps of", "step"))
            if bounds.get(key) is not None
        ]
        parts.append(" ".join(words))
    return "; ".join(parts)
