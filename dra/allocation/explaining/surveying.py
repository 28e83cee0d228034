"""Where every device of the cluster stands for every request, node by node.

Nodes that are the same to the question are looked at once (``dra.allocation.groups``).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dra.allocation.capacity import share_of
from dra.allocation.counts import (
    Counts,
    Standing,
    availability,
    candidates,
    counts_of,
    standings,
)
from dra.allocation.errors import AllocationError
from dra.allocation.groups import Signature
from dra.allocation.layout import NodeView
from dra.allocation.placing import Question
from dra.allocation.request import Ask, ClaimPlan
from dra.allocation.search import Search
from dra.allocation.sweep import Sweep
from dra.allocation.views import Candidate
from dra.objects import DeviceCapacity
from dra.quantity import Format, Quantity, read

type Standings = NDArray[np.uint8]
type Shortages = Counter[tuple[Standing, str, str]]
"""Devices by what is short: standing, name of the counter or capacity, in words."""


@dataclasses.dataclass(frozen=True, slots=True)
class Kin:
    """Nodes that are alike: ``counts`` by request are those of each of them.

    ``error`` says why they have no answer at all.
    """

    names: list[str]
    counts: dict[Ask, Counts]
    error: str = ""


class Survey:
    """All nodes of one question.

    ``standing[ask]`` has the best :class:`Standing` of each device over the nodes,
    ``available[ask]`` the same as if its selectors wanted every device; rows are
    those of the snapshot's device table.
    """

    def __init__(self, question: Question, node_names: Sequence[str]) -> None:
        self.question = question
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
        self._survey(node_names)

    def _nothing(self) -> Standings:
        return np.zeros(len(self.table), np.uint8)

    def _survey(self, node_names: Sequence[str]) -> None:
        # Closely: it also says what could be had if selectors were otherwise.
        sweep = Sweep(self.question, expected=len(node_names), closely=True)
        alike: dict[Signature, tuple[Kin, _Seen]] = {}
        for name in node_names:
            try:
                view = self.question.layout.view(name)
                signature = sweep.signature(view)
                known = None if signature is None else alike.get(signature)
                if known is None:
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
        for ask in asks:
            found = self.standings[ask] = standings(search, ask)
            free = [
                availability(search, ask, candidate)
                if standing is Standing.UNWANTED
                else standing
                for candidate, standing in zip(candidates(search), found, strict=True)
            ]
            self.codes[ask] = np.array(found, np.uint8)
            self.available[ask] = np.array(free, np.uint8)
            self.shortages[ask] = Counter(_shortages(search, ask, found))


def _shortages(
    search: Search, ask: Ask, found: Sequence[Standing]
) -> Iterator[tuple[Standing, str, str]]:
    for candidate, standing in zip(candidates(search), found, strict=True):
        if standing is Standing.NO_COUNTERS:
            for (set_name, counter), missing in search.bookings.counters.shortage(
                candidate
            ).items():
                yield standing, f"{counter} of {set_name}", f"{_text(missing)} short"
        elif standing is Standing.NO_CAPACITY:
            yield standing, *_capacity_shortage(search, ask, candidate)


def _capacity_shortage(
    search: Search, ask: Ask, candidate: Candidate
) -> tuple[str, str]:
    """The first capacity that the device lacks, and in words how."""
    published = candidate.device.capacity or {}
    unknown = next((name for name in ask.capacity if name not in published), None)
    if unknown is not None:
        return unknown, "not published by the device"
    share = share_of(ask, candidate)
    if share is None:
        return _refused_amount(ask, published)
    used = search.bookings.used(candidate)
    for name, amount in share.amounts.items():
        left = share.totals[name] - used.get(name, 0)
        if amount.nanos > left:
            return name, f"{_text(amount.nanos)} wanted, {_text(left)} left"
    return "", ""


def _refused_amount(
    ask: Ask, published: Mapping[str, DeviceCapacity]
) -> tuple[str, str]:
    """The capacity of which the device's policy does not give out what is asked."""
    for name, wanted in ask.capacity.items():
        policy = published[name].request_policy
        limits = policy.valid_range if policy else None
        if limits and limits.max is not None and read(limits.max) < read(wanted):
            return name, f"{wanted} wanted, more than the most it gives, {limits.max}"
    names = ", ".join(ask.capacity)
    return names, "the device's policy does not give out such an amount"


def _text(nanos: int) -> str:
    whole, rest = divmod(nanos, 10**9)
    if rest:
        return str(read(f"{nanos}n"))
    spellings = (str(Quantity.of(whole, f)) for f in (Format.DECIMAL, Format.BINARY))
    return min(spellings, key=len)
