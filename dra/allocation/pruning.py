"""What lets a long search skip choices without changing its answer.

Four things are skipped. A request for which too few devices are left needs no
trying. A device that is, for all that this question looks at,
the same as one that just led nowhere leads nowhere too. When nothing can be
found for a request, the choices that had no part in that need no second look:
the search goes back to the latest one that had. And a state from which everything
was tried in vain is remembered, whichever equal devices led to it.

All this needs a search of which nothing fails on any device and that leaves no traces
(``traces.py``): else what the reference says depends on every step it makes.

A request for all devices under a constraint is loud: it ends the search with an error
when a device of it does not go with what was taken before. Nothing is skipped that
leads to one.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import msgspec

from dra.allocation.booking import Bookings, Pick
from dra.allocation.choices import Frame, Place
from dra.allocation.constraints import Rule, find_attribute, value_set
from dra.allocation.counters import charge_of, groups_of
from dra.allocation.futures import Futures
from dra.allocation.matching import Matcher
from dra.allocation.request import Ask, Plan
from dra.allocation.traces import derived_values, loud_asks
from dra.allocation.views import Candidate
from dra.names import DeviceID
from dra.objects import Constraint

MOST_STATES = 200_000
"""Failed states that are remembered in one search."""


class Insight:
    """What the search may know about its candidates, and who stands in whose way.

    ``possible`` has, per request, the places in ``order`` of the devices that it could
    get at best. Choices are named by their depth in the search's stack.
    """

    def __init__(
        self,
        plan: Plan,
        rules: Sequence[Sequence[Rule]],
        matcher: Matcher,
        bookings: Bookings,
        order: Sequence[Candidate],
        possible: Mapping[Ask, Sequence[int]],
    ) -> None:
        self.plan = plan
        self.asks = plan.asks
        self.loud = loud_asks(plan)
        self.attributes = sorted(
            {_attribute(c) for claim in plan.claims for c in claim.constraints}
        )
        self.rules = rules
        self.matcher = matcher
        self.bookings = bookings
        self.possible = possible
        self.signatures: dict[DeviceID, Hashable] = {}
        self.takers: dict[DeviceID, list[int]] = {}
        self.charged: list[int] = []
        self.of_claim: dict[int, list[int]] = {}
        self.order = order
        self.futures = Futures(plan, rules)
        self.failed: set[Hashable] = set()
        """States from which there is no solution."""

    # --- enough devices -------------------------------------------------------

    def are_left(self, ask: Ask, count: int, start: int) -> bool:
        """Whether ``count`` devices from the place ``start`` on could do at best."""
        places = self.possible[ask]
        return len(places) - bisect.bisect_left(places, start) >= count

    # --- equal devices --------------------------------------------------------

    def signature(self, candidate: Candidate) -> Hashable:
        """Equal for devices between which nothing in this question tells.

        Their order does where a loud request may come to one before the other.
        """
        if self.loud:
            return candidate.id
        found = self.signatures.get(candidate.id)
        if found is None:
            found = self.signatures[candidate.id] = tuple(self._traits(candidate))
        return found

    def is_untouched(self, candidate: Candidate) -> bool:
        return not self.takers.get(candidate.id)

    def led_nowhere(self, frame: Frame, candidate: Candidate) -> bool:
        """Whether a device of the same kind was tried in vain for this choice."""
        return (
            bool(frame.hopeless)
            and self.is_untouched(candidate)
            and self.signature(candidate) in frame.hopeless
        )

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
                yield derived_values(ask, candidate, lists=self.matcher.lists)
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

    def state(self, at: Place, picks: Sequence[Pick]) -> Hashable:
        """What of the search so far matters for the rest of it.

        How many devices of each kind are taken and how, what the constraints of the
        claim insist on, and for a request that is under way which devices it may still
        look at.
        """
        claim, ask, start = at.claim, at.ask, at.start
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
        rules: Hashable = self.futures.state(claim, at.request, ask)
        if self.loud:  # which request is which decides on the error
            rules = tuple(rule.state() for rule in self.rules[claim])
        return frozenset(held.items()), frozenset(left.items()), rules

    def remember_failure(self, state: Hashable) -> None:
        if len(self.failed) < MOST_STATES:
            self.failed.add(state)

    # --- loud requests ---

    def is_loud(self, frame: Frame) -> bool:
        """Whether a choice is the next device of a loud request."""
        return frame.at.ask in self.loud

    def may_get_loud(self, frame: Frame) -> bool:
        """Whether one of several alternatives is loud, tried already or not."""
        at = frame.at
        return frame.options == "alternatives" and not self.loud.isdisjoint(
            self.plan.claims[at.claim].requests[at.request].alternatives
        )

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


def _attribute(constraint: Constraint) -> str:
    return constraint.match_attribute or constraint.distinct_attribute or ""
