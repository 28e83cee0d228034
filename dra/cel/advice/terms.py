"""The terms of an expression, each with its outcome on every device."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra.cel.logic import IF_YES, NO, OPERATORS, YES, Outlooks, Values
from dra.cel.program import Program
from dra.cel.selection import FALSE, TRUE, Part, Stop, combinations
from dra.cel.table import DeviceTable
from dra.cel.terms import Condition, TermProgram, key, split

type Mask = NDArray[np.bool_]

MOST_LEAVES: Final = 60
"""Of an expression with more terms only the whole is looked at."""


class Terms:
    """What the conditions of an expression say of the devices in ``rows``.

    ``conditions`` is the expression taken apart, the whole first, empty where that
    makes more than :data:`MOST_LEAVES` leaves. Devices of which all leaves say the
    same are one group; the logic is done once for each.
    """

    def __init__(
        self, program: Program, table: DeviceTable, rows: Mask, *, stop: Stop | None
    ) -> None:
        conditions = split(program)
        if sum(not condition.parts for condition in conditions) > MOST_LEAVES:
            conditions = []
        self.conditions = conditions
        asked = _asked(program, conditions, table, stop)
        parts = [Part(values, len(_ORDER)) for values in asked.values()]
        first, self._group = combinations(parts, len(table))
        self._sizes = np.bincount(self._group[rows], minlength=len(first))
        self._values = _combined(program, conditions, asked, first)
        self._outlooks: list[Outlooks] | None = None

    def leaves(self) -> Iterator[int]:
        """The places of the conditions that are not taken apart."""
        for place, condition in enumerate(self.conditions):
            if not condition.parts:
                yield place

    def count(self, place: int, value: int) -> int:
        """The devices in ``rows`` of which the condition says so."""
        return int(self._sizes[self._values[place] == value].sum())

    def says(self, place: int, value: int) -> Mask:
        """The devices of which the condition says so, asked or not."""
        found: Mask = (self._values[place] == value)[self._group]
        return found

    def decisive(self, place: int) -> Mask:
        """The devices of which the whole expression would be true if this condition
        were, all others as they are."""
        if self._outlooks is None:
            self._outlooks = self._look_out()
        found: Mask = ((self._outlooks[place] & IF_YES) != 0)[self._group]
        return found

    def _look_out(self) -> list[Outlooks]:
        start = np.full(len(self._sizes), IF_YES, np.uint8)
        outlooks: list[Outlooks] = [start] * len(self.conditions)
        for place, condition in enumerate(self.conditions):
            if condition.parts:
                terms = [self._values[part] for part in condition.parts]
                found = OPERATORS[condition.kind].outlooks(terms, outlooks[place])
                for part, outlook in zip(condition.parts, found, strict=True):
                    outlooks[part] = outlook
        return outlooks


def _asked(
    program: Program, conditions: list[Condition], table: DeviceTable, stop: Stop | None
) -> dict[Hashable, Values]:
    """What the leaves say of every device, by the key of their condition."""
    found: dict[Hashable, Values] = {}
    for place, condition in enumerate(conditions):
        name = key(program, condition)
        if not condition.parts and name not in found:
            runnable = TermProgram(program, condition) if place else program
            found[name] = _ORDER[table.select(runnable, stop=stop).outcomes]
    return found


def _combined(
    program: Program,
    conditions: list[Condition],
    asked: dict[Hashable, Values],
    first: NDArray[np.intp],
) -> list[Values]:
    """By the place of the condition, its value for each group."""
    found: list[Values] = [np.zeros(0, np.uint8)] * len(conditions)
    # Terms come after what they are part of.
    for place, condition in reversed(list(enumerate(conditions))):
        if condition.parts:
            terms = [found[part] for part in condition.parts]
            found[place] = OPERATORS[condition.kind].values(terms)
        else:
            found[place] = asked[key(program, condition)][first]
    return found


_ORDER: Final = np.full(3, 1, np.uint8)
_ORDER[FALSE], _ORDER[TRUE] = NO, YES
"""From FALSE, TRUE, ERROR of a selection to NO, FAULT, YES."""
