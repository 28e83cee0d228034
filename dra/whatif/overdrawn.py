"""What the edits leave of devices is too little for what claims hold of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra.allocation.features import Features
from dra.audits.codes import Code
from dra.audits.finding import Finding
from dra.audits.pools import use_findings
from dra.names import PoolKey
from dra.snapshot import Snapshot
from dra.whatif.amounts import changed_pools

_CODES: Final = frozenset(
    {
        Code.CAPACITY_OVERCOMMITTED,
        Code.COUNTERS_OVERCOMMITTED,
        Code.DEVICE_BOOKED_TWICE,
    }
)
MOST: Final = 20
"""Sentences."""


def overdrawn(before: Snapshot, now: Snapshot, features: Features) -> list[str]:
    """A sentence for each device or counter set that is over what it has, and was not."""
    found = [
        one.sentence
        for key in changed_pools(before, now)
        for one in _new(before, now, key, features)
    ]
    if len(found) > MOST:
        more = len(found) - MOST
        found[MOST:] = [f"{more:,} more are over what they have."]
    return found


def _new(
    before: Snapshot, now: Snapshot, key: PoolKey, features: Features
) -> Iterator[Finding]:
    known = {one.key for one in _of(before, key, features)}
    return (one for one in _of(now, key, features) if one.key not in known)


def _of(snapshot: Snapshot, key: PoolKey, features: Features) -> Iterator[Finding]:
    pool, use = snapshot.pools.get(key), snapshot.in_use.pool(key)
    for one in use_findings(key, pool, use, features):
        if one.code in _CODES:
            yield one
