"""Who can have what side by side: a matching with room for several at one seat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence


def all_are_seated[T](
    parties: Sequence[tuple[int, Collection[T]]], room: Callable[[T], int]
) -> bool:
    """Whether each party gets as many of its seats as it has members.

    A party has a seat at most once, and ``room`` parties fit on one.
    """
    return _Seating([seats for _, seats in parties], room).admits(
        [members for members, _ in parties]
    )


class _Seating[T]:
    def __init__(
        self, choices: Sequence[Collection[T]], room: Callable[[T], int]
    ) -> None:
        self.choices = choices
        self.room = room
        self.taken: dict[T, set[int]] = {}

    def admits(self, members: Sequence[int]) -> bool:
        return all(
            self._seat(party, {party})
            for party, count in enumerate(members)
            for _ in range(count)
        )

    def _seat(self, party: int, moving: set[int]) -> bool:
        """One more seat for a party, where others move on for it if need be."""
        full = []
        for seat in self.choices[party]:
            there = self.taken.setdefault(seat, set())
            if party in there:
                continue
            if len(there) < self.room(seat):
                there.add(party)
                return True
            full.append(there)
        for there in full:
            for other in there - moving:
                moving.add(other)
                if self._seat(other, moving):
                    there.remove(other)
                    there.add(party)
                    return True
        return False
