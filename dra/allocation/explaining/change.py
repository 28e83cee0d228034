"""A change that is tried to see whether the claims fit with it."""

from __future__ import annotations

import dataclasses

from dra.objects import ResourceClaim
from dra.snapshot import Snapshot


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """One change to try; ``snapshot`` where it is one of the cluster."""

    code: str
    request: str
    before: str
    after: str
    sentence: str
    claim: ResourceClaim | None = None
    snapshot: Snapshot | None = None
