"""Numbers as few bytes: what one row of :class:`UsagePack` holds. Pure functions.

Everything is a row of unsigned LEB128 numbers (seven bits a byte, the last one without
the high bit). Eight counts are a byte that says which of them are given, and those.

* Sums: runs of equal ones. ``how many are missing before it, how many there are,
  seconds of each that nobody looked, counts``. Idle things are one run.
* Changes of a day: the counts at its beginning, then for each change ``seconds since
  the one before, counts that differ``.

Both are exact: what is read is what was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from inventory.history.numbers import NOTHING, Numbers
from inventory.history.spans import Step, Total

type Bytes = bytes | memoryview[int]
"""As a database's driver gives them."""


def pack_sums(sums: Mapping[int, Total], width: int) -> bytes:
    """Of hours or days of ``width`` seconds, by their place in the block."""
    out = bytearray()
    free = 0
    for place, count, total in _runs(sums):
        _put(out, place - free)
        _put(out, count)
        _put(out, width - total.seconds)
        _put_numbers(out, total.sums, NOTHING)
        free = place + count
    return bytes(out)


def unpack_sums(data: Bytes, width: int) -> dict[int, Total]:
    """What :func:`pack_sums` was given."""
    found: dict[int, Total] = {}
    numbers = _Reader(data)
    place = 0
    while numbers.left:
        place += numbers.get()
        count = numbers.get()
        total = Total(width - numbers.get(), numbers.get_numbers(NOTHING))
        found.update((place + at, total) for at in range(count))
        place += count
    return found


def pack_changes(start: Numbers, steps: Sequence[Step], begin: int) -> bytes:
    """``start`` is true at ``begin``; ``steps`` come later, in order."""
    out = bytearray()
    _put_numbers(out, start, NOTHING)
    last, now = begin, start
    for at, numbers in steps:
        _put(out, at - last)
        _put_numbers(out, numbers, now)
        last, now = at, numbers
    return bytes(out)


def unpack_changes(data: Bytes, begin: int) -> tuple[Numbers, list[Step]]:
    """What :func:`pack_changes` was given."""
    numbers = _Reader(data)
    start = now = numbers.get_numbers(NOTHING)
    at, steps = begin, []
    while numbers.left:
        at += numbers.get()
        now = numbers.get_numbers(now)
        steps.append((at, now))
    return start, steps


def _runs(sums: Mapping[int, Total]) -> Iterator[tuple[int, int, Total]]:
    """Neighbours that are equal: first place, how many, what each is."""
    ordered: Iterable[tuple[int, tuple[int, Total]]] = enumerate(sorted(sums.items()))
    for (_, total), some in groupby(
        ordered, key=lambda one: (one[1][0] - one[0], one[1][1])
    ):
        places = [place for _, (place, _) in some]
        yield places[0], len(places), total


def _put(out: bytearray, value: int) -> None:
    if value < 0:
        raise ValueError(f"Only numbers from 0 on can be kept, not {value}.")
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _put_numbers(out: bytearray, numbers: Numbers, known: Numbers) -> None:
    """Those that are not as ``known``."""
    given = [place for place, n in enumerate(numbers) if n != known[place]]
    out.append(sum(1 << place for place in given))
    for place in given:
        _put(out, numbers[place])


class _Reader:
    """One number after the other. Raises IndexError where bytes are missing."""

    def __init__(self, data: Bytes) -> None:
        self._data = bytes(data)
        self._at = 0

    @property
    def left(self) -> bool:
        return self._at < len(self._data)

    def get(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def get_numbers(self, known: Numbers) -> Numbers:
        given = self._data[self._at]
        self._at += 1
        values = list(known)
        for place in range(len(values)):
            if given >> place & 1:
                values[place] = self.get()
        return Numbers(*values)
