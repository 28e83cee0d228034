"""Arithmetic of step functions with gaps. Times are whole seconds since 1970."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from inventory.history.numbers import NOTHING, Numbers

type Step = tuple[int, Numbers]
"""From when which numbers are true."""
type Span = tuple[int, int]
type Piece = tuple[int, int, Numbers]


@dataclass(frozen=True, slots=True)
class Total:
    """``sums`` are numbers times seconds, over the ``seconds`` that are known."""

    seconds: int = 0
    sums: Numbers = NOTHING

    def plus(self, other: Total) -> Total:
        return Total(self.seconds + other.seconds, self.sums.plus(other.sums))

    def average(self) -> tuple[float, ...] | None:
        """None: nobody looked."""
        if not self.seconds:
            return None
        return tuple(value / self.seconds for value in self.sums)


def pieces(
    span: Span, start: Numbers, steps: Sequence[Step], covers: Iterable[Span]
) -> Iterator[Piece]:
    """The times within ``span`` that are covered, each with numbers that hold there.

    ``steps`` and ``covers`` are in order; ``start`` is true at the span's beginning.
    """
    begin, end = span
    known = [(begin, start), *((at, n) for at, n in steps if begin <= at < end)]
    edges = [*known, (end, NOTHING)]
    held = [(a, b, n) for (a, n), (b, _) in pairwise(edges) if a < b]
    place = 0
    for first, last in covers:
        while place < len(held) and held[place][1] <= first:
            place += 1
        for at in range(place, len(held)):
            left, right, numbers = held[at]
            if left >= last:
                break
            if max(left, first) < min(right, last):
                yield max(left, first), min(right, last), numbers


def total(
    span: Span, start: Numbers, steps: Sequence[Step], covers: Iterable[Span]
) -> Total:
    """One sum for the whole span."""
    seconds, sums = 0, [0] * len(NOTHING)
    for left, right, numbers in pieces(span, start, steps, covers):
        width = right - left
        seconds += width
        for place, value in enumerate(numbers):
            sums[place] += value * width
    return Total(seconds, Numbers(*sums))


def buckets(
    span: Span,
    width: int,
    start: Numbers,
    steps: Sequence[Step],
    covers: Iterable[Span],
) -> dict[int, Total]:
    """A sum per ``width`` seconds, by the beginning of each; empty ones are absent."""
    found: dict[int, Total] = {}
    for left, right, numbers in pieces(span, start, steps, covers):
        at = left
        while at < right:
            bucket = floor(at, width)
            until = min(right, bucket + width)
            part = Total(until - at, numbers.times(until - at))
            found[bucket] = found[bucket].plus(part) if bucket in found else part
            at = until
    return found


def floor(at: int, width: int) -> int:
    """The beginning of the bucket that a time is in."""
    return at - at % width
