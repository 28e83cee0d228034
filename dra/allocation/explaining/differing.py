"""Which quirks can make a difference to a question at all.

Told by what is asked for and what there is, without a search; a quirk that is about
nothing here need not be tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dra.allocation.quirks import ALL, Quirk
from dra.allocation.traits import uses_of

if TYPE_CHECKING:
    from dra.allocation.placing import Question


def telling_quirks(question: Question) -> frozenset[Quirk]:
    """The quirks without any of which ``question``, asked with all of them, may fit
    otherwise. All others have no part in whether it fits."""
    # What a result says besides is nothing to whether there is one.
    return (
        ALL - {Quirk.CONFIG_REPEATED} - _not_asked_for(question) - _not_there(question)
    )


def _not_asked_for(question: Question) -> set[Quirk]:
    """Quirks of something that claims do not ask for, or that is switched off."""
    plan, features = question.plan, question.features
    constraints = [c for claim in plan.claims for c in claim.constraints]
    asks = plan.asks
    found: set[Quirk] = set()
    if not question.classic:
        found.add(Quirk.CLASSIC_ALLOCATOR)
    if not any(ask.admin for ask in asks):
        found.add(Quirk.ADMIN_PICK_BLOCKS)
    if all(c.distinct_attribute is None for c in constraints):
        found.add(Quirk.DISTINCT_FORGETS)
    if not features.list_type_attributes or all(
        c.match_attribute is None for c in constraints
    ):
        found.add(Quirk.MATCH_STAYS_NARROW)
    return found


def _not_there(question: Question) -> set[Quirk]:
    """Quirks of something that no device of the cluster is."""
    snapshot, features = question.snapshot, question.features
    table = snapshot.devices(lists=features.list_type_attributes)
    found: set[Quirk] = set()
    shareable = np.array(table.listing.shareable, np.bool_)
    if not features.consumable_capacity or not shareable.any():
        found |= {Quirk.SHARED_COUNTERS_KEPT, Quirk.SHARE_MARK_KEPT}
    uses = uses_of(snapshot, table)
    shares = np.array([use is not None and not use.alone for use in uses.known])
    if not features.consumable_capacity or not (shares[uses.codes] & ~shareable).any():
        found.add(Quirk.LEFTOVER_SHARES)
    names = {key.name for key in snapshot.pools}
    if len(names) == len(snapshot.pools):
        found.add(Quirk.COUNTERS_BY_POOL_NAME)
    return found
