"""Whether what the shared counters have left is enough for what is wanted of them.

Counts only: a "no" is certain and a "yes" is not, because each counter is looked at
as if the others were not there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dra.allocation.booking import Bookings
from dra.allocation.counters import Counter, PoolBook, charge_of
from dra.allocation.request import Ask
from dra.allocation.views import Candidate


class Option(NamedTuple):
    """One way to serve a request: with ``needed`` of the devices at ``places``."""

    ask: Ask
    needed: int
    places: Sequence[int]


type Want = Sequence[Option]
"""The ways to serve a request, one of which is enough."""


class Draw(NamedTuple):
    """What a device takes of counters that are limited, in nano units."""

    book: PoolBook
    charge: Sequence[tuple[Counter, int]]


type Stock = tuple[int, str]
"""A counter of a pool by its name, in all its sets."""


class Supply:
    """The counters of the devices in ``order``."""

    def __init__(self, order: Sequence[Candidate], bookings: Bookings) -> None:
        self.draws: dict[int, Draw] = {
            place: draw
            for place, candidate in enumerate(order)
            # Of a shareable device only the first share draws.
            if candidate.device.consumes_counters
            and not bookings.is_shareable(candidate)
            and (draw := _draw(bookings.counters.book_of(candidate), candidate)).charge
        }

    def suffices(self, wants: Sequence[Want], room: Mapping[int, int]) -> bool:
        """Whether the requests of one claim can all be served for all we know.

        ``room``: how many of them can have the device at a place.
        """
        if not self.draws:
            return True
        for want in wants:
            alone = [(o.needed, dict.fromkeys(o.places, 1)) for o in want]
            if not any(self._has(*option) for option in alone):
                return False
        least = sum(min(option.needed for option in want) for want in wants)
        return self._has(least, room) and self._adds_up(wants, room)

    def _has(self, needed: int, room: Mapping[int, int]) -> bool:
        """Whether so many can have one of the devices."""
        most = 0
        by_set: dict[tuple[int, str], list[Draw]] = defaultdict(list)
        for place, times in room.items():
            draw = self.draws.get(place)
            if draw is None:
                most += times
            else:
                ((name, _), _), *_ = draw.charge
                by_set[id(draw.book), name].append(draw)
        return most + sum(map(_most, by_set.values())) >= needed

    def _adds_up(self, wants: Iterable[Want], places: Iterable[int]) -> bool:
        """Whether there is enough of each counter, its sets taken together."""
        needed: dict[Stock, int] = defaultdict(int)
        for want in wants:
            ways = [self._least(option) for option in want]
            for stock in set.intersection(*(set(way) for way in ways)):
                needed[stock] += min(way[stock] for way in ways)
        left = self._left(places)
        return all(amount <= left[stock] for stock, amount in needed.items())

    def _left(self, places: Iterable[int]) -> Mapping[Stock, int]:
        """What the sets have left from which the devices draw."""
        draws = [self.draws[place] for place in places if place in self.draws]
        books = {id(draw.book): draw.book for draw in draws}
        counters = {(id(d.book), counter) for d in draws for counter, _ in d.charge}
        left: dict[Stock, int] = defaultdict(int)
        for book, counter in counters:
            left[book, counter[1]] += max(0, books[book].left(counter) or 0)
        return left

    def _least(self, option: Option) -> Mapping[Stock, int]:
        """What the option takes at least of each counter that all its devices draw
        from."""
        amounts: dict[Stock, list[int]] = defaultdict(list)
        for place in option.places:
            draw = self.draws.get(place)
            if draw is None:
                continue
            drawn: dict[Stock, int] = defaultdict(int)
            for (_, name), amount in draw.charge:
                drawn[id(draw.book), name] += amount
            for stock, amount in drawn.items():
                amounts[stock].append(amount)
        return {
            stock: sum(sorted(found)[: max(0, option.needed - without)])
            for stock, found in amounts.items()
            for without in (len(option.places) - len(found),)
        }


def _draw(book: PoolBook, candidate: Candidate) -> Draw:
    charge = [
        (counter, amount)
        for counter, amount in charge_of(candidate).items()
        if amount > 0 and book.left(counter) is not None
    ]
    return Draw(book, charge)


def _most(draws: Sequence[Draw]) -> int:
    """How many of the devices there is room for, at most; all of one pool."""
    amounts: dict[Counter, list[int]] = defaultdict(list)
    for draw in draws:
        for counter, amount in draw.charge:
            amounts[counter].append(amount)
    most = len(draws)
    for counter, found in amounts.items():
        drawing = served(found, draws[0].book.left(counter) or 0)
        most = min(most, len(draws) - len(found) + drawing)
    return most


def served(amounts: Iterable[int], supply: int) -> int:
    """How many can have the amount that each needs, at most."""
    most = 0
    for amount in sorted(amounts):
        supply -= amount
        if supply < 0:
            break
        most += 1
    return most
