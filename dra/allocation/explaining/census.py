"""Where every device of plain nodes stands for every request, by counting.

Devices that are alike are looked at once, whatever node they are on: a look at 90,000
devices is a few hundred looks and a lookup each. What is said of one is what the
engine itself says (``dra.allocation.counts``).
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra.allocation.constraints import concerns, scalar
from dra.allocation.counts import (
    Counts,
    Limit,
    Standing,
    availability,
    standing_of,
)
from dra.allocation.errors import AllocationError
from dra.allocation.explaining.plain import NOWHERE, Places, plain_nodes
from dra.allocation.explaining.shortages import Shortage, Shortages, shortage_of
from dra.allocation.explaining.tallies import Agreeing, Numbers, Tally, numbered
from dra.allocation.groups import constraint_column
from dra.allocation.matching import Trouble, chain_verdicts, verdicts
from dra.allocation.placing import Question
from dra.allocation.request import MAX_RESULTS, Ask
from dra.allocation.search import Search
from dra.allocation.traits import kinds, rule_taints, uses_of
from dra.allocation.views import Candidate, view_of
from dra.cel.columns import ABSENT
from dra.cel.selection import Part, Stop, Stopped, combinations
from dra.objects import Constraint, DeviceAttribute

type Standings = NDArray[np.uint8]
type Mask = NDArray[np.bool_]

_STANDINGS: Final = len(Standing)


class NotCountable(Exception):  # noqa: N818 - a state, not a fault
    """The claims ask for something that has to be looked at node by node."""


class Census:
    """The standings of one question on the plain ones among ``node_names``.

    ``names`` are those that are counted, in the order of ``node_names``; the others are
    ``left``. Rows are those of the table; devices of other nodes have the standing 0.
    Raises :class:`NotCountable`, NotSupportedError for an expression that cannot be
    asked, and :class:`~dra.cel.selection.Stopped` when ``stop`` said so.
    """

    def __init__(
        self,
        question: Question,
        node_names: Sequence[str],
        *,
        closely: bool,
        stop: Stop | None = None,
    ) -> None:
        """``closely`` also says what could be had if selectors wanted it."""
        self.question = question
        self.closely = closely
        self.stop = stop
        self.table = question.snapshot.devices(
            lists=question.features.list_type_attributes
        )
        _check(question)
        self.plans = {
            ask: claim
            for claim in question.plan.claims
            for request in claim.requests
            for ask in request.alternatives
        }
        self._verdicts = {
            chain: chain_verdicts(chain, self.table, stop=stop)
            for chain in dict.fromkeys(ask.chain for ask in self.plans)
        }
        self._values: dict[str, Numbers] = {}
        self._starts = [block.start for block in self.table.listing.blocks]
        self.names: list[str] = []
        self.left: list[str] = []
        self.homes = self._homes(node_names)
        self.standing: dict[Ask, Standings] = {}
        self.available: dict[Ask, Standings] = {}
        self.shortages: dict[Ask, Shortages] = {}
        self._stand()
        self.troubled = self._troubled()
        self.tallies = {ask: self._tally(ask) for ask in self.plans}

    def go_on(self, done: int, total: int) -> None:
        """Raises Stopped when that is asked for."""
        if self.stop is not None and self.stop():
            raise Stopped(done, total)

    # --- which nodes ---

    def _homes(self, node_names: Sequence[str]) -> Places:
        """The place in ``names`` of each device's node."""
        plain = plain_nodes(self.question.layout, self.table)
        counted = np.full(len(plain.names) + 1, NOWHERE, np.int32)
        refused = self._refused(plain.homes, len(plain.names))
        for name in node_names:
            place = plain.places.get(name)
            if place is None or refused[place]:
                self.left.append(name)
            elif counted[place] == NOWHERE:
                counted[place] = len(self.names)
                self.names.append(name)
        return counted[plain.homes]

    def _refused(self, homes: Places, nodes: int) -> Mask:
        """Nodes on which a request for all devices ends with an error."""
        found = np.zeros(nodes, np.bool_)
        for ask in self.plans:
            if not ask.everything:
                continue
            codes, said = self._verdicts[ask.chain]
            here = homes != NOWHERE
            failing = np.array([isinstance(v, Trouble) for v in said], np.bool_)[codes]
            found[homes[failing & here]] = True
            wanted = np.bincount(homes[(codes == 0) & here], minlength=nodes)
            # Together with what the others want it may be more than a claim can hold.
            found |= wanted + self._least_of_others(ask) > MAX_RESULTS
        return found

    def _least_of_others(self, ask: Ask) -> int:
        claim = self.plans[ask]
        if sum(a.everything for r in claim.requests for a in r.alternatives) > 1:
            raise NotCountable
        return sum(
            min(0 if a.everything else a.count for a in request.alternatives)
            for request in claim.requests
        )

    # --- standings ---

    def _stand(self) -> None:
        rows = np.flatnonzero(self.homes != NOWHERE)
        parts = [Part(c[rows], len(v)) for c, v in self._verdicts.values()]
        kind = self.table.made_by(kinds)
        uses = uses_of(self.question.snapshot, self.table)
        parts += [
            Part(kind.codes[rows], kind.size),
            Part(uses.codes[rows], len(uses.known)),
        ]
        taints = rule_taints(self.question.snapshot, self.table)
        if taints is not None:
            parts.append(Part(taints.codes[rows], len(taints.meanings)))
        first, which = combinations(parts, len(rows))
        examples = rows[first].tolist()
        numbers = np.bincount(which, minlength=len(first)).tolist()
        looks = [self._look(n, row, len(first)) for n, row in enumerate(examples)]
        for place, ask in enumerate(self.plans):
            self.go_on(place, len(self.plans))
            self.standing[ask] = self._spread(
                [look[place].standing for look in looks], rows, which
            )
            self.available[ask] = self._spread(
                [look[place].available for look in looks], rows, which
            )
            shortages = self.shortages[ask] = Counter()
            for look, number in zip(looks, numbers, strict=True):
                for what in look[place].shortages:
                    shortages[what] += number

    def _spread(
        self, found: Sequence[Standing], rows: NDArray[np.intp], which: NDArray[np.intp]
    ) -> Standings:
        standing = np.zeros(len(self.table), np.uint8)
        standing[rows] = np.array(found, np.uint8)[which]
        return standing

    def _look(self, number: int, row: int, total: int) -> list[_Look]:
        """At one device, for every request."""
        self.go_on(number, total)
        search = self.question.unchecked(self.names[self.homes[row]])
        block = self.table.listing.blocks[bisect_right(self._starts, row) - 1]
        assert block.slice is not None
        view, index = view_of(block.slice), row - block.start
        for chain, (codes, said) in self._verdicts.items():
            verdicts(chain, view, lists=self.table.lists)[index] = said[codes[row]]
        candidate = view.candidates[index]
        try:
            return [self._standing(search, ask, candidate) for ask in self.plans]
        except AllocationError:
            raise NotCountable from None

    def _standing(self, search: Search, ask: Ask, candidate: Candidate) -> _Look:
        standing = standing_of(search, ask, candidate)
        wanted = standing > Standing.UNWANTED
        if ask.everything and wanted and not search.bookings.has_room(ask, candidate):
            # A request for all means only devices that have the capacity.
            standing = Standing.UNWANTED
        available = standing
        if self.closely and standing is Standing.UNWANTED:
            available = availability(search, ask, candidate)
        shortages = tuple(shortage_of(search, ask, candidate, standing))
        return _Look(standing, available, shortages)

    def _troubled(self) -> Mask:
        """Nodes on which a search may end with an error."""
        found = np.zeros(len(self.names), np.bool_)
        for standing in self.standing.values():
            found[self.homes[standing == Standing.FAILING]] = True
        return found

    # --- counting ---

    def _tally(self, ask: Ask) -> Tally:
        self.go_on(0, len(self.plans))
        rows = np.flatnonzero(self.homes != NOWHERE)
        key = self.homes[rows].astype(np.int64) * _STANDINGS + self.standing[ask][rows]
        size = len(self.names) * _STANDINGS
        table = np.bincount(key, minlength=size).reshape(-1, _STANDINGS)
        free = np.flatnonzero(self.standing[ask] == Standing.FREE)
        limits = tuple(
            self._limit(constraint, free)
            for constraint in self.plans[ask].constraints
            if concerns(constraint, ask)
        )
        return Tally(table.astype(np.int64), limits)

    def _limit(self, constraint: Constraint, free: NDArray[np.intp]) -> Agreeing:
        name = constraint.match_attribute or constraint.distinct_attribute or ""
        distinct = constraint.match_attribute is None
        nodes = len(self.names)
        node, _, number = self.values(name, free)
        most = np.zeros(nodes, np.int64)
        if distinct:
            most = np.bincount(node, minlength=nodes)
        else:
            np.maximum.at(most, node, number)
        without = np.bincount(self.homes[free], minlength=nodes)
        without -= np.bincount(node, weights=number, minlength=nodes).astype(np.int64)
        return Agreeing(name, distinct, most, without)

    def values(
        self, attribute: str, rows: NDArray[np.intp]
    ) -> tuple[Numbers, Numbers, Numbers]:
        """How often the devices at ``rows``, free for some request, have each value of an
        attribute.

        Three columns: the node's place, the value as a number, how many devices.
        Raises NotCountable where a value is a list or none at all.
        """
        codes = self.value_codes(attribute, rows)
        having = codes != ABSENT
        span = int(codes.max(initial=0)) + 1
        key = self.homes[rows[having]].astype(np.int64) * span + codes[having]
        if len(self.names) * span > _DENSE * len(self.table):
            found, number = np.unique(key, return_counts=True)
        else:
            number = np.bincount(key, minlength=1)
            found = np.flatnonzero(number)
            number = number[found]
        return found // span, found % span, number

    def value_codes(self, attribute: str, rows: NDArray[np.intp]) -> Numbers:
        """The value of an attribute of each of the devices at ``rows``, 0 for none.

        Equal numbers are equal values, also between requests. Raises NotCountable where
        it is a list or has no value.
        """
        known = self._values.get(attribute)
        if known is None:
            known = self._values[attribute] = self._value_codes(attribute)
        codes = known[rows]
        if (codes == _ODD).any():
            raise NotCountable
        return codes

    def _value_codes(self, attribute: str) -> Numbers:
        """Of every device that is free for any request; 0 for the others."""
        free = np.zeros(len(self.table), np.bool_)
        for standing in self.standing.values():
            free |= standing == Standing.FREE
        column = constraint_column(self.table, attribute)
        codes = np.where(free, column.codes, ABSENT)
        numbers: dict[Hashable, int] = {}
        meaning = np.zeros(column.size, np.int64)
        for code in np.flatnonzero(np.bincount(codes, minlength=1)).tolist():
            raw = column.raws[code]
            if isinstance(raw, DeviceAttribute):
                value = _single(raw)
                meaning[code] = (
                    _ODD
                    if value is None
                    else numbers.setdefault(value, len(numbers) + 1)
                )
        return meaning[codes]

    # --- answers ---

    def counts(self, ask: Ask, node: int) -> Counts:
        """The counts of a node by its place, without the values of its limits."""
        tally = self.tallies[ask]
        by = tally.by_standing[node].tolist()
        matching = sum(by) - by[Standing.UNWANTED] - by[Standing.FAILING]
        return Counts(
            needed=max(1, matching) if ask.everything else ask.count,
            published=sum(by),
            matching=matching,
            failing=by[Standing.FAILING],
            in_use=by[Standing.IN_USE],
            tainted=by[Standing.TAINTED],
            full=by[Standing.NO_CAPACITY] + by[Standing.NO_COUNTERS],
            free=by[Standing.FREE],
            limits=tuple(
                Limit(
                    limit.attribute,
                    limit.distinct,
                    int(limit.most[node]),
                    int(limit.without[node]),
                    (),
                )
                for limit in tally.limits
            ),
        )

    def alike(self) -> Iterable[NDArray[np.intp]]:
        """The places of nodes that have the same counts, by the first of them."""
        if not self.names:
            return []
        columns = [
            column
            for tally in self.tallies.values()
            for column in (
                *tally.by_standing.T,
                *(
                    each
                    for limit in tally.limits
                    for each in (limit.most, limit.without)
                ),
            )
        ]
        which = numbered(columns, len(self.names))
        order = np.argsort(which, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(which))[:-1])
        return sorted(groups, key=lambda places: int(places[0]))


def _check(question: Question) -> None:
    """Raises NotCountable for claims that end with an error or derive attributes."""
    plan = question.plan
    if plan.problem is not None:
        raise NotCountable
    for claim in plan.claims:
        asks = [request.alternatives for request in claim.requests]
        least = sum(min(0 if a.everything else a.count for a in each) for each in asks)
        derived = any(ask.derived for each in asks for ask in each)
        if derived or claim.problem is not None or least > MAX_RESULTS:
            raise NotCountable


_DENSE: Final = 16
"""So many times as many places as devices, and sorting beats counting."""
_ODD: Final = -1
"""A value that is no single one."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Look:
    standing: Standing
    available: Standing
    shortages: Sequence[Shortage]


def _single(attribute: DeviceAttribute) -> Hashable | None:
    lists = (attribute.ints, attribute.bools, attribute.strings, attribute.versions)
    if any(members is not None for members in lists):
        return None
    return scalar(attribute)
