"""The search on one node: depth first, first fit, with undo.

The order is the reference's: claims, their requests, alternatives and devices
in turn, and the first complete solution wins (allocator.md sections 4 to 6).
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Iterator, Sequence

from dra.allocation.booking import Bookings
from dra.allocation.choices import Frame, Place, Solution
from dra.allocation.constraints import make_rules
from dra.allocation.demand import Demand
from dra.allocation.errors import AllocationError
from dra.allocation.features import Features
from dra.allocation.matching import Matcher
from dra.allocation.metering import Meter
from dra.allocation.outlook import Outlook, is_in_vain, possible_places
from dra.allocation.pruning import Insight
from dra.allocation.quirks import Quirk
from dra.allocation.request import MAX_RESULTS, Ask, Plan
from dra.allocation.traces import leaves_traces, may_fail
from dra.allocation.views import Candidate, view_of
from dra.node_pools import NodePool

PATIENCE = 1
"""How long a search only tries, in multiples of what thinking costs."""


class Search:
    """One question on one node."""

    def __init__(
        self,
        plan: Plan,
        pools: Sequence[NodePool],
        matcher: Matcher,
        bookings: Bookings,
        features: Features,
        quirks: Collection[Quirk],
        meter: Meter,
    ) -> None:
        self.plan = plan
        self.pools = pools
        self.matcher = matcher
        self.bookings = bookings
        self.features = features
        self.meter = meter
        self.views = [
            view_of(piece) for pool in pools if pool.usable for piece in pool.slices
        ]
        self.quirks = quirks
        self.rules = make_rules(plan, features, quirks)
        self.insight: Insight | None = None
        self.outlook: Outlook | None = None
        self.next_look = 0
        self.demand = Demand(plan, pools, matcher, bookings)
        self.everything = self.demand.everything
        self.per_claim = [0] * len(plan.claims)

    def check(self) -> None:
        """Count what is asked for; raises AllocationError for the first problem."""
        self.demand.count()

    # --- the search ----------------------------------------------------------

    def run(self) -> Solution | None:
        """The first solution, or None.

        Raises AllocationError for a selector or derived attribute that fails on a
        device it reaches, OutOfBudgetError when the meter says so.
        """
        stack: list[Frame] = []
        at: Place | None = Place()
        patience = self.meter.steps + self._patience()
        while at is not None:
            if self.meter.steps > patience:
                patience = sys.maxsize
                at = self._reconsider(at, stack)
                if at is None:
                    break
            at = self._skip_finished(at)
            if at.claim == len(self.plan.claims):
                return self._solution(stack)
            stack.append(self._open(at, stack))
            at = self._go_on(stack)
        return None

    def _patience(self) -> int:
        """In steps. To think is to look at every device for every request."""
        devices = sum(len(view.candidates) for view in self.views)
        return PATIENCE * max(100, devices * len(self.plan.asks) // 2)

    def _go_on(self, stack: list[Frame]) -> Place | None:
        """From the latest choice that can be made otherwise; None: no more."""
        while stack:
            frame = stack[-1]
            at = self._advance(frame)
            if at is not None:
                return at
            stack.pop()
            if frame.too_many:
                self._give_up_devices(stack, frame.at.claim)
            elif self.insight is not None:
                if frame.state is not None:
                    self.insight.remember_failure(frame.state)
                self._jump(stack, frame.blame)
        return None

    def _give_up_devices(self, stack: list[Frame], claim: int) -> None:
        """Back to the latest alternatives of a claim that would get too many devices.

        Other devices would not be fewer, so they are not tried (allocator.md
        section 4), which a selector or a constraint that fails on them would show.
        Alternatives that all lead to too many give up the devices before them too.
        """
        while stack and stack[-1].at.claim == claim:
            frame = stack[-1]
            if frame.options == "alternatives":
                frame.exceeded += 1
                if self.insight is not None:
                    frame.blame.update(
                        f.depth for f in stack[:-1] if f.at.claim == claim
                    )
                return
            stack.pop()
            if frame.pick is not None:
                self._undo(frame)

    def _jump(self, stack: list[Frame], blame: set[int]) -> None:
        """Back to the latest choice that had a part in a failure.

        Or with which there may be an error instead: a loud alternative, any before a
        loud request.
        """
        insight = self.insight
        assert insight is not None
        while stack and stack[-1].depth not in blame:
            if insight.may_get_loud(stack[-1]):
                break
            skipped = stack.pop()
            if skipped.pick is not None:
                self._undo(skipped)
            if insight.is_loud(skipped):
                blame = set(range(skipped.depth))
        if stack:
            stack[-1].blame |= blame - {stack[-1].depth}

    def _reconsider(self, at: Place, stack: list[Frame]) -> Place | None:
        """Where to go on when the search takes long.

        Nowhere if counts rule out that anything is found, from the start if insight
        into the question may be had, else from ``at`` as before.
        """
        order = [c for view in self.views for c in view.candidates]
        fresh = self.bookings.fresh()
        if fresh.counters.are_mixed(order) or may_fail(
            self.plan, order, self.matcher, fresh
        ):
            return at
        possible = possible_places(self.plan, order, self.matcher, fresh)
        rules = make_rules(self.plan, self.features, self.quirks)
        in_vain = is_in_vain(self.plan, rules, possible, order, fresh)
        traces = leaves_traces(self.plan, order, self.matcher, fresh, self.quirks)
        if traces and not in_vain:
            return at
        while stack:
            frame = stack.pop()
            if frame.pick is not None:
                self._undo(frame)
        if in_vain:
            return None
        self.insight = Insight(
            self.plan, self.rules, self.matcher, self.bookings, order, possible
        )
        self.outlook = Outlook(
            self.plan, self.rules, possible, order, self.bookings, self.insight.loud
        )
        return Place()

    def _skip_finished(self, at: Place) -> Place:
        """The next place where something has to be chosen."""
        while at.claim < len(self.plan.claims):
            requests = self.plan.claims[at.claim].requests
            if at.request == len(requests):
                at = Place(at.claim + 1)
                continue
            if at.ask is None:
                request = requests[at.request]
                if request.optional:
                    return at
                at = dataclasses.replace(at, ask=request.alternatives[0])
            ask = at.ask
            assert ask is not None
            if ask.everything and not self.everything[ask]:
                return at
            if at.device < self.demand.wanted(ask):
                return at
            at = Place(at.claim, at.request + 1)
        return at

    def _open(self, at: Place, stack: Sequence[Frame]) -> Frame:
        """The choice to make at this place, possibly one without options."""
        ask = at.ask
        depth = len(stack)
        if ask is None:
            frame = Frame(at, "alternatives", depth)
            if self.insight is not None:
                self._compare(frame, stack)
            return frame
        needed = self.demand.wanted(ask) - at.device
        too_many = self.per_claim[at.claim] + needed > MAX_RESULTS
        insight = self.insight
        if too_many or not needed:
            options = "none"
        elif ask.everything:
            options = "the one"
        else:
            found = insight is None or insight.are_left(ask, needed, at.start)
            options = "devices" if found else "none"
        frame = Frame(at, options, depth)
        frame.exceeded = int(too_many)
        if insight is not None:
            frame.blame.update(
                f.depth
                for f in stack
                if f.at.claim == at.claim and f.at.request == at.request
            )
            if insight.is_loud(frame):
                frame.blame.update(range(depth))
            if options != "none":
                self._compare(frame, stack)
        return frame

    def _compare(self, frame: Frame, stack: Sequence[Frame]) -> None:
        """Give the choice up where nothing can follow, or one like it led nowhere."""
        insight, at = self.insight, frame.at
        assert insight is not None
        if self._is_hopeless_from(at):
            frame.options = "none"
            frame.blame.update(range(frame.depth))
            return
        picks = [f.pick for f in stack if f.pick is not None]
        seen = insight.state(at, picks)
        place = (at.claim, at.request, id(at.ask), at.device, self.per_claim[at.claim])
        state = (place, seen)
        if state in insight.failed:
            frame.options = "none"
            frame.blame.update(range(frame.depth))
        else:
            frame.state = state

    def _is_hopeless_from(self, at: Place) -> bool:
        """Looks ahead, but only as often as that costs little beside the search."""
        outlook = self.outlook
        assert outlook is not None
        if self.meter.steps < self.next_look:
            return False
        self.next_look = self.meter.steps + outlook.cost
        return outlook.is_hopeless(at.claim, at.request, at.ask, at.device, at.start)

    def _advance(self, frame: Frame) -> Place | None:
        """Make the next choice of a frame, undoing the last; None: no more."""
        if frame.options == "alternatives":
            return self._next_alternative(frame)
        if frame.options == "none":
            return None
        if frame.pick is not None:
            self._undo(frame)
        if frame.options == "the one":
            return self._the_one(frame)
        return self._next_device(frame)

    def _next_alternative(self, frame: Frame) -> Place | None:
        at = frame.at
        alternatives = self.plan.claims[at.claim].requests[at.request].alternatives
        if frame.next == len(alternatives):
            return None
        frame.next += 1
        return dataclasses.replace(at, ask=alternatives[frame.next - 1])

    def _the_one(self, frame: Frame) -> Place | None:
        """The next device of a request for all: this one or none."""
        at = frame.at
        ask = at.ask
        assert ask is not None
        if frame.next:
            return None
        frame.next = 1
        candidate = self.everything[ask][at.device]
        self.meter.tick()
        if not self._take(frame, ask, candidate):
            if self.insight is not None:
                frame.blame.update(self.insight.blame(ask, candidate))
            return None
        return dataclasses.replace(at, device=at.device + 1)

    def _next_device(self, frame: Frame) -> Place | None:
        at = frame.at
        ask = at.ask
        assert ask is not None
        insight = self.insight
        for position, candidate, table in self._candidates(ask, frame.next or at.start):
            self.meter.tick()
            if insight is not None and insight.led_nowhere(frame, candidate):
                continue
            if self._may_take(ask, candidate, table) and self._take(
                frame, ask, candidate
            ):
                frame.next = position + 1
                again = self.plan.classic and insight is None
                start = 0 if again else position + 1
                return dataclasses.replace(at, device=at.device + 1, start=start)
            if insight is not None:
                frame.blame.update(insight.blame(ask, candidate))
        return None

    def _may_take(self, ask: Ask, candidate: Candidate, table: list[object]) -> bool:
        return (
            self.bookings.is_free(ask, candidate)
            and self.matcher.selectable(ask, candidate, table)
            and self.bookings.has_room(ask, candidate)
        )

    def _candidates(
        self, ask: Ask, start: int
    ) -> Iterator[tuple[int, Candidate, list[object]]]:
        """Devices from the place ``start`` on in order, but those known as not selected."""
        base = 0
        for view in self.views:
            size = len(view.candidates)
            if start < base + size:
                table = self.matcher.table(ask, view)
                if table.count(False) < size:
                    for index in range(max(0, start - base), size):
                        if table[index] is not False:
                            yield base + index, view.candidates[index], table
            base += size

    def _take(self, frame: Frame, ask: Ask, candidate: Candidate) -> bool:
        """Take the device if bookings and constraints let us."""
        rules = self.rules[ask.claim_index]
        pick = self.bookings.take(ask, candidate)
        if pick is None:
            return False
        for done, rule in enumerate(rules):
            if rule.add(ask, candidate):
                continue
            if ask.everything:
                raise AllocationError(
                    f"{ask.where}: cannot add device {candidate.id} because a claim "
                    "constraint would not be satisfied"
                )
            for earlier in rules[:done]:
                earlier.remove(ask)
            self.bookings.reject(pick)
            return False
        if not self.bookings.confirm(pick):
            if not self.bookings.leaks:
                for rule in rules:
                    rule.remove(ask)
            self.bookings.reject(pick)
            return False
        if self.insight is not None:
            self.insight.took(frame.depth, ask, candidate)
        self.per_claim[ask.claim_index] += 1
        frame.pick = pick
        return True

    def _undo(self, frame: Frame) -> None:
        pick = frame.pick
        assert pick is not None
        frame.pick = None
        if self.insight is not None:
            self.insight.gave_back(pick.ask, pick.candidate)
            if self.insight.is_untouched(pick.candidate):
                frame.hopeless.add(self.insight.signature(pick.candidate))
        for rule in self.rules[pick.ask.claim_index]:
            rule.remove(pick.ask)
        self.bookings.undo(pick)
        self.per_claim[pick.ask.claim_index] -= 1

    def _solution(self, stack: Sequence[Frame]) -> Solution:
        chosen: list[list[Ask]] = [
            [request.alternatives[0] for request in claim.requests]
            for claim in self.plan.claims
        ]
        for frame in stack:
            at = frame.at
            if frame.options == "alternatives":
                request = self.plan.claims[at.claim].requests[at.request]
                chosen[at.claim][at.request] = request.alternatives[frame.next - 1]
        return Solution(
            picks=tuple(frame.pick for frame in stack if frame.pick is not None),
            chosen=tuple(tuple(asks) for asks in chosen),
        )
