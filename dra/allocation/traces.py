"""Whether what a search finds depends on the steps that it makes.

It does where something fails on a device, which ends the search that comes to it, and
where a quirk leaves traces of devices that were given up or refused.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable

from dra.allocation.booking import Bookings
from dra.allocation.constraints import attribute_for, is_constrained, value_set
from dra.allocation.derived import derived_attribute
from dra.allocation.errors import AllocationError
from dra.allocation.matching import Matcher
from dra.allocation.quirks import Quirk
from dra.allocation.request import Ask, Plan
from dra.allocation.views import Candidate
from dra.errors import NotSupportedError
from dra.objects import Constraint


def may_fail(
    plan: Plan,
    candidates: Collection[Candidate],
    matcher: Matcher,
    bookings: Bookings,
) -> bool:
    """Whether selectors, attributes, capacity or counters fail on some device.

    ``bookings`` opens the books of all counters.
    """
    try:
        for ask in plan.asks:
            for candidate in candidates:
                bookings.has_room(ask, candidate)
                if matcher.selectable(ask, candidate):
                    derived_values(ask, candidate, lists=matcher.lists)
                    bookings.has_counters(ask, candidate)
    except (AllocationError, NotSupportedError):
        return True
    return False


def loud_asks(plan: Plan) -> frozenset[Ask]:
    """Requests that end the search with an error where a constraint refuses a device.

    They are for all devices, so there is no other one to try.
    """
    return frozenset(
        ask
        for ask in plan.asks
        if ask.everything
        and is_constrained(ask, plan.claims[ask.claim_index].constraints)
    )


def derived_values(ask: Ask, candidate: Candidate, *, lists: bool) -> Hashable:
    """What the request derives from a device that its selectors select.

    Raises AllocationError.
    """
    found = [
        derived_attribute(ask, candidate, name, lists=lists) for name in ask.derived
    ]
    return tuple(None if a is None else value_set(a) for a in found)


def leaves_traces(
    plan: Plan,
    candidates: Collection[Candidate],
    matcher: Matcher,
    bookings: Bookings,
    quirks: Collection[Quirk],
) -> bool:
    """Whether a device may be given up without leaving things as they were.

    Nothing fails (:func:`may_fail`).
    """
    if Quirk.MATCH_STAYS_NARROW in quirks and matcher.lists:
        return True
    if Quirk.DISTINCT_FORGETS in quirks and _may_forget(plan, candidates, matcher):
        return True
    drawing = [c for c in candidates if c.device.consumes_counters]
    return any(
        _keeps_counters(ask, candidate, plan, bookings, quirks)
        for ask in plan.asks
        for candidate in drawing
        if matcher.selectable(ask, candidate)
    )


def _keeps_counters(
    ask: Ask,
    candidate: Candidate,
    plan: Plan,
    bookings: Bookings,
    quirks: Collection[Quirk],
) -> bool:
    """Whether counters may stay booked for a device that nobody got."""
    if bookings.is_shareable(candidate) and (
        Quirk.SHARED_COUNTERS_KEPT in quirks or Quirk.SHARE_MARK_KEPT in quirks
    ):
        return True
    return Quirk.COUNTERS_STAY_BOOKED in quirks and (
        is_constrained(ask, plan.claims[ask.claim_index].constraints)
        or bookings.is_kept_away(ask, candidate)
        or bookings.is_shareable(candidate)
        or not bookings.has_room(ask, candidate)
    )


def _may_forget(
    plan: Plan, candidates: Collection[Candidate], matcher: Matcher
) -> bool:
    """Whether a request could hold two devices that a distinctAttribute looks at."""
    for ask in plan.asks:
        if ask.count < 2 and not ask.everything:
            continue
        for constraint in plan.claims[ask.claim_index].constraints:
            name = _distinct(constraint)
            if name is None or not is_constrained(ask, [constraint]):
                continue
            if _holders(ask, name, candidates, matcher) > 1:
                return True
    return False


def _distinct(constraint: Constraint) -> str | None:
    return None if constraint.match_attribute else constraint.distinct_attribute


def _holders(
    ask: Ask, name: str, candidates: Iterable[Candidate], matcher: Matcher
) -> int:
    return sum(
        matcher.selectable(ask, c)
        and attribute_for(ask, c, name, lists=matcher.lists) is not None
        for c in candidates
    )
