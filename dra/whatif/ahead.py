"""What nobody does who places one after another: look ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra.allocation.outcome import Fits
from dra.allocation.placing import Question
from dra.allocation.request import with_defaults
from dra.errors import DRAError
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot
from dra.whatif.placing import Placer, Unit

_MOST: Final = 8
"""Units for which a look ahead is worth its cost."""


def together_on_one_node(placer: Placer, units: Sequence[Unit], start: Snapshot) -> str:
    """Whether all would have fit if earlier ones had taken a later alternative.

    ``start`` is the cluster before the first of ``units``. A sentence, or nothing where
    it would not have helped.
    """
    world = placer.world
    claims: list[ResourceClaim] = [c for u in units for c in u.claims]
    optional = any(
        r.first_available for c in claims for r in c.spec.devices.requests or ()
    )
    if len(units) < 2 or len(units) > _MOST or not optional:
        return ""
    names: Sequence[str] = placer.names
    for unit in units:
        allowed = placer.allowed(unit)
        if allowed is not None:
            names = [name for name in names if name in allowed]
    question = Question(
        start,
        [with_defaults(c) for c in claims if c.status.allocation is None],
        features=world.features,
        quirks=world.quirks,
        budget=world.budget(),
    )
    try:
        found = question.fits_on_first_of(names)
    except DRAError:
        return ""
    if not isinstance(found, Fits):
        return ""
    return (
        f"All {len(units)} would fit on node {found.node_name} if earlier ones took a "
        "later alternative; placed one after another they do not, because nobody "
        "looks ahead."
    )
