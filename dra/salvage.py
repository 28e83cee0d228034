"""What a ResourceClaim that cannot be read holds all the same.

Such a claim takes no part in planning, but its devices are not free: somebody got
them. Each field of its results is read by itself, and where one is doubtful the
answer is the careful one: a share whose amounts cannot be read counts as the whole
device, and only ``adminAccess: true`` itself counts as holding nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dra import quantity
from dra.errors import ObjectError, QuantityError
from dra.objects import (
    AllocationDevices,
    AllocationResult,
    ConsumerReference,
    DeviceResult,
    Json,
    Meta,
    RawQuantity,
    ResourceClaim,
    ResourceClaimStatus,
    read,
)

_ALLOCATION: Final = "status.allocation"


@dataclass(frozen=True, slots=True)
class Salvaged:
    """``claim`` has its name, its results and its consumers, as far as they can be told.

    ``doubt`` is one sentence naming claim and field when it may hold devices that
    cannot be told, else empty.
    """

    claim: ResourceClaim
    doubt: str


def salvage_claim(raw: Json, *, namespace: str, name: str) -> Salvaged:
    """What can be told about ``raw``, a ResourceClaim in v1 form. Never raises.

    ``namespace`` and ``name`` are what it is known under.
    """
    uid = _text(_mapping(raw.get("metadata")).get("uid"))
    names = Meta(name=name, namespace=namespace, uid=uid)
    reader = _Reader()
    allocation = reader.allocation(raw.get("status"))
    status = ResourceClaimStatus(
        allocation=allocation, reserved_for=_consumers(raw.get("status"))
    )
    doubt = ""
    if reader.doubt:
        doubt = (
            f"Which devices the claim {namespace}/{name} holds cannot be "
            f"told ({reader.doubt}), so nobody knows which devices are free."
        )
    return Salvaged(ResourceClaim(metadata=names, status=status), doubt)


class _Reader:
    """Follows the way to the results; ``doubt`` is the first place where it ends."""

    def __init__(self) -> None:
        self.doubt = ""

    def allocation(self, status: Any) -> AllocationResult | None:
        if status is None:
            return None
        if not isinstance(status, dict):
            self._lost("status", "an object", status)
            return None
        allocation = status.get("allocation")
        if allocation is None:
            return None
        results = self._results(allocation)
        return AllocationResult(devices=AllocationDevices(results=results or None))

    def _results(self, allocation: Any) -> list[DeviceResult]:
        if not isinstance(allocation, dict):
            self._lost(_ALLOCATION, "an object", allocation)
            return []
        devices = allocation.get("devices")
        if devices is None:
            return []
        if not isinstance(devices, dict):
            self._lost(f"{_ALLOCATION}.devices", "an object", devices)
            return []
        results = devices.get("results")
        if results is None:
            return []
        if not isinstance(results, list):
            self._lost(f"{_ALLOCATION}.devices.results", "a list", results)
            return []
        found = [self._result(i, entry) for i, entry in enumerate(results)]
        return [result for result in found if result is not None]

    def _result(self, index: int, entry: Any) -> DeviceResult | None:
        at = f"{_ALLOCATION}.devices.results[{index}]"
        if not isinstance(entry, dict):
            self._lost(at, "an object", entry)
            return None
        if entry.get("adminAccess") is not True:
            for name in ("driver", "pool", "device"):
                if not _text(entry.get(name)):
                    self._lost(f"{at}.{name}", "text", entry.get(name))
                    return None
        share, consumed = _text(entry.get("shareID")), _amounts(entry)
        return DeviceResult(
            request=_text(entry.get("request")),
            driver=_text(entry.get("driver")),
            pool=_text(entry.get("pool")),
            device=_text(entry.get("device")),
            admin_access=True if entry.get("adminAccess") is True else None,
            share_id=share if share and consumed is not None else None,
            consumed_capacity=consumed or None,
        )

    def _lost(self, at: str, expected: str, found: Any) -> None:
        if not self.doubt:
            self.doubt = f"{at} should be {expected} and is {_type_name(found)}"


def _type_name(value: Any) -> str:
    if value in (None, ""):
        return "missing"
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    return names.get(type(value), "a number")


def _amounts(entry: Json) -> dict[str, RawQuantity] | None:
    """What a share consumes, None where that cannot be computed with."""
    consumed = entry.get("consumedCapacity")
    if consumed is None:
        return {}
    if not isinstance(consumed, dict):
        return None
    for name, amount in consumed.items():
        plain = isinstance(amount, (str, int, float)) and not isinstance(amount, bool)
        if not isinstance(name, str) or not plain:
            return None
        try:
            quantity.read(amount)
        except QuantityError:
            return None
    return consumed


def _consumers(status: Any) -> list[ConsumerReference] | None:
    entries = _mapping(status).get("reservedFor")
    if not isinstance(entries, list):
        return None
    return [found for entry in entries if (found := _part(entry)) is not None] or None


def _part(entry: Any) -> ConsumerReference | None:
    try:
        return read(entry, ConsumerReference)
    except ObjectError:
        return None


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


__all__ = ["Salvaged", "salvage_claim"]
