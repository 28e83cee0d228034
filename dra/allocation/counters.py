"""Shared counters: what devices of a pool draw from together.

A book holds, per pool, what was available when the search began and what the
search has booked since (allocator.md section 8).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from dra.allocation.amounts import read_quantity
from dra.allocation.quirks import Quirk
from dra.allocation.views import Candidate, view_of
from dra.names import PoolKey
from dra.objects import CounterConsumption, ResourceSlice
from dra.pools import NodePool

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

    ``in_use`` says of a candidate whether anybody holds it, alone or shared.
    Compatibility groups count when ``grouping`` is on.
    """

    def __init__(
        self,
        pools: Iterable[NodePool],
        in_use: Callable[[Candidate], bool],
        quirks: Collection[Quirk],
        *,
        grouping: bool,
    ) -> None:
        self.pools = {PoolKey(pool.driver, pool.name): pool for pool in pools}
        self.in_use = in_use
        self.grouping = grouping
        self.by_name = Quirk.COUNTERS_BY_POOL_NAME in quirks
        self.overcommit_blocks = Quirk.OVERCOMMIT_BLOCKS_POOL in quirks
        self.books: dict[object, PoolBook] = {}

    def book(self, candidate: Candidate) -> bool:
        """Book what the device draws; False, and nothing booked, when it cannot be."""
        charge, groups = charge_of(candidate), self._groups(candidate)
        book = self._book_of(candidate)
        if not book.fits(charge, overcommit_blocks=self.overcommit_blocks):
            return False
        if not book.agrees(groups):
            return False
        book.book(charge, groups)
        return True

    def shortage(self, candidate: Candidate) -> dict[Counter, int]:
        """What the device's counters lack for it now, in nano units by counter."""
        book = self._book_of(candidate)
        lacking = {}
        for counter, amount in charge_of(candidate).items():
            available = book.available.get(counter)
            if available is not None:
                missing = book.booked.get(counter, 0) + amount - available
                if missing > 0:
                    lacking[counter] = missing
        return lacking

    def give_back(self, candidate: Candidate) -> None:
        book = self._book_of(candidate)
        book.give_back(charge_of(candidate), self._groups(candidate))

    def _book_of(self, candidate: Candidate) -> PoolBook:
        device = candidate.id
        key: object = device.pool if self.by_name else (device.driver, device.pool)
        book = self.books.get(key)
        if book is None:
            pool = self.pools[PoolKey(device.driver, device.pool)]
            groups = self._groups_in_use(pool) if self.grouping else {}
            book = PoolBook(available(pool, self.in_use), groups)
            self.books[key] = book
        return book

    def _groups(self, candidate: Candidate) -> Mapping[str, Groups]:
        return groups_of(candidate) if self.grouping else {}

    def _groups_in_use(self, pool: NodePool) -> dict[str, list[Groups]]:
        found: dict[str, list[Groups]] = {}
        for candidate in drawing(pool):
            if self.in_use(candidate):
                for name, groups in groups_of(candidate).items():
                    found.setdefault(name, []).append(groups)
        return found


def drawing(pool: NodePool) -> Iterator[Candidate]:
    """The devices of the pool that draw from counters, other nodes' included."""
    for piece in (*pool.slices, *pool.elsewhere):
        for candidate in view_of(piece).candidates:
            if candidate.device.consumes_counters:
                yield candidate


def available(
    pool: NodePool, in_use: Callable[[Candidate], bool]
) -> dict[Counter, int]:
    """What the pool's counter sets have left; may be negative.

    Only devices that are published now count, each once however often shared.
    """
    left = published(pool.counter_slices)
    for candidate in drawing(pool):
        if in_use(candidate):
            for counter, amount in charge_of(candidate).items():
                if counter in left:
                    left[counter] -= amount
    return left


def published(slices: Iterable[ResourceSlice]) -> dict[Counter, int]:
    """The full value of every counter."""
    return {
        (counter_set.name, name): read_quantity(
            counter.value, f"slice {piece.metadata.name}, counter {name}"
        ).nanos
        for piece in slices
        for counter_set in piece.spec.shared_counters or ()
        for name, counter in (counter_set.counters or {}).items()
    }


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
