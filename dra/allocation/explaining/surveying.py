"""Where every device of the cluster stands for every request, node by node.

Nodes that are the same to the question are looked at once (``dra.allocation.groups``).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra.allocation.counts import (
    Counts,
    Limit,
    Standing,
    availabilities,
    candidates,
    count,
    counts_of,
    standings,
    terms_of,
)
from dra.allocation.errors import AllocationError
from dra.allocation.explaining.census import Census, NotCountable
from dra.allocation.explaining.deciding import Decision
from dra.allocation.explaining.shortages import Shortage, Shortages, shortage_of
from dra.allocation.groups import Signature
from dra.allocation.layout import NodeView
from dra.allocation.placing import Question
from dra.allocation.request import Ask, ClaimPlan
from dra.allocation.search import Search
from dra.allocation.sweep import FEW, Sweep
from dra.cel.selection import Stop, Stopped
from dra.errors import NotSupportedError

type Standings = NDArray[np.uint8]


@dataclasses.dataclass(frozen=True, slots=True)
class Kin:
    """Nodes that are alike: ``counts`` by request are those of each of them.

    ``error`` says why they have no answer at all. ``counted``: the limits in
    ``counts`` lack the values, see :meth:`Survey.limit`.
    """

    names: list[str]
    counts: dict[Ask, Counts]
    error: str = ""
    counted: bool = False


class Survey:
    """All nodes of one question.

    ``standing[ask]`` has the best :class:`Standing` of each device over the nodes,
    ``available[ask]`` the same as if its selectors wanted every device; rows are
    those of the snapshot's device table.
    """

    def __init__(
        self,
        question: Question,
        node_names: Sequence[str],
        stop: Stop | None = None,
        *,
        counting: bool = True,
    ) -> None:
        """``counting`` nodes where that will do is quicker and finds the same.

        Raises :class:`~dra.cel.selection.Stopped` when ``stop`` said so.
        """
        self.question = question
        self.stop = stop
        self.table = question.snapshot.devices(
            lists=question.features.list_type_attributes
        )
        self.claims: dict[Ask, ClaimPlan] = {
            ask: claim
            for claim in question.plan.claims
            for request in claim.requests
            for ask in request.alternatives
        }
        self.standing = {ask: self._nothing() for ask in self.claims}
        self.available = {ask: self._nothing() for ask in self.claims}
        self.shortages: dict[Ask, Shortages] = {ask: Counter() for ask in self.claims}
        self.unusable: Counter[tuple[str, str, str]] = Counter()
        """Devices by pool that cannot be used: driver, pool, why."""
        self.kin: list[Kin] = []
        self.census: Census | None = None
        left = node_names
        if counting and len(node_names) >= FEW:
            left = self._count(node_names)
        self._survey(left)
        ranks = {name: rank for rank, name in enumerate(node_names)}
        self.kin.sort(key=lambda kin: ranks[kin.names[0]])

    def _nothing(self) -> Standings:
        return np.zeros(len(self.table), np.uint8)

    def _count(self, node_names: Sequence[str]) -> Sequence[str]:
        """What can be said of nodes without looking at each of them; those left over."""
        try:
            census = Census(self.question, node_names, closely=True, stop=self.stop)
        except (NotCountable, NotSupportedError):
            return node_names
        self.census = census
        for ask in self.claims:
            self.standing[ask] = census.standing[ask].copy()
            self.available[ask] = census.available[ask].copy()
            self.shortages[ask] = census.shortages[ask].copy()
        for places in census.alike():
            names = [census.names[place] for place in places.tolist()]
            first = int(places[0])
            counts = {ask: census.counts(ask, first) for ask in self.claims}
            self.kin.append(Kin(names, counts, counted=True))
        return census.left

    @cached_property
    def decision(self) -> Decision | None:
        """What counting says of whether nodes fit; None: nothing."""
        if self.census is None or self.question.quirks:
            return None
        try:
            return Decision(self.census)
        except NotCountable:
            return None

    def limit(self, kin: Kin, ask: Ask, place: int) -> Limit:
        """One limit of the first of these nodes, with its values."""
        if not kin.counted:
            return kin.counts[ask].limits[place]
        search = self.question.prepared(kin.names[0])
        return count(search, self.claims[ask], ask).limits[place]

    def by_name(self) -> dict[str, Kin]:
        """The kin of each node."""
        return {name: kin for kin in self.kin for name in kin.names}

    def _survey(self, node_names: Sequence[str]) -> None:
        # Closely: it also says what could be had if selectors were otherwise.
        sweep = Sweep(self.question, expected=len(node_names), closely=True)
        alike: dict[Signature, tuple[Kin, _Seen]] = {}
        for number, name in enumerate(node_names):
            if self.stop is not None and self.stop():
                raise Stopped(number, len(node_names))
            try:
                view = self.question.layout.view(name)
                signature = sweep.signature(view)
                known = None if signature is None else alike.get(signature)
                if known is None:
                    sweep.tell(view)
                    known = self._look(name)
                    self.kin.append(known[0])
                    if signature is not None:
                        alike[signature] = known
                known[0].names.append(name)
            except AllocationError as error:
                self.kin.append(Kin([name], {}, str(error)))
                continue
            self._spread(view, known[1])

    def _look(self, name: str) -> tuple[Kin, _Seen]:
        search = self.question.prepared(name)
        seen = _Seen(search, self.claims)
        counts = {
            ask: counts_of(search, claim, ask, seen.standings[ask])
            for ask, claim in self.claims.items()
        }
        return Kin([], counts), seen

    def _spread(self, view: NodeView, seen: _Seen) -> None:
        places = self.table.listing.places
        for ask in self.claims:
            at = 0
            for piece in view.pieces:
                size = len(piece.spec.devices or ())
                start = places.get(id(piece))
                if start is not None:
                    for rows, found in (
                        (self.standing[ask], seen.codes[ask]),
                        (self.available[ask], seen.available[ask]),
                    ):
                        part = rows[start : start + size]
                        np.maximum(part, found[at : at + size], out=part)
                at += size
            self.shortages[ask].update(seen.shortages[ask])
        self._spread_unusable(view)

    def _spread_unusable(self, view: NodeView) -> None:
        places = self.table.listing.places
        for pool in view.pools:
            if pool.usable:
                continue
            for piece in pool.slices:
                start = places.get(id(piece))
                if start is None:
                    continue
                stop = start + len(piece.spec.devices or ())
                if all(s[start:stop].any() for s in self.standing.values()):
                    continue
                why = pool.incomplete or pool.invalid
                self.unusable[pool.driver, pool.name, why] += stop - start
                for rows in (*self.standing.values(), *self.available.values()):
                    part = rows[start:stop]
                    np.maximum(part, np.uint8(Standing.UNUSABLE), out=part)


class _Seen:
    """What one search tells about its node, device by device in its order."""

    def __init__(self, search: Search, asks: Iterable[Ask]) -> None:
        self.standings: dict[Ask, list[Standing]] = {}
        self.codes: dict[Ask, Standings] = {}
        self.available: dict[Ask, Standings] = {}
        self.shortages: dict[Ask, Shortages] = {}
        known: dict[Hashable, _Terms] = {}
        for ask in asks:
            terms = known.get(terms_of(ask))
            if terms is None:
                terms = known[terms_of(ask)] = _Terms(search, ask)
            found = self.standings[ask] = standings(search, ask, terms.available)
            codes = self.codes[ask] = np.array(found, np.uint8)
            self.available[ask] = np.where(
                codes == Standing.UNWANTED, terms.codes, codes
            )
            alike = Counter(
                terms.shortages(place)
                for place in np.flatnonzero(np.isin(codes, _SHORT)).tolist()
            )
            short: Shortages = Counter()
            for lacking, devices in alike.items():
                for what in lacking:
                    short[what] += devices
            self.shortages[ask] = short


_SHORT: Final = (Standing.NO_CAPACITY, Standing.NO_COUNTERS)


class _Terms:
    """Devices of a node as requests on the same terms see them: looked at once for all."""

    def __init__(self, search: Search, ask: Ask) -> None:
        self.search = search
        self.ask = ask
        self.available = availabilities(search, ask)
        self.codes = np.array(self.available, np.uint8)
        self._candidates = list(candidates(search))
        self._short: dict[int, tuple[Shortage, ...]] = {}

    def shortages(self, place: int) -> tuple[Shortage, ...]:
        """What the device at a place lacks."""
        found = self._short.get(place)
        if found is None:
            candidate, standing = self._candidates[place], self.available[place]
            found = tuple(shortage_of(self.search, self.ask, candidate, standing))
            self._short[place] = found
        return found
