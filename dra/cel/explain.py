"""Why an expression matches the devices that it matches: what each term does.

The leaves are asked one by one, each device's answers are combined by the logic of
the operators, and for every term it is known what the whole expression would say if
that term alone were otherwise. Devices that no term can tell apart are counted
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from dra.cel.columns import Rows
from dra.cel.leaves import Asked, ask
from dra.cel.logic import (
    FAULT,
    IF_NO,
    IF_YES,
    NEVER,
    NO,
    OPERATORS,
    YES,
    Faults,
    Outlooks,
    Values,
)
from dra.cel.program import Program
from dra.cel.selection import Stop, Stopped
from dra.cel.table import DeviceTable
from dra.cel.terms import Condition, Kind, split
from dra.names import DeviceID

MAX_MESSAGES: Final = 50
"""Error messages that are listed of one term, the most frequent ones."""


class ErrorGroup(msgspec.Struct, frozen=True):
    """Devices with the same error: how many, and the first of them."""

    message: str
    count: int
    example: DeviceID


class Term(msgspec.Struct, frozen=True):
    """A part of the expression that is a condition, ``expression[start:end]``.

    ``true``, ``false`` and ``error`` count what it says of the devices.
    ``excludes_alone`` counts the devices that do not match and would if only this
    term were otherwise, ``false_alone`` those of them for which it is false, not
    without an answer, ``admits_alone`` those that match and would not.
    ``messages`` is how many different errors there are; ``errors`` are the most
    frequent, at most :data:`MAX_MESSAGES`.
    """

    kind: Kind
    text: str
    start: int
    end: int
    true: int
    false: int
    error: int
    excludes_alone: int
    false_alone: int
    admits_alone: int
    messages: int
    errors: tuple[ErrorGroup, ...]
    terms: tuple[Term, ...]


class Explanation(msgspec.Struct, frozen=True):
    """``devices`` = ``matched`` + ``false`` + ``error``; ``term`` is the whole."""

    devices: int
    matched: int
    false: int
    error: int
    term: Term
    messages: int
    errors: tuple[ErrorGroup, ...]


def explain(
    program: Program,
    table: DeviceTable,
    *,
    within: NDArray[np.bool_] | None = None,
    stop: Stop | None = None,
) -> Explanation:
    """What the terms of ``program`` do to the devices, to those ``within`` if given.

    Raises :class:`~dra.cel.Stopped` when ``stop`` said so.
    """
    conditions = split(program)
    everything = np.arange(len(table), dtype=np.intp)
    rows = everything if within is None else everything[within]
    asked = ask(program, conditions, table, rows, stop)
    tally = _Tally(len(conditions))
    groups = len(asked.sizes)
    batch = max(_LEAST, _MOST // len(conditions))
    for start in range(0, groups, batch):
        if stop is not None and stop():
            raise Stopped(start, groups)
        _count(conditions, asked, slice(start, start + batch), tally)
    term = _report(conditions, tally, asked, table.ids)
    return Explanation(
        devices=len(rows),
        matched=term.true,
        false=term.false,
        error=term.error,
        term=term,
        messages=term.messages,
        errors=term.errors,
    )


# Devices that are looked at together: what is kept of them for each condition.
_MOST: Final = 4_000_000
_LEAST: Final = 4096


# --- counting ---


class _Tally:
    """For each condition how many devices there are of each case, and its errors.

    A case is the value, whether the device matches, and the outlook of the term.
    ``errors`` has by message the number of devices and the first row.
    """

    CASES: Final = 48

    def __init__(self, conditions: int) -> None:
        self.cases = np.zeros((conditions, self.CASES))
        self.errors: list[dict[int, tuple[int, int]]] = [{} for _ in range(conditions)]

    def add(
        self,
        place: int,
        values: Values,
        outlooks: Outlooks,
        matches: Values,
        sizes: NDArray[np.float64],
    ) -> None:
        case = values * np.uint8(16) + matches * np.uint8(8) + outlooks
        self.cases[place] += np.bincount(case, sizes, self.CASES)

    def add_errors(
        self, place: int, faults: Faults, sizes: NDArray[np.float64], first: Rows
    ) -> None:
        errors = self.errors[place]
        order = np.argsort(first)
        numbers, where, which = np.unique(
            faults[order], return_index=True, return_inverse=True
        )
        counts = np.bincount(which, sizes[order])
        rows = first[order][where]
        for number, count, row in zip(
            numbers.tolist(), counts.tolist(), rows.tolist(), strict=True
        ):
            before, earliest = errors.get(number, (0, row))
            errors[number] = (before + int(count), min(row, earliest))


def _count(
    conditions: Sequence[Condition], asked: Asked, groups: slice, tally: _Tally
) -> None:
    values, faults = _combined(conditions, asked, groups)
    outlook = np.where(asked.hopeless[groups], NEVER, IF_YES).astype(np.uint8)
    if asked.whole is not None:
        values[0], faults[0] = asked.whole.at(groups)
    outlooks = _outlooks(conditions, values, outlook)
    sizes, first = asked.sizes[groups], asked.first[groups]
    matches = (values[0] == YES).astype(np.uint8)
    for place in range(len(conditions)):
        tally.add(place, values[place], outlooks[place], matches, sizes)
        numbers = faults[place]
        if numbers is not None:
            at = values[place] == FAULT
            tally.add_errors(place, numbers[at], sizes[at], first[at])


def _combined(
    conditions: Sequence[Condition], asked: Asked, groups: slice
) -> tuple[list[Values], list[Faults | None]]:
    """The values of all conditions and the numbers of their errors, bottom up."""
    values: list[Values] = [np.zeros(0, np.uint8)] * len(conditions)
    faults: list[Faults | None] = [None] * len(conditions)
    for place in range(len(conditions) - 1, -1, -1):
        kind, parts = conditions[place].kind, conditions[place].parts
        if kind == "leaf":
            values[place], faults[place] = asked.leaves[place].at(groups)
            continue
        operator = OPERATORS[kind]
        terms = [values[part] for part in parts]
        numbers = [faults[part] for part in parts]
        values[place] = operator.values(terms)
        if any(found is not None for found in numbers):
            faults[place] = operator.faults(terms, numbers)
    return values, faults


def _outlooks(
    conditions: Sequence[Condition], values: Sequence[Values], whole: Outlooks
) -> list[Outlooks]:
    """The outlooks of all conditions, top down from that of the whole."""
    found: list[Outlooks] = [whole] * len(conditions)
    for place, condition in enumerate(conditions):
        if condition.parts:
            terms = [values[part] for part in condition.parts]
            outlooks = OPERATORS[condition.kind].outlooks(terms, found[place])
            for part, outlook in zip(condition.parts, outlooks, strict=True):
                found[part] = outlook
    return found


# --- telling ---


def _counted() -> NDArray[np.float64]:
    """Which of the cases of a tally each count of a :class:`Term` includes."""
    case = np.arange(_Tally.CASES)
    value, matches, outlook = case // 16, case // 8 % 2 == 1, case % 8
    either = IF_YES | IF_NO
    return np.stack(
        [
            value == YES,
            value == NO,
            value == FAULT,
            ~matches & (outlook & either != 0),
            ~matches & (outlook & either != 0) & (value == NO),
            matches & (outlook & either != either),
        ],
        axis=1,
    ).astype(np.float64)


def _report(
    conditions: Sequence[Condition],
    tally: _Tally,
    asked: Asked,
    ids: Sequence[DeviceID],
) -> Term:
    counts = (tally.cases @ _counted()).astype(np.int64).tolist()
    terms: dict[int, Term] = {}
    for place in range(len(conditions) - 1, -1, -1):
        condition = conditions[place]
        true, false, error, excludes, false_alone, admits = counts[place]
        terms[place] = Term(
            kind=condition.kind,
            text=condition.text,
            start=condition.node.start,
            end=condition.node.end,
            true=true,
            false=false,
            error=error,
            excludes_alone=excludes,
            false_alone=false_alone,
            admits_alone=admits,
            messages=len(tally.errors[place]),
            errors=_most_frequent(tally.errors[place], asked.messages, ids),
            terms=tuple(terms[part] for part in condition.parts),
        )
    return terms[0]


def _most_frequent(
    errors: Mapping[int, tuple[int, int]],
    messages: Sequence[str],
    ids: Sequence[DeviceID],
) -> tuple[ErrorGroup, ...]:
    """The most frequent first; of equally frequent ones that of the first device."""
    ordered = sorted(errors.items(), key=lambda item: (-item[1][0], item[1][1]))
    return tuple(
        ErrorGroup(messages[number], count, ids[row])
        for number, (count, row) in ordered[:MAX_MESSAGES]
    )
