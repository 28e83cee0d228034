"""What the leaves of an expression say about devices, grouped by their answers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dra.cel.columns import Rows
from dra.cel.devices import clean
from dra.cel.errors import TOO_COSTLY
from dra.cel.logic import FAULT, NO, YES, Faults, Values
from dra.cel.program import Program
from dra.cel.selection import Part, Selection, Stop, Stopped, combinations
from dra.cel.table import DeviceTable
from dra.cel.terms import Condition, TermProgram, key


class Leaf(NamedTuple):
    """Answers: ``codes`` has one for each device, the others tell what it means."""

    codes: NDArray[np.unsignedinteger[Any]]
    values: Values
    faults: Faults | None

    def at(self, groups: slice) -> tuple[Values, Faults | None]:
        codes = self.codes[groups]
        faults = None if self.faults is None else self.faults[codes]
        return self.values[codes], faults


class Asked(NamedTuple):
    """What the leaves said, for each group of devices that they cannot tell apart.

    ``leaves`` is by the place of the condition. ``sizes`` counts the devices of each
    group, ``first`` is the row of its first. ``whole`` is there where the terms do
    not decide alone: a program that runs over its cost limit fails whatever its terms
    say. ``hopeless`` tells the groups that no term is to blame for: their devices have
    no answer for any expression, or the run costs too much. ``messages`` are the
    errors by number.
    """

    leaves: Mapping[int, Leaf]
    sizes: NDArray[np.float64]
    first: Rows
    whole: Leaf | None
    hopeless: NDArray[np.bool_]
    messages: Sequence[str]


def ask(
    program: Program,
    conditions: Sequence[Condition],
    table: DeviceTable,
    rows: Rows,
    stop: Stop | None,
) -> Asked:
    """Ask every leaf among the conditions of ``program`` about the devices at ``rows``.

    Raises :class:`~dra.cel.Stopped`.
    """
    reader = _Reader(rows)
    known: dict[Hashable, Leaf] = {}
    names: dict[int, Hashable] = {}
    for place, condition in enumerate(conditions):
        if condition.kind != "leaf":
            continue
        if stop is not None and stop():
            raise Stopped(place, len(conditions))
        name = names[place] = key(program, condition)
        if name not in known:
            # The whole may have been asked before, under its own name.
            asked = TermProgram(program, condition) if place else program
            known[name] = reader.leaf(table.select(asked, stop=stop))
    hopeless = np.isin(rows, list(table.problems))
    whole = reader.leaf(table.select(program, stop=stop)) if program.metered else None
    if whole is not None and whole.faults is not None:
        costly = (whole.values == FAULT) & (whole.faults == reader.number(TOO_COSTLY))
        hopeless |= costly[whole.codes]
    first, sizes = _groups([*known.values(), *([whole] if whole else [])], hopeless)
    picked = {name: _picked(leaf, first) for name, leaf in known.items()}
    return Asked(
        {place: picked[name] for place, name in names.items()},
        sizes,
        rows[first],
        whole and _picked(whole, first),
        hopeless[first],
        reader.messages,
    )


class _Reader:
    """Turns selections to leaves; the same error has the same number everywhere."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._numbers: dict[str, int] = {}

    @property
    def messages(self) -> list[str]:
        return list(self._numbers)

    def number(self, message: str) -> int:
        return self._numbers.setdefault(message, len(self._numbers))

    def leaf(self, selection: Selection) -> Leaf:
        values = np.full(len(selection.answers), FAULT, np.uint8)
        faults = np.zeros(len(selection.answers), np.int32)
        for code, answer in enumerate(selection.answers):
            if isinstance(answer, bool):
                values[code] = YES if answer else NO
            else:
                faults[code] = self.number(clean(str(answer)))
        small = np.min_scalar_type(len(values))
        codes = selection.codes[self._rows].astype(small)
        return Leaf(codes, values, faults if FAULT in values else None)


def _groups(
    leaves: Sequence[Leaf], hopeless: NDArray[np.bool_]
) -> tuple[Rows, NDArray[np.float64]]:
    """The first device and the number of devices of each group."""
    count = len(hopeless)
    parts = [Part(leaf.codes, len(leaf.values)) for leaf in leaves]
    parts.append(Part(hopeless.astype(np.uint8), 2))
    # A column of one value tells nothing apart.
    telling = [part for part in parts if count and np.ptp(part.codes)]
    some, which = combinations(telling, count)
    first = np.zeros(len(some), np.intp)
    first[which[::-1]] = np.arange(count, dtype=np.intp)[::-1]
    return first, np.bincount(which, minlength=len(first)).astype(np.float64)


def _picked(leaf: Leaf, groups: Rows) -> Leaf:
    return leaf._replace(codes=leaf.codes[groups])
