"""Whether what is still to be found can be there at all.

Counts only, so a "no" is certain and a "yes" is not: enough devices for all requests
side by side, enough that agree where they have to, values enough where they must
differ, room enough in the counters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import NamedTuple

from dra.allocation.booking import Bookings
from dra.allocation.constraints import (
    ALONE,
    Distinct,
    ForgetfulDistinct,
    Match,
    MatchLists,
    Rule,
    Value,
)
from dra.allocation.matching import Matcher
from dra.allocation.request import Ask, Plan, RequestPlan
from dra.allocation.seating import all_are_seated
from dra.allocation.supply import Option, Supply, Want, served
from dra.allocation.traces import loud_asks
from dra.allocation.views import Candidate


class Bound(NamedTuple):
    """Requests that have to agree, and the values on which they could."""

    rule: Match | MatchLists
    wants: Sequence[Want]
    values: Sequence[Value]


type Values = Mapping[int, frozenset[Value]]
"""By place."""


def possible_places(
    plan: Plan, order: Sequence[Candidate], matcher: Matcher, bookings: Bookings
) -> dict[Ask, list[int]]:
    """Where in ``order`` the devices stand that each request could get at best.

    ``bookings``: of a search that holds nothing.
    """
    return {
        ask: [
            place
            for place, candidate in enumerate(order)
            if bookings.is_free(ask, candidate)
            and matcher.selectable(ask, candidate)
            and bookings.has_room(ask, candidate)
            and not bookings.is_kept_away(ask, candidate)
        ]
        for ask in plan.asks
    }


def is_in_vain(
    plan: Plan,
    rules: Sequence[Sequence[Rule]],
    possible: Mapping[Ask, Sequence[int]],
    order: Sequence[Candidate],
    bookings: Bookings,
) -> bool:
    """Whether no search can find anything, whatever traces it leaves.

    ``rules`` and ``bookings``: of a search that holds nothing. Traces stand in the way
    of a solution or have no part here, except that a constraint may forget values.
    """
    lasting = [
        [rule for rule in of_claim if not isinstance(rule, ForgetfulDistinct)]
        for of_claim in rules
    ]
    outlook = Outlook(plan, lasting, possible, order, bookings, loud_asks(plan))
    return outlook.is_hopeless(0, 0, None, 0, 0)


class Outlook:
    """Looks ahead from any place of a search.

    ``possible``: see :func:`possible_places`. ``loud`` requests may end the search with
    an error, so it must get to them if it can.
    """

    def __init__(
        self,
        plan: Plan,
        rules: Sequence[Sequence[Rule]],
        possible: Mapping[Ask, Sequence[int]],
        order: Sequence[Candidate],
        bookings: Bookings,
        loud: Collection[Ask],
    ) -> None:
        self.plan = plan
        self.rules = rules
        self.possible = possible
        self.order = order
        self.bookings = bookings
        self.loud = loud
        self.supply = Supply(order, bookings)
        self.cost = sum(map(len, possible.values()))
        """Devices that one look goes through."""
        self._left: dict[Ask, list[int]] = {}
        self._values: dict[tuple[Rule, Ask], Values] = {}

    def is_hopeless(
        self, claim: int, request: int, ask: Ask | None, taken: int, start: int
    ) -> bool:
        """Whether nothing can follow.

        ``request`` of ``claim`` is under way: ``taken`` devices of its alternative
        ``ask`` are found (None: none is chosen), the next ones stand from ``start``.
        """
        self._left = {}
        for index in range(claim, len(self.plan.claims)):
            wants: list[Want] = []
            for number, wanted in enumerate(self.plan.claims[index].requests):
                here = index == claim and number == request
                if index == claim and number < request:
                    continue
                if here and ask is not None:
                    left = [place for place in self._free(ask) if place >= start]
                    want = [Option(ask, ask.count - taken, left)]
                else:
                    want = self._options(wanted)
                if any(option.ask in self.loud for option in want):
                    return not (all(wants) and self._can_be(index, wants))
                # What a request for all devices needs is looked at by the search.
                if not any(option.ask.everything for option in want):
                    wants.append([o for o in want if len(o.places) >= o.needed])
            if not all(wants) or not self._can_be(index, wants):
                return True
        return False

    def _options(self, request: RequestPlan) -> list[Option]:
        return [Option(a, a.count, self._free(a)) for a in request.alternatives]

    def _free(self, ask: Ask) -> list[int]:
        """Where the devices stand that ``ask`` could have right now."""
        found = self._left.get(ask)
        if found is None:
            bookings, order = self.bookings, self.order
            found = self._left[ask] = [
                place
                for place in self.possible[ask]
                if bookings.is_free(ask, order[place])
                and bookings.has_room(ask, order[place])
                and bookings.has_counters(ask, order[place])
            ]
        return found

    def _can_be(self, claim: int, wants: Sequence[Want]) -> bool:
        if not self._go_together(wants):
            return False
        agreed: dict[str, list[Bound]] = {}
        for rule in self.rules[claim]:
            concerned = [w for w in wants if all(rule.applies(o.ask) for o in w)]
            if isinstance(rule, Match | MatchLists):
                values = self._common_values(rule, concerned)
                if values is None:
                    continue
                if not values:
                    return False
                agreed.setdefault(rule.attribute, []).append(
                    Bound(rule, concerned, values)
                )
            elif isinstance(rule, Distinct) and not self._can_differ(rule, concerned):
                return False
        return all(map(self._find_values, agreed.values()))

    def _go_together(self, wants: Sequence[Want]) -> bool:
        """Whether there are devices and counters enough for all requests at once."""
        asks: dict[int, list[Ask]] = {}
        for want in wants:
            for option in want:
                for place in option.places:
                    asks.setdefault(place, []).append(option.ask)
        room = {p: self.bookings.times(of, self.order[p]) for p, of in asks.items()}
        parties = [(_least(w), {p for o in w for p in o.places}) for w in wants]
        return all_are_seated(parties, room.__getitem__) and self.supply.suffices(
            wants, room
        )

    def _common_values(
        self, rule: Match | MatchLists, wants: Sequence[Want]
    ) -> list[Value] | None:
        """Values that are there often enough for all requests of a rule.

        None where any device will do.
        """
        allowed = rule.narrowed()
        if sum(map(_least, wants)) < (2 if allowed is None else 1):
            return None  # one alone agrees with itself
        if allowed is None:
            allowed = frozenset().union(
                *(v for o in wants[0] for v in self._values_of(rule, o.ask).values())
            )
        return [v for v in allowed if self._is_often_enough(rule, v, wants)]

    def _is_often_enough(
        self, rule: Match | MatchLists, value: Value, wants: Sequence[Want]
    ) -> bool:
        narrowed: list[Want] = []
        for want in wants:
            options = []
            for ask, needed, places in want:
                values = self._values_of(rule, ask)
                there = [place for place in places if value in values[place]]
                if len(there) >= needed:
                    options.append(Option(ask, needed, there))
            if not options:
                return False
            narrowed.append(options)
        return self._go_together(narrowed)

    def _find_values(self, bounds: Sequence[Bound]) -> bool:
        """Whether rules on one attribute find their values beside each other.

        At a value is room for as many of them as its devices serve.
        """
        apart: list[Bound] = []
        for bound in bounds:
            taken = [want for other in apart for want in other.wants]
            if not any(want is w for want in bound.wants for w in taken):
                apart.append(bound)
        if len(apart) < 2:
            return True
        room: dict[Value, int] = {}
        for value in {value for bound in apart for value in bound.values}:
            there = [bound for bound in apart if value in bound.values]
            room[value] = self._room_at(value, there)
        return all_are_seated([(1, b.values) for b in apart], room.__getitem__)

    def _room_at(self, value: Value, bounds: Sequence[Bound]) -> int:
        """How many of the rules the devices with the value can serve, at most.

        Counted for each kind of request as if the others were not there.
        """
        needed: dict[Hashable, Counter[int]] = {}
        supply: dict[Hashable, set[int]] = {}
        for number, (rule, wants, _) in enumerate(bounds):
            for want in wants:
                if len(want) > 1:
                    continue
                ((ask, count, places),) = want
                values = self._values_of(rule, ask)
                there = {place for place in places if value in values[place]}
                if any(self.bookings.is_shareable(self.order[p]) for p in there):
                    continue
                needed.setdefault(ask.terms, Counter())[number] += count
                supply.setdefault(ask.terms, set()).update(there)
        return min(
            [
                len(bounds) - len(counts) + served(counts.values(), len(supply[kind]))
                for kind, counts in needed.items()
            ],
            default=len(bounds),
        )

    def _can_differ(self, rule: Distinct, wants: Sequence[Want]) -> bool:
        """Whether there are values enough that no device has yet."""
        held = frozenset[Value]().union(*(values.each() for values in rule.held()))
        if rule.held():
            held |= {ALONE}
        parties = []
        for want in wants:
            seats: set[Value] = set()
            for option in want:
                values = self._values_of(rule, option.ask)
                for place in option.places:
                    if values[place].isdisjoint(held):
                        seats |= values[place]
            parties.append((_least(want), seats))
        return all_are_seated(parties, lambda _: 1)

    def _values_of(self, rule: Match | MatchLists | Distinct, ask: Ask) -> Values:
        found = self._values.get((rule, ask))
        if found is None:
            found = self._values[rule, ask] = {
                place: rule.values_of(ask, self.order[place])
                for place in self.possible[ask]
            }
        return found


def _least(want: Want) -> int:
    return min(option.needed for option in want)
