"""Shared counters: what devices of a pool draw from together.

A book holds, per pool, what was available when the search began and what the
search has booked since (allocator.md section 8).
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dra.allocation.amounts import read_quantity
from dra.allocation.quirks import Quirk
from dra.allocation.views import Candidate, SliceView, view_of
from dra.names import PoolKey
from dra.node_pools import NodePool
from dra.objects import CounterConsumption
from dra.usage import PoolUse

Counter = tuple[str, str]
"""Counter set and counter."""
Charge = Mapping[Counter, int]
"""Nano units, by counter."""
Groups = frozenset[str]


class PoolBook:
    """The counters of one pool during one search.

    ``groups`` has, per counter set, the compatibility groups of every device
    that draws from it.
    """

    def __init__(
        self, available: Mapping[Counter, int], groups: Mapping[str, list[Groups]]
    ) -> None:
        self.available = available
        self.groups = dict(groups)
        self.booked: dict[Counter, int] = {}
        self.overcommitted = any(left < 0 for left in available.values())

    def fits(self, charge: Charge, *, overcommit_blocks: bool) -> bool:
        """Whether ``charge`` can be booked on top of what is.

        Counters that the book does not know are not limited.
        """
        if overcommit_blocks and self.overcommitted:
            return False
        for counter, amount in charge.items():
            available = self.available.get(counter)
            if available is None or (not amount and not overcommit_blocks):
                continue
            if self.booked.get(counter, 0) + amount > available:
                return False
        return True

    def left(self, counter: Counter) -> int | None:
        """What can still be booked of a counter; None when it is not limited."""
        available = self.available.get(counter)
        return None if available is None else available - self.booked.get(counter, 0)

    def agrees(self, groups: Mapping[str, Groups]) -> bool:
        """Whether the groups go with those of every device on the same set."""
        return all(_share_one([*self.groups.get(s, ()), g]) for s, g in groups.items())

    def book(self, charge: Charge, groups: Mapping[str, Groups]) -> None:
        for counter, amount in charge.items():
            self.booked[counter] = self.booked.get(counter, 0) + amount
        for name, names in groups.items():
            self.groups.setdefault(name, []).append(names)

    def give_back(self, charge: Charge, groups: Mapping[str, Groups]) -> None:
        for counter, amount in charge.items():
            self.booked[counter] -= amount
        for name, names in groups.items():
            self.groups[name].remove(names)


def _share_one(groups: Sequence[Groups]) -> bool:
    """Whether there is a common group, or nobody has any."""
    return not any(groups) or bool(frozenset.intersection(*groups))


class CounterBook:
    """The books of all pools of a node, opened when a device needs one.

    ``uses`` says by driver and pool who holds what, alone or shared. Compatibility
    groups count when ``grouping`` is on.
    """

    def __init__(
        self,
        pools: Iterable[NodePool],
        uses: Mapping[tuple[str, str], PoolUse],
        quirks: Collection[Quirk],
        *,
        grouping: bool,
    ) -> None:
        self.pools = {PoolKey(pool.driver, pool.name): pool for pool in pools}
        self.uses = uses
        self.grouping = grouping
        self.by_name = Quirk.COUNTERS_BY_POOL_NAME in quirks
        self.overcommit_blocks = Quirk.OVERCOMMIT_BLOCKS_POOL in quirks
        self.books: dict[object, PoolBook] = {}

    def fresh(self) -> CounterBook:
        """The same with all books still closed."""
        new = copy.copy(self)
        new.books = {}
        return new

    def are_mixed(self, candidates: Iterable[Candidate]) -> bool:
        """Whether pools have one book, that of the one which needs it first."""
        if not self.by_name or len({key.name for key in self.pools}) == len(self.pools):
            return False
        return any(candidate.device.consumes_counters for candidate in candidates)

    def book(self, candidate: Candidate) -> bool:
        """Book what the device draws; False, and nothing booked, when it cannot be."""
        if not self.fits(candidate):
            return False
        book = self.book_of(candidate)
        book.book(charge_of(candidate), self._groups(candidate))
        return True

    def fits(self, candidate: Candidate) -> bool:
        """Whether what the device draws can be booked."""
        book = self.book_of(candidate)
        return book.fits(
            charge_of(candidate), overcommit_blocks=self.overcommit_blocks
        ) and book.agrees(self._groups(candidate))

    def shortage(self, candidate: Candidate) -> dict[Counter, int]:
        """What the device's counters lack for it now, in nano units by counter."""
        book = self.book_of(candidate)
        lacking = {}
        for counter, amount in charge_of(candidate).items():
            available = book.available.get(counter)
            if available is not None:
                missing = book.booked.get(counter, 0) + amount - available
                if missing > 0:
                    lacking[counter] = missing
        return lacking

    def give_back(self, candidate: Candidate) -> None:
        book = self.book_of(candidate)
        book.give_back(charge_of(candidate), self._groups(candidate))

    def book_of(self, candidate: Candidate) -> PoolBook:
        """The book of the device's pool."""
        device = candidate.id
        key: object = device.pool if self.by_name else (device.driver, device.pool)
        book = self.books.get(key)
        if book is None:
            pool = self.pools[PoolKey(device.driver, device.pool)]
            drawn = list(drawn_of(pool, self.uses[pool.driver, pool.name]))
            groups = _groups_of(drawn) if self.grouping else {}
            book = PoolBook(available(pool, drawn), groups)
            self.books[key] = book
        return book

    def _groups(self, candidate: Candidate) -> Mapping[str, Groups]:
        return groups_of(candidate) if self.grouping else {}


