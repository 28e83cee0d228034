"""Whether what is still to be found can be there at all.

Counts only, so a "no" is certain and a "yes" is not: enough devices for all requests
side by side, enough that agree where they have to, values enough where they must
differ, room enough in the counters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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
from dra.allocation.supply import Option, Supply, Want
from dra.allocation.traces import loud_asks
from dra.allocation.views import Candidate

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
        return self._go_together(wants) and all(
            self._can_agree(rule, concerned)
            if isinstance(rule, Match | MatchLists)
            else self._can_differ(rule, concerned)
            for rule in self.rules[claim]
            if isinstance(rule, Match | MatchLists | Distinct)
            for concerned in ([w for w in wants if all(map(rule.applies, _asks(w)))],)
            if concerned
        )

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

    def _can_agree(self, rule: Match | MatchLists, wants: Sequence[Want]) -> bool:
        """Whether some value is there often enough for all requests of a rule."""
        allowed = rule.narrowed()
        if allowed is None:
            if sum(map(_least, wants)) < 2:  # one alone agrees with itself
                return True
            allowed = frozenset().union(
                *(v for o in wants[0] for v in self._values_of(rule, o.ask).values())
            )
        return any(self._is_often_enough(rule, value, wants) for value in allowed)

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


def _asks(want: Want) -> list[Ask]:
    return [option.ask for option in want]


def _least(want: Want) -> int:
    return min(option.needed for option in want)
