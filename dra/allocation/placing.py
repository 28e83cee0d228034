"""The two questions people ask: does it fit here, and where does it fit."""

from __future__ import annotations

from collections.abc import Sequence

from dra.allocation.features import DEFAULT, Features
from dra.allocation.outcome import DEFAULT_BUDGET, Budget, Outcome
from dra.allocation.quirks import Mode
from dra.errors import NotSupportedError
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot


def allocate(
    snapshot: Snapshot,
    claims: Sequence[ResourceClaim],
    node_name: str,
    *,
    features: Features = DEFAULT,
    quirks: Mode = "none",
    budget: Budget = DEFAULT_BUDGET,
) -> Outcome:
    """Devices for ``claims``, all of them, on one node.

    The claims are those of one pod in its order and not allocated yet; what the
    snapshot's allocated claims hold is in use. ``Fits`` has one AllocationResult
    per claim and is the first solution in the reference's order; nothing is
    remembered, so the caller must write it down. ``DoesNotFit`` and ``GaveUp``
    are answers, not errors.

    Raises AllocationError for bad input, ``node_only`` when only this node is
    concerned; NotSupportedError for something the engine does not know.
    """
    raise NotSupportedError("allocations")


def place(
    snapshot: Snapshot,
    claims: Sequence[ResourceClaim],
    *,
    node_names: Sequence[str] | None = None,
    features: Features = DEFAULT,
    quirks: Mode = "none",
    budget: Budget = DEFAULT_BUDGET,
) -> Outcome:
    """The first of ``node_names`` on which all ``claims`` fit.

    Without names: every node of the snapshot by name, cordoned and unready ones
    left out. Raises as :func:`allocate` does.
    """
    raise NotSupportedError("allocations")
