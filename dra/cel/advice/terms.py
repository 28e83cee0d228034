"""The terms of an expression, each with its outcome on every device."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dra.cel.logic import IF_YES, NO, OPERATORS, YES, Outlooks, Values
from dra.cel.program import Program
from dra.cel.selection import FALSE, TRUE, Stop
from dra.cel.table import DeviceTable
from dra.cel.terms import Condition, TermProgram, key, split

MOST_LEAVES: Final = 60
"""Of an expression with more terms only the whole is looked at."""


class Term(NamedTuple):
    """``values`` has the outcome on every device of the table, in the words of
    :mod:`dra.cel.logic`.

    ``decisive`` marks the devices on which the whole expression would be true if
    this term were, all others as they are.
    """

    condition: Condition
    values: Values
    decisive: NDArray[np.bool_]


def terms_of(
    program: Program, table: DeviceTable, *, stop: Stop | None
) -> tuple[Term, ...]:
    """Every condition in ``program``, the whole first; none if there are too many."""
    conditions = split(program)
    if sum(not condition.parts for condition in conditions) > MOST_LEAVES:
        return ()
    values = _values(program, conditions, table, stop)
    outlooks: list[Outlooks] = [np.full(len(table), IF_YES, np.uint8)] * len(conditions)
    for place, condition in enumerate(conditions):
        if condition.parts:
            found = OPERATORS[condition.kind].outlooks(
                [values[part] for part in condition.parts], outlooks[place]
            )
            for part, outlook in zip(condition.parts, found, strict=True):
                outlooks[part] = outlook
    return tuple(
        Term(condition, values[place], (outlooks[place] & IF_YES) != 0)
        for place, condition in enumerate(conditions)
    )


def _values(
    program: Program,
    conditions: list[Condition],
    table: DeviceTable,
    stop: Stop | None,
) -> list[Values]:
    """By the place of the condition. Terms come after what they are part of."""
    found: list[Values] = [np.zeros(0, np.uint8)] * len(conditions)
    known: dict[Hashable, Values] = {}
    for place, condition in reversed(list(enumerate(conditions))):
        if condition.parts:
            terms = [found[part] for part in condition.parts]
            found[place] = OPERATORS[condition.kind].values(terms)
            continue
        name = key(program, condition)
        if name not in known:
            runnable = TermProgram(program, condition) if place else program
            known[name] = _in_order(table.select(runnable, stop=stop).outcomes)
        found[place] = known[name]
    return found


_ORDER: Final = np.full(3, 1, np.uint8)
_ORDER[FALSE], _ORDER[TRUE] = NO, YES


def _in_order(outcomes: NDArray[np.uint8]) -> Values:
    """From FALSE, TRUE, ERROR to NO, FAULT, YES."""
    found: Values = _ORDER[outcomes]
    return found
