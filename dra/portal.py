"""How a portal marks what it puts into a cluster for a while."""

from __future__ import annotations

from typing import Final

from dra.objects import Pod

DOMAIN: Final = "dra-portal.io"
ROLE: Final = f"{DOMAIN}/role"
"""The label that says what a pod or a rule of a portal is for."""


def is_of_a_portal(pod: Pod) -> bool:
    """Whether a portal made the pod so that the scheduler allocates a claim, or to see
    that it has looked: it wants no devices for itself, and goes by itself."""
    return ROLE in (pod.metadata.labels or {})
