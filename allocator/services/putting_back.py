"""Putting back an allocation that a rewriting took away and that was refused then."""

from __future__ import annotations

from allocator.choices import RunKind
from allocator.models import AllocationRun, DeviceRepair
from allocator.services.starting import (
    User,
    must_be_writable,
    record_and_tell,
)


def start_putting_back(
    *, taken_away_by: AllocationRun, repair: DeviceRepair, user: User
) -> AllocationRun:
    """Record a run that gives a claim back what it held before ``taken_away_by``.

    Raises RunRefused. Whether ``user`` may do this is the caller's question.
    """
    must_be_writable(repair.cluster)
    return record_and_tell(
        AllocationRun(
            kind=RunKind.REWRITE,
            cluster=repair.cluster,
            namespace=taken_away_by.namespace,
            claim_name=taken_away_by.claim_name,
            claim_uid=taken_away_by.claim_uid,
            seen_version=taken_away_by.seen_version,
            repair=repair,
            retry_of=taken_away_by,
        ),
        user,
    )
