"""Which devices are held, by whom, and what is left of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dra.names import DeviceID, PoolKey
from dra.objects import DeviceResult, ResourceClaim


class Holder(NamedTuple):
    """One result of one allocated claim that names the device."""

    namespace: str
    claim: str
    uid: str
    position: int
    result: DeviceResult

    @property
    def claim_key(self) -> tuple[str, str]:
        return (self.namespace, self.claim)


@dataclass(frozen=True, slots=True)
class PoolUse:
    """Who holds the devices of one pool: device name to holders, by claim.

    Results with admin access are in ``admin`` only: they hold nothing
    (allocator.md section 1).
    """

    holders: Mapping[str, tuple[Holder, ...]]
    admin: Mapping[str, tuple[Holder, ...]]

    def dedicated(self, *, consumable_capacity: bool = True) -> frozenset[str]:
        """Names of the devices that somebody holds alone."""
        return frozenset(
            name
            for name, holders in self.holders.items()
            if any(
                not consumable_capacity or h.result.share_id is None for h in holders
            )
        )


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


def holdings(claim: ResourceClaim) -> dict[PoolKey, list[Holder]]:
    """What ``claim``, allocated or not, holds in each pool."""
    found: dict[PoolKey, list[Holder]] = {}
    allocation = claim.status.allocation
    if allocation is None:
        return found
    meta = claim.metadata
    for position, result in enumerate(allocation.devices.results or ()):
        holder = Holder(meta.namespace, meta.name, meta.uid, position, result)
        found.setdefault(PoolKey(result.driver, result.pool), []).append(holder)
    return found


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
        changed[name] = tuple(
            sorted((*changed.get(name, ()), holder), key=lambda h: h[:4])
        )
    return changed