def drawn_of(pool: NodePool, use: PoolUse) -> Iterator[Candidate]:
    """The devices of the pool that are held and draw from counters, other nodes'
    included."""
    for piece in (*pool.slices, *pool.elsewhere):
        for candidate in _drawing(view_of(piece)):
            if use.holders.get(candidate.device.name):
                yield candidate


def _drawing(view: SliceView) -> Sequence[Candidate]:
    """The devices of a slice that draw from counters."""
    found = view.memo.get("drawing")
    if found is None:
        found = view.memo["drawing"] = [
            c for c in view.candidates if c.device.consumes_counters
        ]
    return found  # type: ignore[return-value]  # the memo holds many kinds of value


def available(pool: NodePool, drawn: Iterable[Candidate]) -> dict[Counter, int]:
    """What the pool's counter sets have left beside the devices ``drawn``; may be
    negative.

    Only devices that are published now count, each once however often shared.
    """
    left: dict[Counter, int] = {}
    for piece in pool.counter_slices:
        left.update(_published(view_of(piece)))
    for candidate in drawn:
        for counter, amount in charge_of(candidate).items():
            if counter in left:
                left[counter] -= amount
    return left


def _published(view: SliceView) -> Mapping[Counter, int]:
    """The full value of every counter of a slice."""
    found = view.memo.get("counters")
    if found is None:
        name = view.slice.metadata.name
        found = view.memo["counters"] = {
            (counter_set.name, counter): read_quantity(
                written.value, f"slice {name}, counter {counter}"
            ).nanos
            for counter_set in view.slice.spec.shared_counters or ()
            for counter, written in (counter_set.counters or {}).items()
        }
    return found  # type: ignore[return-value]  # the memo holds many kinds of value


def _groups_of(drawn: Iterable[Candidate]) -> dict[str, list[Groups]]:
    """Per counter set, the compatibility groups of each device that draws from it."""
    found: dict[str, list[Groups]] = {}
    for candidate in drawn:
        for name, groups in groups_of(candidate).items():
            found.setdefault(name, []).append(groups)
    return found


def charge_of(candidate: Candidate) -> Charge:
    """What a device draws from its pool's counters."""
    found = candidate.memo.get("charge")
    if found is None:
        found = candidate.memo["charge"] = _charge(
            candidate.device.consumes_counters or (), f"device {candidate.id}"
        )
    return found  # type: ignore[return-value]  # the memo holds many kinds of value


def groups_of(candidate: Candidate) -> dict[str, Groups]:
    """Per counter set that the device draws from, its compatibility groups."""
    return {
        use.counter_set: frozenset(use.compatibility_groups or ())
        for use in candidate.device.consumes_counters or ()
    }


def _charge(uses: Iterable[CounterConsumption], where: str) -> dict[Counter, int]:
    charge: dict[Counter, int] = {}
    for use in uses:
        for name, counter in (use.counters or {}).items():
            key = (use.counter_set, name)
            amount = read_quantity(counter.value, f"{where}, counter {name}").nanos
            charge[key] = charge.get(key, 0) + amount
    return charge
