"""Who else holds a device of an allocation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cluster.writeback.values import Json, allocation_of, meta_of
from dra.names import DeviceID
from dra.objects import AllocationResult

HeldToo = tuple[DeviceID, str]
"""A device, and the claim (``namespace/name``) that holds it as well."""


def also_held(
    allocation: AllocationResult, claims: Iterable[Json], *, but: str
) -> list[HeldToo]:
    """Devices that claims other than the one with uid ``but`` hold as well, and which.

    Admin access holds nothing, and two shares of one device may stand side by side.
    """
    mine = {
        DeviceID(r.driver, r.pool, r.device): r.share_id
        for r in allocation.devices.results or ()
        if not r.admin_access
    }
    found = []
    for claim in claims:
        if meta_of(claim).get("uid") == but:
            continue
        for device, share in _held_by(claim):
            if device in mine and not (share and mine[device]):
                meta = meta_of(claim)
                named = f"{meta.get('namespace')}/{meta.get('name')}"
                found.append((device, named))
    return found


def in_words(found: Iterable[HeldToo]) -> tuple[str, ...]:
    return tuple(
        f"The device {device} is held by the claim {claim} as well."
        for device, claim in found
    )


def _held_by(claim: Json) -> Iterator[tuple[DeviceID, str]]:
    devices = (allocation_of(claim) or {}).get("devices")
    results = devices.get("results") if isinstance(devices, dict) else None
    for r in results or ():
        if isinstance(r, dict) and not r.get("adminAccess"):
            names = (str(r.get(key) or "") for key in ("driver", "pool", "device"))
            yield DeviceID(*names), str(r.get("shareID") or "")
