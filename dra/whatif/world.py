"""The cluster while a scenario changes it: a snapshot, and what came since.

A claim that gets devices is only remembered at first; a snapshot with it is made when
somebody needs all of it. Searches on single nodes need no more than who holds what.
"""

from __future__ import annotations

import dataclasses
import itertools
import uuid
from collections import ChainMap
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from dra.allocation.features import Features
from dra.allocation.outcome import Budget
from dra.allocation.quirks import Mode
from dra.cel.selection import Stop
from dra.names import ObjectKey, PoolKey
from dra.objects import Base, ResourceClaim
from dra.snapshot import Snapshot
from dra.usage import InUse, PoolUse, change_use, holdings
from dra.whatif.consumers import ClaimIndex, ClaimKey

STEPS: Final = 200_000
"""Devices that a search on one node tries at most."""
_SHARES: Final = uuid.UUID("8f0ee1c7-9a1f-5d7e-8f43-0f4d3ad0e2b1")


class World:
    """One run's cluster; ``before`` is how it was at first.

    ``extended_resources`` is the gate DRAExtendedResource, which is no matter of an
    allocation and so not one of ``features``.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        features: Features,
        quirks: Mode,
        stop: Stop | None,
        *,
        extended_resources: bool = True,
    ) -> None:
        self.before = snapshot
        self.extended_resources = extended_resources
        self.features = self.features_before = features
        self.quirks: Mode = quirks
        self.stop = stop
        self.notes: list[str] = []
        snapshot.devices(lists=features.list_type_attributes)
        self._snapshot = dataclasses.replace(
            snapshot, device_tables=snapshot.device_tables.apart()
        )
        self._pending: dict[ClaimKey, ResourceClaim] = {}
        self._uses: dict[PoolKey, PoolUse] = {}
        self._index: ClaimIndex | None = None
        self._shares = itertools.count(1)

    @property
    def snapshot(self) -> Snapshot:
        """Everything as it is now."""
        if self._pending:
            added = list(self._pending.values())
            self._pending, self._uses = {}, {}
            self._snapshot = self._snapshot.edit(add=added)
        return self._snapshot

    @property
    def for_search(self) -> Snapshot:
        """The same to a search: who holds what is right, the claims may be old."""
        if not self._uses:
            return self._snapshot
        known = self._snapshot.in_use.by_pool
        uses = InUse(ChainMap(self._uses, known))  # type: ignore[arg-type]  # only read
        return dataclasses.replace(self._snapshot, in_use=uses)

    @property
    def index(self) -> ClaimIndex:
        claims = self.snapshot.claims
        if self._index is None or self._index.claims is not claims:
            self._index = ClaimIndex(claims)
        return self._index

    def budget(self) -> Budget:
        return Budget(steps=STEPS, stop=self.stop)

    def stopped(self) -> bool:
        return self.stop is not None and self.stop()

    def new_share_id(self) -> str:
        """The same ones in every run."""
        return str(uuid.uuid5(_SHARES, str(next(self._shares))))

    # --- changing ---

    def edit(
        self, *, add: Iterable[Base] = (), remove: Iterable[ObjectKey] = ()
    ) -> None:
        self._snapshot = self.snapshot.edit(add=add, remove=remove)

    def go_back(self, snapshot: Snapshot) -> None:
        """To an earlier snapshot of this run."""
        self._pending, self._uses = {}, {}
        self._snapshot = snapshot

    def claim(self, key: ClaimKey) -> ResourceClaim | None:
        return self._pending.get(key) or self._snapshot.claims.get(key)

    def is_taken(self, key: ClaimKey) -> bool:
        return (
            key in self._pending
            or key in self._snapshot.claims
            or key in self._snapshot.salvaged
        )

    def hold(self, claim: ResourceClaim) -> list[PoolKey]:
        """Write down a claim that got or shares devices; the pools that it names."""
        key = (claim.metadata.namespace, claim.metadata.name)
        known = self._snapshot.in_use.by_pool
        pools = []
        for pool, holders in holdings(claim).items():
            use = self._uses.get(pool) or known.get(pool) or PoolUse({}, {})
            self._uses[pool] = change_use(use, frozenset({key}), holders)
            pools.append(pool)
        self._pending[key] = claim
        return pools

    def take_back(self, claim: ResourceClaim) -> list[PoolKey]:
        """Write down that a claim has nothing any more; the pools that it named."""
        key = (claim.metadata.namespace, claim.metadata.name)
        pools = list(holdings(claim))
        for pool in pools:
            use = self._uses.get(pool) or self._snapshot.in_use.pool(pool)
            self._uses[pool] = change_use(use, frozenset({key}), ())
        self._pending[key] = released(claim)
        return pools


def released(claim: ResourceClaim) -> ResourceClaim:
    """The claim without its allocation and its reservations."""
    status = replace(claim.status, allocation=None, reserved_for=None, devices=None)
    return replace(claim, status=status)
