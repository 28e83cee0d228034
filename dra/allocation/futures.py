"""What of the constraints matters for what a search has still to find.

Two states have the same future when the same devices are held and the constraints bind
the requests to come alike, whichever of several equal requests is which: of eight pairs
of a GPU and a NIC it does not matter which pair has which root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from dra.allocation.constraints import Rule
from dra.allocation.request import Ask, Plan

type Alternatives = Sequence[Ask]


class Knot(NamedTuple):
    """Requests to come that constraints bind together, and these constraints.

    Knots with the same ``shape`` are the same but for the names of requests.
    """

    shape: int
    rules: tuple[Rule, ...]


class Futures:
    """``rules``: the constraints of each claim."""

    def __init__(self, plan: Plan, rules: Sequence[Sequence[Rule]]) -> None:
        self.plan = plan
        self.rules = rules
        self._knots: dict[tuple[int, int, Ask | None], list[Knot]] = {}
        self._shapes: dict[Hashable, int] = {}

    def state(self, claim: int, request: int, ask: Ask | None) -> Hashable:
        """Equal when the constraints of the claim leave the same for what is to come.

        That is ``request``, of which the alternative ``ask`` may be under way, and those
        after it.
        """
        place = claim, request, ask
        knots = self._knots.get(place)
        if knots is None:
            knots = self._knots[place] = self._tie(claim, request, ask)
        bound = Counter((k.shape, tuple(r.state() for r in k.rules)) for k in knots)
        return frozenset(bound.items())

    def _tie(self, claim: int, request: int, ask: Ask | None) -> list[Knot]:
        to_come: list[Alternatives] = [
            wanted.alternatives for wanted in self.plan.claims[claim].requests[request:]
        ]
        if ask is not None:
            to_come[0] = [ask]
        knots: list[tuple[set[int], list[Rule]]] = []
        for rule in self.rules[claim]:
            bound = {
                i for i, asks in enumerate(to_come) if any(map(rule.applies, asks))
            }
            if not bound:
                continue
            tied, rules = bound, [rule]
            apart = []
            for known in knots:
                if known[0].isdisjoint(bound):
                    apart.append(known)
                else:
                    tied, rules = tied | known[0], known[1] + rules
            knots = [*apart, (tied, rules)]
        return [self._knot(sorted(t), rules, to_come) for t, rules in knots]

    def _knot(
        self, tied: list[int], rules: Sequence[Rule], to_come: Sequence[Alternatives]
    ) -> Knot:
        # The first one is not like the others: it may have some of its devices.
        wants = tuple((i == 0, tuple(a.terms for a in to_come[i])) for i in tied)
        binding = tuple(
            (
                type(r),
                r.attribute,
                tuple(r.applies(a) for i in tied for a in to_come[i]),
            )
            for r in rules
        )
        shape = self._shapes.setdefault((wants, binding), len(self._shapes))
        return Knot(shape, tuple(rules))
