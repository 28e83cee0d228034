"""The answers of one expression for many devices."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dra.cel.columns import Codes, Rows
from dra.cel.environments import CelFeatures
from dra.cel.errors import EvaluationError
from dra.cel.reads import Read
from dra.cel.values import DeviceMap
from dra.errors import DRAError

type Answer = bool | EvaluationError
"""Whether a device matches, or why the expression has no answer for it."""

FALSE: Final = 0
TRUE: Final = 1
ERROR: Final = 2

type Stop = Callable[[], bool]
"""Asked now and then; true ends the work."""


class Runnable(Protocol):
    """What a table can be asked: a program, or that of a part of an expression."""

    @property
    def key(self) -> Hashable:
        """Equal for two that give equal answers on every device."""

    @property
    def features(self) -> CelFeatures: ...

    @property
    def reads(self) -> frozenset[Read] | None: ...

    def evaluate_value(self, device: DeviceMap) -> bool: ...


class Stopped(DRAError):  # noqa: N818 - no error: the caller asked for it
    """The caller's ``stop`` said so before every device had its answer.

    ``done`` of ``total`` distinct combinations of values were evaluated.
    """

    def __init__(self, done: int, total: int) -> None:
        self.done = done
        self.total = total
        super().__init__(f"stopped after {done:,} of {total:,} evaluations")


class Selection:
    """An answer for every device of a table, in its order; never changes.

    ``outcomes`` has FALSE, TRUE or ERROR per device, ``codes`` the place of its
    answer in ``answers``, in which no two are alike.
    """

    __slots__ = ("answers", "codes", "outcomes")

    def __init__(self, codes: Codes, answers: Sequence[Answer]) -> None:
        self.codes = codes
        self.answers = answers
        by_answer = [ERROR if a is not True and a is not False else a for a in answers]
        self.outcomes: NDArray[np.uint8] = np.array(by_answer, np.uint8)[codes]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Answer:
        return self.answers[int(self.codes[row])]

    def __iter__(self) -> Iterator[Answer]:
        return map(self.answers.__getitem__, self.codes.tolist())


class Answers:
    """Distinct answers in the making: errors of one text are one answer."""

    def __init__(self, known: Iterable[Answer] = (False, True)) -> None:
        self.found: list[Answer] = list(known)
        self._places: dict[bool | str, int] = {
            answer if isinstance(answer, bool) else str(answer): place
            for place, answer in enumerate(self.found)
        }

    def place(self, answer: Answer) -> int:
        key = answer if isinstance(answer, bool) else str(answer)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.found)
            self.found.append(answer)
        return place


class Part(NamedTuple):
    """One column of a combination: the codes of some devices, all below ``size``."""

    codes: NDArray[np.integer[Any]]
    size: int


class Combinations(NamedTuple):
    """``first`` is a device of each distinct combination; ``which`` is each
    device's combination."""

    first: Rows
    which: Rows


_WIDEST: Final = 2**62
_DENSE: Final = 4


def combinations(parts: Sequence[Part], count: int) -> Combinations:
    """The distinct combinations of codes among ``count`` devices."""
    if not parts or not count:
        none = np.zeros(min(count, 1), np.intp)
        return Combinations(none, np.zeros(count, np.intp))
    key: NDArray[np.int64] = parts[0].codes.astype(np.int64)
    span = parts[0].size
    for codes, size in parts[1:]:
        if span * size >= _WIDEST:
            distinct, key = np.unique(key, return_inverse=True)
            span = len(distinct)
        key *= size
        key += codes
        span *= size
    if span > _DENSE * count + 1024:
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        return Combinations(first, which)
    seen = np.zeros(span, np.bool_)
    seen[key] = True
    used = np.flatnonzero(seen)
    places = np.zeros(span, np.intp)
    places[used] = np.arange(len(used))
    which = places[key]
    first = np.zeros(len(used), np.intp)
    first[which] = np.arange(count)
    return Combinations(first, which)
