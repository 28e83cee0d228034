"""How many devices of a node stand at which point for one request.

Simple counts, request by request, as if the others were not there: enough for
true sentences on why nothing fits.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

from dra.allocation.constraints import (
    Values,
    attribute_for,
    concerns,
    value_set,
)
from dra.allocation.errors import AllocationError
from dra.allocation.request import Ask, ClaimPlan
from dra.allocation.search import Search
from dra.allocation.views import Candidate
from dra.errors import NotSupportedError
from dra.objects import Constraint


class Standing(enum.IntEnum):
    """Where a device stands for one request: the first thing in its way.

    Larger is nearer to being had.
    """

    ELSEWHERE = 0
    """No node that was tried reaches it."""
    UNUSABLE = 1
    """Its pool is incomplete or invalid."""
    FAILING = 2
    """Something about it cannot be read, or a selector has no answer for it."""
    UNWANTED = 3
    """A selector says no, or the device itself that this node may not have it."""
    IN_USE = 4
    TAINTED = 5
    NO_CAPACITY = 6
    NO_COUNTERS = 7
    FREE = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Limit:
    """What a constraint leaves of the free devices of a request.

    ``most`` is the largest number that agree on (or differ in) ``attribute``,
    ``without`` how many do not have it. ``split`` has the free devices by value.
    """

    attribute: str
    distinct: bool
    most: int
    without: int
    split: tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """Devices of one node, seen from one request.

    ``published`` in usable pools; of these ``matching`` pass all selectors and
    ``failing`` have one that fails on them; of the matching ones ``in_use``,
    ``tainted``, ``full`` (too little capacity or counters) cannot be had now and
    ``free`` can. ``needed`` is what the request asks for, ``limits`` what its
    constraints leave.
    """

    needed: int
    published: int = 0
    matching: int = 0
    failing: int = 0
    in_use: int = 0
    tainted: int = 0
    full: int = 0
    free: int = 0
    limits: tuple[Limit, ...] = ()

    @property
    def most(self) -> int:
        """How many the request could get at most."""
        return min([self.free, *(limit.most for limit in self.limits)])

    @property
    def enough(self) -> bool:
        return self.most >= self.needed


def count(search: Search, claim: ClaimPlan, ask: Ask) -> Counts:
    """The counts of ``ask`` on the node of a search that has not begun."""
    return counts_of(search, claim, ask, standings(search, ask))


def counts_of(
    search: Search, claim: ClaimPlan, ask: Ask, found: Sequence[Standing]
) -> Counts:
    """The counts of standings that are known."""
    seen = Counter(found)
    free = [
        candidate
        for candidate, standing in zip(candidates(search), found, strict=True)
        if standing is Standing.FREE
    ]
    matching = len(found) - seen[Standing.UNWANTED] - seen[Standing.FAILING]
    return Counts(
        needed=max(1, matching) if ask.everything else ask.count,
        published=len(found),
        matching=matching,
        failing=seen[Standing.FAILING],
        in_use=seen[Standing.IN_USE],
        tainted=seen[Standing.TAINTED],
        full=seen[Standing.NO_CAPACITY] + seen[Standing.NO_COUNTERS],
        free=seen[Standing.FREE],
        limits=tuple(
            _limit(constraint, ask, free, lists=search.matcher.lists)
            for constraint in claim.constraints
            if concerns(constraint, ask)
        ),
    )


def candidates(search: Search) -> Iterator[Candidate]:
    """The devices of a node in the order of the search."""
    for view in search.views:
        yield from view.candidates


def standings(
    search: Search, ask: Ask, available: Sequence[Standing] | None = None
) -> list[Standing]:
    """Where each of a node's devices stands for ``ask``; the search has not begun.

    ``available`` is what :func:`availabilities` says, where that is known.
    """
    meant = set(map(id, search.everything[ask])) if ask.everything else None
    known = itertools.repeat(None) if available is None else available
    return [
        Standing.UNWANTED
        if meant is not None and id(candidate) not in meant
        else standing_of(search, ask, candidate, found)
        for candidate, found in zip(candidates(search), known, strict=False)
    ]


def standing_of(
    search: Search, ask: Ask, candidate: Candidate, available: Standing | None = None
) -> Standing:
    """Of one device, whatever a request for all devices may mean."""
    try:
        if not search.matcher.selectable(ask, candidate):
            return Standing.UNWANTED
    except (AllocationError, NotSupportedError):
        return Standing.FAILING
    return availability(search, ask, candidate) if available is None else available


def terms_of(ask: Ask) -> Hashable:
    """Equal for requests for which every device has the same :func:`availability`, as
    long as the search has not begun."""
    return ask.admin, ask.tolerations, ask.capacity_key


def availabilities(search: Search, ask: Ask) -> list[Standing]:
    """The :func:`availability` of each of a node's devices."""
    return [availability(search, ask, candidate) for candidate in candidates(search)]


def availability(search: Search, ask: Ask, candidate: Candidate) -> Standing:
    """Where a device stands if the selectors wanted it."""
    bookings = search.bookings
    if not bookings.is_free(ask, candidate):
        return Standing.IN_USE
    if bookings.is_kept_away(ask, candidate):
        return Standing.TAINTED
    try:
        if not bookings.has_room(ask, candidate):
            return Standing.NO_CAPACITY
        if not bookings.has_counters(ask, candidate):
            return Standing.NO_COUNTERS
    except (AllocationError, NotSupportedError):
        return Standing.FAILING
    return Standing.FREE


def _limit(
    constraint: Constraint, ask: Ask, free: Iterable[Candidate], *, lists: bool
) -> Limit:
    distinct = constraint.match_attribute is None
    attribute = constraint.match_attribute or constraint.distinct_attribute or ""
    tally, without = _values(attribute, ask, free, lists=lists)
    most = max(tally.values(), default=0)
    if distinct:
        most = len(tally)
    split = tuple((str(value), number) for (_, value), number in tally.most_common(8))
    return Limit(attribute, distinct, most, without, split)


def _values(
    attribute: str, ask: Ask, candidates: Iterable[Candidate], *, lists: bool
) -> tuple[Counter[tuple[str, object]], int]:
    """How many candidates have each value, and how many have none.

    A device of which the request cannot derive the attribute has none.
    """
    tally: Counter[tuple[str, object]] = Counter()
    without = 0
    for candidate in candidates:
        try:
            found = attribute_for(ask, candidate, attribute, lists=lists)
        except AllocationError:
            found = None
        members: Values | None = None if found is None else value_set(found)
        if members is None:
            without += 1
        else:
            tally.update((members.type, member) for member in members.members)
    return tally, without
