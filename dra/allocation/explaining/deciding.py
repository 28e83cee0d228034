"""Which plain nodes fit for sure and which for sure do not, by counting alone.

Exact where each request has devices of its own and at most one constraint: then a
request is served if enough of its free devices agree, whatever the others take. Where
requests want the same devices and nothing has to agree, there is for sure enough if
each can have others than the rest (Hall's theorem). For anything else it says that it
does not know, and the engine searches.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra.allocation.constraints import concerns
from dra.allocation.counts import Standing
from dra.allocation.explaining.census import Census, NotCountable
from dra.allocation.explaining.likeness import likeness_of
from dra.allocation.explaining.plain import plain_nodes
from dra.allocation.explaining.tallies import Numbers
from dra.allocation.placing import Question
from dra.allocation.request import MAX_RESULTS, Ask, ClaimPlan
from dra.allocation.sweep import FEW
from dra.allocation.traits import uses_of
from dra.cel.selection import Stop
from dra.errors import NotSupportedError
from dra.objects import Constraint

type Mask = NDArray[np.bool_]

MOST_CHOICES: Final = 32
"""Combinations of alternatives that are looked at."""
MOST_CONTESTING: Final = 6
"""Requests for the same devices of which all sets are looked at."""


class Decision:
    """Nodes that are ``fitting`` and ``failing`` for sure; the others have to be searched.

    Raises :class:`~dra.allocation.explaining.census.NotCountable`.
    """

    def __init__(self, census: Census) -> None:
        self.census = census
        nodes = len(census.names)
        fits, fails = np.zeros(nodes, np.bool_), np.zeros(nodes, np.bool_)
        choices = _choices(census)
        if choices:
            decided = [self._decide(asks) for asks in choices]
            fits = np.any([possible & sure for possible, sure in decided], axis=0)
            fails = ~np.any([possible for possible, _ in decided], axis=0)
        # A selector that fails there may end the search.
        self.fitting = _named(census.names, fits & ~census.troubled)
        self.failing = _named(census.names, fails & ~census.troubled)
        self.counted = _named(census.names, ~census.troubled)

    @cached_property
    def likeness(self) -> Mapping[str, int]:
        """Equal for nodes of which all fit or none; without those that are like no other."""
        if len(self.fitting) + len(self.failing) == len(self.counted):
            return {}
        try:
            numbers = likeness_of(self.census).tolist()
        except NotCountable:
            return {}
        known = zip(self.census.names, numbers, strict=True)
        return {name: number for name, number in known if name in self.counted}

    def examples(self, node_names: Sequence[str]) -> list[str]:
        """Nodes whose answers tell those of all, in order; failing ones are left out."""
        seen: set[int] = set()
        found = []
        for name in node_names:
            if name in self.failing:
                continue
            alike = None if name in self.fitting else self.likeness.get(name)
            if alike is None:
                found.append(name)
            elif alike not in seen:
                seen.add(alike)
                found.append(name)
        return found

    def holds_for(self, other: Question) -> bool:
        """Whether the counted nodes have the same answer to ``other``, the same question in
        mode "1.36": nothing that its quirks are about is there."""
        census = self.census
        plan = census.question.plan
        if other.classic or any(ask.admin for ask in census.plans):
            return False
        if any(c.match_attribute is None for p in plan.claims for c in p.constraints):
            return False
        ours, theirs = (
            plain_nodes(question.layout, census.table)
            for question in (census.question, other)
        )
        if ours.places != theirs.places:
            return False
        if not np.array_equal(ours.homes, theirs.homes):
            return False
        uses = uses_of(census.question.snapshot, census.table)
        left_over = [use is not None and not use.alone for use in uses.known]
        shareable = np.array(census.table.listing.shareable, np.bool_)
        return not (np.array(left_over)[uses.codes] & ~shareable).any()

    def _decide(self, asks: Sequence[Ask]) -> tuple[Mask, Mask]:
        """Where these alternatives may fit, and where what may be is so."""
        census = self.census
        census.go_on(0, len(asks))
        nodes = len(census.names)
        possible, certain = np.ones(nodes, np.bool_), np.ones(nodes, np.bool_)
        for ask in asks:
            tally = census.tallies[ask]
            if ask.everything:
                if tally.limits:
                    raise NotCountable  # one that disagrees is an error
                possible &= (tally.free == tally.matching) & (tally.matching > 0)
            else:
                possible &= tally.free >= ask.count
                for limit in tally.limits:
                    possible &= limit.most >= ask.count
        for claim in dict.fromkeys(census.plans[ask] for ask in asks):
            own = [ask for ask in asks if census.plans[ask] is claim]
            possible &= self._wanted(own) <= MAX_RESULTS
            for constraint in claim.constraints:
                agreed, exact = self._agreed(constraint, own)
                possible &= agreed
                certain &= exact
            certain &= _concerned_once(claim, own)
        contested = self._contested(asks)
        if contested.any():
            certain &= ~contested | self._enough_for_all(asks)
        return possible, certain

    def _wanted(self, own: Sequence[Ask]) -> Numbers:
        """How many devices a claim wants on each node."""
        census = self.census
        total = np.zeros(len(census.names), np.int64)
        for ask in own:
            total += census.tallies[ask].matching if ask.everything else ask.count
        return total

    def _agreed(self, constraint: Constraint, own: Sequence[Ask]) -> tuple[Mask, bool]:
        """Where the free devices of each request can agree on one value.

        What differs has to be searched for where several requests are concerned.
        """
        census = self.census
        nodes = len(census.names)
        asks = [ask for ask in own if concerns(constraint, ask)]
        if constraint.match_attribute is None:
            return np.ones(nodes, np.bool_), len(asks) <= 1
        if not asks:
            return np.ones(nodes, np.bool_), True
        span, places = len(census.table) + 1, None
        for ask in asks:
            free = np.flatnonzero(census.standing[ask] == Standing.FREE)
            node, value, number = census.values(constraint.match_attribute, free)
            here = (node * span + value)[number >= ask.count]
            # Both are ascending and without repetition.
            places = here if places is None else _common(places, here)
        agreed = np.zeros(nodes, np.bool_)
        assert places is not None
        agreed[places // span] = True
        return agreed, True

    def _contested(self, asks: Sequence[Ask]) -> Mask:
        """Nodes with a device that more than one request can have."""
        census = self.census
        claimed = np.zeros(len(census.table), np.uint8)
        for ask in asks:
            claimed += census.standing[ask] == Standing.FREE
        found = np.zeros(len(census.names), np.bool_)
        found[census.homes[claimed > 1]] = True
        return found

    def _enough_for_all(self, asks: Sequence[Ask]) -> Mask:
        """Nodes on which every request can have devices that no other one gets.

        By Hall's theorem: any of them together find as many devices as they want. Where
        devices are shared fewer may do, which is not looked at.
        """
        census = self.census
        nodes = len(census.names)
        simple = not any(a.everything or census.tallies[a].limits for a in asks)
        if not simple or len(asks) > MOST_CONTESTING:
            return np.zeros(nodes, np.bool_)
        wanted_by = np.zeros(len(census.table), np.int64)
        for place, ask in enumerate(asks):
            free = census.standing[ask] == Standing.FREE
            wanted_by |= free.astype(np.int64) << place
        rows = np.flatnonzero(wanted_by)
        sets = 1 << len(asks)
        key = census.homes[rows].astype(np.int64) * sets + wanted_by[rows]
        devices = np.bincount(key, minlength=nodes * sets).reshape(nodes, sets)
        enough = np.ones(nodes, np.bool_)
        for those in range(1, sets):
            own = [x for x in range(sets) if x & those]
            number = sum(a.count for n, a in enumerate(asks) if those >> n & 1)
            enough &= devices[:, own].sum(axis=1) >= number
        return enough


def _common(ours: Numbers, theirs: Numbers) -> Numbers:
    """What is in both, each ascending and without repetition."""
    found: Numbers = np.intersect1d(ours, theirs, assume_unique=True)
    return found


def _named(names: Sequence[str], mask: Mask) -> frozenset[str]:
    return frozenset(names[place] for place in np.flatnonzero(mask).tolist())


def _concerned_once(claim: ClaimPlan, asks: Sequence[Ask]) -> bool:
    return all(sum(concerns(c, ask) for c in claim.constraints) <= 1 for ask in asks)


def _choices(census: Census) -> list[tuple[Ask, ...]]:
    """Every way to pick an alternative of each request; none where there are too many."""
    requests = [
        request.alternatives
        for claim in census.question.plan.claims
        for request in claim.requests
    ]
    number = math.prod(len(alternatives) for alternatives in requests)
    return list(itertools.product(*requests)) if number <= MOST_CHOICES else []


def decision_on(
    question: Question, node_names: Sequence[str], stop: Stop | None
) -> Decision | None:
    """None where nothing can be told by counting. Raises Stopped when ``stop`` said so."""
    if len(node_names) < FEW or question.quirks:
        return None
    try:
        return Decision(Census(question, node_names, closely=False, stop=stop))
    except (NotCountable, NotSupportedError):
        return None
