"""What other claims hold, read from the claims themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from dra.allocation.verify.wants import claim_name
from dra.names import DeviceID, PoolKey
from dra.objects import RawQuantity, ResourceClaim
from dra.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Held:
    """One result of another claim; ``share_id`` is None where it holds all of the device."""

    claim: str
    share_id: str | None
    consumed: Mapping[str, RawQuantity]


def held_by_others(
    snapshot: Snapshot,
    but: Collection[tuple[str, str]],
    pools: Collection[PoolKey],
    *,
    sharing: bool,
) -> dict[DeviceID, list[Held]]:
    """Who holds the devices of ``pools``, the claims ``but`` (namespace, name) left out.

    Admin access holds nothing. Without ``sharing`` a share holds all of its device.
    """
    found: dict[DeviceID, list[Held]] = {}
    for claim in _allocated(snapshot):
        meta = claim.metadata
        if (meta.namespace, meta.name) in but:
            continue
        allocation = claim.status.allocation
        for result in (allocation and allocation.devices.results) or ():
            if result.admin_access or (result.driver, result.pool) not in pools:
                continue
            share_id = result.share_id if sharing else None
            held = Held(claim_name(claim), share_id, result.consumed_capacity or {})
            device = DeviceID(result.driver, result.pool, result.device)
            found.setdefault(device, []).append(held)
    return found


def _allocated(snapshot: Snapshot) -> Iterator[ResourceClaim]:
    """Allocated claims, those that can only be read in part included."""
    for claim in snapshot.claims.values():
        if claim.status.allocation is not None:
            yield claim
    for salvaged in snapshot.salvaged.values():
        yield salvaged.claim
