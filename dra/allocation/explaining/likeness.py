"""Plain nodes that are alike to a question, whatever order their devices are in.

Only whether a node fits is the same then, not with which devices. Constraints compare
values and know no others than equal and different, so values are alike that are had by
alike devices. That is exact for one attribute; where constraints compare several, only
looking tells.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra.allocation.counts import Standing
from dra.allocation.explaining.census import Census, NotCountable
from dra.allocation.explaining.plain import NOWHERE
from dra.allocation.explaining.tallies import Numbers, numbered
from dra.allocation.traits import kinds, uses_of

MOST_ASKS: Final = 60
_AT_ONCE: Final = 64
"""Columns that are held in memory together."""


def likeness_of(census: Census) -> Numbers:
    """A number per counted node, equal for nodes that are alike. Raises NotCountable."""
    rows, codes = _meanings(census)
    nodes = len(census.names)
    homes = census.homes[rows].astype(np.int64)
    values = _values(census, rows)
    span = int(values.max(initial=0)) + 1
    groups, which = np.unique(homes * span + values, return_inverse=True)
    made_of = _mixtures(which.ravel(), codes, len(groups))
    # Devices without the attribute have nothing in common.
    bare = (groups % span == 0).astype(np.int64)
    sorts = numbered((made_of, bare), len(groups))
    found = _mixtures(groups // span, sorts, nodes)
    everything = [t.matching for a, t in census.tallies.items() if a.everything]
    return numbered((found, *everything), nodes)


def _meanings(census: Census) -> tuple[NDArray[np.intp], Numbers]:
    """The devices that any request can have, and what each of them means to it."""
    if len(census.plans) > MOST_ASKS:
        raise NotCountable
    wanted = np.zeros(len(census.table), np.int64)
    for place, ask in enumerate(census.plans):
        wanted |= (census.standing[ask] == Standing.FREE).astype(np.int64) << place
    rows = np.flatnonzero((wanted != 0) & (census.homes != NOWHERE))
    # What is left of a shared device decides who else can have some of it.
    kind = census.table.made_by(kinds)
    uses = uses_of(census.question.snapshot, census.table)
    shared = np.array(census.table.listing.shareable, np.bool_)[rows]
    left = kind.codes[rows].astype(np.int64) * len(uses.known) + uses.codes[rows] + 1
    return rows, numbered((wanted[rows], np.where(shared, left, 0)), len(rows))


def _values(census: Census, rows: NDArray[np.intp]) -> Numbers:
    """The value of each device that constraints compare; 0 for none."""
    names = {
        constraint.match_attribute or constraint.distinct_attribute or ""
        for claim in census.question.plan.claims
        for constraint in claim.constraints
    }
    if not names:
        return np.zeros(len(rows), np.int64)
    if len(names) > 1:
        raise NotCountable
    return census.value_codes(names.pop(), rows)


def _mixtures(places: Numbers, codes: Numbers, height: int) -> Numbers:
    """The same number for places that have the same codes equally often."""
    codes = codes[np.lexsort((codes, places))]
    number = np.bincount(places, minlength=height)
    first = np.cumsum(number) - number

    def ranked(rank: int) -> Numbers:
        """The code of this rank at each place, 0 where there are fewer."""
        found = np.zeros(height, np.int64)
        having = np.flatnonzero(number > rank)
        found[having] = codes[first[having] + rank] + 1
        return found

    found = np.zeros(height, np.int64)
    most = int(number.max(initial=0))
    for start in range(0, most, _AT_ONCE):
        ranks = range(start, min(start + _AT_ONCE, most))
        found = numbered((found, *map(ranked, ranks)), height)
    return found
