"""What lets a long search skip choices without changing its answer.

Four things are skipped. A request for which too few devices are left needs no
trying. A device that is, for all that this question looks at,
the same as one that just led nowhere leads nowhere too. When nothing can be
found for a request, the choices that had no part in that need no second look:
the search goes back to the latest one that had. And a state from which everything
was tried in vain is remembered, whichever equal devices led to it.

Both need a search that leaves no traces and raises no errors: with a quirk that
keeps bookings, a selector that fails on some device, or a request for all
devices under a constraint, the reference's answer depends on every step it
makes, and :func:`insight_into` says None.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

import msgspec

from dra.allocation.booking import Bookings, Pick
from dra.allocation.constraints import Rule, attribute_for, find_attribute, value_set
from dra.allocation.counters import charge_of, groups_of
from dra.allocation.derived import derived_attribute
from dra.allocation.errors import AllocationError
from dra.allocation.matching import Matcher
from dra.allocation.quirks import Quirk
from dra.allocation.request import Ask, Plan
from dra.allocation.views import Candidate
from dra.errors import NotSupportedError
from dra.names import DeviceID
from dra.objects import Constraint

LEAVING_TRACES = frozenset(
    {Quirk.COUNTERS_STAY_BOOKED, Quirk.SHARED_COUNTERS_KEPT, Quirk.SHARE_MARK_KEPT}
)


MOST_STATES = 200_000
"""Failed states that are remembered in one search."""


class Insight:
    """What the search may know about its candidates, and who stands in whose way.

    Choices are named by their depth in the search's stack.
    """

    def __init__(
        self,
        asks: Sequence[Ask],
        constraints: Sequence[Sequence[Constraint]],
        rules: Sequence[Sequence[Rule]],
        matcher: Matcher,
        bookings: Bookings,
    ) -> None:
        self.asks = asks
        self.attributes = sorted(
            {_attribute(c) for of_claim in constraints for c in of_claim}
        )
        self.rules = rules
        self.matcher = matcher
        self.bookings = bookings
        self.possible: dict[Ask, list[int]] = {}
        self.signatures: dict[DeviceID, Hashable] = {}
        self.takers: dict[DeviceID, list[int]] = {}
        self.charged: list[int] = []
        self.of_claim: dict[int, list[int]] = {}
        self.order: Sequence[Candidate] = ()
        self.failed: set[Hashable] = set()
        """States from which there is no solution."""

    # --- enough devices -------------------------------------------------------

    def survey(self, candidates: Sequence[Candidate]) -> None:
        """Note which devices each request could get at best.

        To be called while the search holds nothing; ``candidates`` in order.
        """
        self.order = candidates
        bookings = self.bookings
        for ask in self.asks:
            self.possible[ask] = [
                position
                for position, candidate in enumerate(candidates)
                if bookings.is_free(ask, candidate)
                and self.matcher.selectable(ask, candidate)
                and bookings.has_room(ask, candidate)
                and not bookings.is_kept_away(ask, candidate)
            ]

    def are_left(self, ask: Ask, count: int, start: int) -> bool:
        """Whether ``count`` devices from the place ``start`` on could do at best."""
        places = self.possible[ask]
        return len(places) - bisect.bisect_left(places, start) >= count

    # --- equal devices --------------------------------------------------------

    def signature(self, candidate: Candidate) -> Hashable:
        """Equal for devices between which nothing in this question tells."""
        found = self.signatures.get(candidate.id)
        if found is None:
            found = self.signatures[candidate.id] = tuple(self._traits(candidate))
        return found

    def is_untouched(self, candidate: Candidate) -> bool:
        return not self.takers.get(candidate.id)

    def _traits(self, candidate: Candidate) -> Iterator[Hashable]:
        bookings, device = self.bookings, candidate.device
        for ask in self.asks:
            yield self.matcher.selectable(ask, candidate)
            yield bookings.is_kept_away(ask, candidate)
        for name in self.attributes:
            found = find_attribute(device, candidate.id.driver, name)
            yield None if found is None else (value_set(found),)
        for ask in self.asks:
            if ask.derived and self.matcher.selectable(ask, candidate):
                yield _derived_values(ask, candidate, lists=self.matcher.lists)
        yield bookings.is_dedicated(candidate)
        yield bookings.is_held(candidate)
        if bookings.sharing:
            yield candidate.shareable
            yield tuple(sorted(bookings.used(candidate).items()))
            for name, capacity in sorted((device.capacity or {}).items()):
                yield name, msgspec.json.encode(capacity)
        if device.consumes_counters:
            yield candidate.id.driver, candidate.id.pool
            yield frozenset(charge_of(candidate).items())
            yield frozenset(groups_of(candidate).items())

    # --- states that were seen ---

    def state(
        self, claim: int, ask: Ask | None, start: int, picks: Sequence[Pick]
    ) -> Hashable:
        """What of the search so far matters for the rest of it.

        How many devices of each kind are taken and how, what the constraints of the
        claim insist on, and for a request that is under way which devices it may
        still look at: those from ``start`` on.
        """
        taken: dict[DeviceID, list[Hashable]] = {}
        kinds: dict[DeviceID, Hashable] = {}
        for pick in picks:
            device = pick.candidate.id
            kinds[device] = self.signature(pick.candidate)
            taken.setdefault(device, []).append(_how(pick, claim))
        how = {device: frozenset(Counter(t).items()) for device, t in taken.items()}
        held = Counter((kinds[device], how[device]) for device in taken)
        left: Counter[Hashable] = Counter()
        if ask is not None and start:
            places = self.possible[ask]
            for place in places[bisect.bisect_left(places, start) :]:
                candidate = self.order[place]
                left[self.signature(candidate), how.get(candidate.id)] += 1
        rules = tuple(rule.state() for rule in self.rules[claim])
        return frozenset(held.items()), frozenset(left.items()), rules

    def remember_failure(self, state: Hashable) -> None:
        if len(self.failed) < MOST_STATES:
            self.failed.add(state)

    # --- blame ----------------------------------------------------------------

    def took(self, depth: int, ask: Ask, candidate: Candidate) -> None:
        self.takers.setdefault(candidate.id, []).append(depth)
        self.of_claim.setdefault(ask.claim_index, []).append(depth)
        if candidate.device.consumes_counters:
            self.charged.append(depth)

    def gave_back(self, ask: Ask, candidate: Candidate) -> None:
        self.takers[candidate.id].pop()
        self.of_claim[ask.claim_index].pop()
        if candidate.device.consumes_counters:
            self.charged.pop()

    def blame(self, ask: Ask, candidate: Candidate) -> Iterable[int]:
        """Choices that may be why ``ask`` cannot take the device now.

        One sufficient reason is enough; constraints come first because they stay
        within the claim.
        """
        if not self.matcher.selectable(ask, candidate):
            return ()
        if self._is_refused(ask, candidate):
            return self.of_claim.get(ask.claim_index, ())
        found = list(self.takers.get(candidate.id, ()))
        if candidate.device.consumes_counters:
            found += self.charged
        return found

    def _is_refused(self, ask: Ask, candidate: Candidate) -> bool:
        """Whether a constraint refuses the device next to those of its claim."""
        for rule in self.rules[ask.claim_index]:
            if not rule.add(ask, candidate):
                return True
            rule.remove(ask)
        return False


def _how(pick: Pick, claim: int) -> Hashable:
    """What a pick means for the requests of ``claim`` and of later claims."""
    share = pick.share
    amounts = None
    if share is not None:
        amounts = tuple(sorted((n, q.nanos) for n, q in share.amounts.items()))
    return pick.ask.claim_index == claim, pick.ask.admin, amounts


def insight_into(
    plan: Plan,
    candidates: Collection[Candidate],
    rules: Sequence[Sequence[Rule]],
    matcher: Matcher,
    bookings: Bookings,
    quirks: Collection[Quirk],
) -> Insight | None:
    """The insight into a search, None where skipping could change its answer."""
    asks = [a for c in plan.claims for r in c.requests for a in r.alternatives]
    if LEAVING_TRACES & set(quirks) and any(
        c.device.consumes_counters
        or (bookings.is_shareable(c) and not c.device.capacity)
        for c in candidates
    ):
        return None
    if any(a.everything and plan.claims[a.claim_index].constraints for a in asks):
        return None
    try:
        for ask in asks:
            for candidate in candidates:
                bookings.has_room(ask, candidate)
                if matcher.selectable(ask, candidate):
                    _derived_values(ask, candidate, lists=matcher.lists)
    except (AllocationError, NotSupportedError):
        return None
    if Quirk.MATCH_STAYS_NARROW in quirks and matcher.lists:
        return None
    if Quirk.DISTINCT_FORGETS in quirks and _may_forget(plan, candidates, matcher):
        return None
    constraints = [claim.constraints for claim in plan.claims]
    return Insight(asks, constraints, rules, matcher, bookings)


def _may_forget(
    plan: Plan, candidates: Collection[Candidate], matcher: Matcher
) -> bool:
    """Whether a request could hold two devices that a distinctAttribute looks at."""
    for claim in plan.claims:
        names = [
            c.distinct_attribute
            for c in claim.constraints
            if c.match_attribute is None and c.distinct_attribute is not None
        ]
        for request in claim.requests:
            for ask in request.alternatives:
                if ask.count < 2 and not ask.everything:
                    continue
                for name in names:
                    if _holders(ask, name, candidates, matcher) > 1:
                        return True
    return False


def _holders(
    ask: Ask, name: str, candidates: Iterable[Candidate], matcher: Matcher
) -> int:
    return sum(
        matcher.selectable(ask, c)
        and attribute_for(ask, c, name, lists=matcher.lists) is not None
        for c in candidates
    )


def _derived_values(ask: Ask, candidate: Candidate, *, lists: bool) -> Hashable:
    """What the request derives from a device that its selectors select.

    Raises AllocationError.
    """
    found = [
        derived_attribute(ask, candidate, name, lists=lists) for name in ask.derived
    ]
    return tuple(None if a is None else value_set(a) for a in found)


def _attribute(constraint: Constraint) -> str:
    return constraint.match_attribute or constraint.distinct_attribute or ""
