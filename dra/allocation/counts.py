"""How many devices of a node stand at which point for one request.

Simple counts, request by request, as if the others were not there: enough for
one true sentence on why nothing fits.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator

from dra.allocation.constraints import Values, find_attribute, value_set
from dra.allocation.errors import AllocationError
from dra.allocation.request import Ask, ClaimPlan
from dra.allocation.search import Search
from dra.allocation.views import Candidate
from dra.errors import NotSupportedError
from dra.objects import Constraint


@dataclasses.dataclass(frozen=True, slots=True)
class Limit:
    """What a constraint leaves of the free devices of a request.

    ``most`` is the largest number that agree on (or differ in) ``attribute``,
    ``without`` how many do not have it.
    """

    attribute: str
    distinct: bool
    most: int
    without: int


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
    seen: Counter[str] = Counter()
    free: list[Candidate] = []
    published = sum(len(view.candidates) for view in search.views)
    for candidate in _meant(search, ask):
        state = _state(search, ask, candidate)
        seen[state] += 1
        if state == "free":
            free.append(candidate)
    matching = seen.total() - seen["other"] - seen["failing"]
    return Counts(
        needed=max(1, matching) if ask.everything else ask.count,
        published=published,
        matching=matching,
        failing=seen["failing"],
        in_use=seen["in_use"],
        tainted=seen["tainted"],
        full=seen["full"],
        free=seen["free"],
        limits=tuple(
            _limit(constraint, free)
            for constraint in claim.constraints
            if concerns(constraint, ask)
        ),
    )


def _meant(search: Search, ask: Ask) -> Iterator[Candidate]:
    """The devices that may serve: for a request for all, those it stands for."""
    if ask.everything:
        yield from search.everything[ask]
        return
    for view in search.views:
        yield from view.candidates


def _state(search: Search, ask: Ask, candidate: Candidate) -> str:
    try:
        if not search.matcher.selectable(ask, candidate):
            return "other"
    except (AllocationError, NotSupportedError):
        return "failing"
    bookings = search.bookings
    if not bookings.is_free(ask, candidate):
        return "in_use"
    if bookings.is_kept_away(ask, candidate):
        return "tainted"
    try:
        if not bookings.has_room(ask, candidate):
            return "full"
        pick = bookings.take(ask, candidate)
    except (AllocationError, NotSupportedError):
        return "failing"
    if pick is None:
        return "full"
    bookings.forget(pick)
    return "free"


def concerns(constraint: Constraint, ask: Ask) -> bool:
    """Whether a constraint applies to a request or the alternative of one."""
    names = constraint.requests
    return not names or ask.parent in names or ask.result_name in names


def _limit(constraint: Constraint, free: Iterable[Candidate]) -> Limit:
    distinct = constraint.match_attribute is None
    attribute = constraint.match_attribute or constraint.distinct_attribute or ""
    tally, without = values(attribute, free)
    most = max(tally.values(), default=0)
    if distinct:
        most = len(tally)
    return Limit(attribute, distinct, most, without)


def values(
    attribute: str, candidates: Iterable[Candidate]
) -> tuple[Counter[tuple[str, object]], int]:
    """How many candidates have each value, and how many have none."""
    tally: Counter[tuple[str, object]] = Counter()
    without = 0
    for candidate in candidates:
        found = find_attribute(candidate.device, candidate.id.driver, attribute)
        members: Values | None = None if found is None else value_set(found)
        if members is None:
            without += 1
        else:
            tally.update((members.type, member) for member in members.members)
    return tally, without
