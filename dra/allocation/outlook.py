"""Whether what is still to be found can be there at all.

Counts only, so a "no" is certain and a "yes" is not: enough devices for each
request by itself, enough with one value where they have to agree, enough for all
requests together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra.allocation.booking import Bookings
from dra.allocation.constraints import Match, Rule
from dra.allocation.request import Ask, Plan
from dra.allocation.views import Candidate


class Outlook:
    """Looks ahead from any place of a search.

    ``possible`` has, per request, the places in ``order`` of the devices that could
    serve it when the search held nothing.
    """

    def __init__(
        self,
        plan: Plan,
        rules: Sequence[Sequence[Rule]],
        possible: dict[Ask, list[int]],
        order: Sequence[Candidate],
        bookings: Bookings,
    ) -> None:
        self.plan = plan
        self.rules = rules
        self.possible = possible
        self.order = order
        self.bookings = bookings
        self.cost = sum(map(len, possible.values()))
        """Devices that one look goes through."""
        self._left: dict[Ask, list[int]] = {}

    def is_hopeless(
        self, claim: int, request: int, ask: Ask | None, taken: int, start: int
    ) -> bool:
        """Whether nothing can follow.

        ``request`` of ``claim`` is under way: ``taken`` devices of its alternative
        ``ask`` are found (None: none is chosen), the next ones stand from ``start``.
        """
        self._left = {}
        for index in range(claim, len(self.plan.claims)):
            requests = self.plan.claims[index].requests
            wants: list[list[tuple[Ask, int]]] = []
            for number in range(request if index == claim else 0, len(requests)):
                here = index == claim and number == request
                if here and ask is not None:
                    left = self._free(ask)
                    self._left[ask] = [place for place in left if place >= start]
                    wants.append([(ask, ask.count - taken)])
                else:
                    wants.append([(a, a.count) for a in requests[number].alternatives])
            # What a request for all devices needs is looked at by the search.
            counted = [w for w in wants if not any(a.everything for a, _ in w)]
            if not all(any(self._is_enough(*w) for w in want) for want in counted):
                return True
            if not self._can_agree(index, counted):
                return True
        return False

    def _free(self, ask: Ask) -> list[int]:
        found = self._left.get(ask)
        if found is None:
            is_free, order = self.bookings.is_free, self.order
            found = [p for p in self.possible[ask] if is_free(ask, order[p])]
            self._left[ask] = found
        return found

    def _is_enough(self, ask: Ask, count: int) -> bool:
        return len(self._free(ask)) >= count

    def _can_agree(self, claim: int, wants: list[list[tuple[Ask, int]]]) -> bool:
        return all(
            self._has_value(rule, wants)
            for rule in self.rules[claim]
            if isinstance(rule, Match)
        )

    def _has_value(self, rule: Match, wants: list[list[tuple[Ask, int]]]) -> bool:
        """Whether some value is there often enough for all requests of a rule."""
        concerned = [
            [(ask, count) for ask, count in want if count]
            for want in wants
            if all(rule.applies(ask) for ask, _ in want)
        ]
        concerned = [want for want in concerned if want]
        if not concerned:
            return True
        by_value = [
            [(self._by_value(rule, ask), ask, count) for ask, count in want]
            for want in concerned
        ]
        if rule.count:
            values: Iterator[object] = iter([rule.value])
        else:
            values = iter({v for found, _, _ in by_value[0] for v in found})
        return any(self._is_often_enough(value, by_value) for value in values)

    def _is_often_enough(
        self,
        value: object,
        wants: list[list[tuple[dict[object, list[int]], Ask, int]]],
    ) -> bool:
        least = 0
        places: set[int] = set()
        alone = True
        for want in wants:
            counts = []
            for found, ask, count in want:
                there = found.get(value, [])
                # The first device may have no scalar value; then it is the only one.
                if len(there) >= count:
                    counts.append(count)
                    places.update(there)
                    alone = alone and not ask.admin
            if not counts:
                return False
            least += min(counts)
        if not alone or any(
            self.bookings.is_shareable(self.order[place]) for place in places
        ):
            return True
        return len(places) >= least

    def _by_value(self, rule: Match, ask: Ask) -> dict[object, list[int]]:
        found: dict[object, list[int]] = {}
        for place in self._free(ask):
            value = rule.value_of(ask, self.order[place])
            if value is not None:
                found.setdefault(value, []).append(place)
        return found
