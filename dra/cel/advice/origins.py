"""Where in the expression an error comes from.

The expression is planned once more with closures that tell which node failed, and
run on one device of every group of failing devices that is alike to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from dra.cel import chains
from dra.cel.ast import Node
from dra.cel.columns import Column, Rows
from dra.cel.devices import device_value
from dra.cel.errors import EvaluationError
from dra.cel.evaluator import Planner
from dra.cel.plan import Frame, Step
from dra.cel.program import Program, as_answer, run, with_room
from dra.cel.reads import MAPS, NAMES, WHOLE, Read
from dra.cel.selection import Part, Selection, combinations
from dra.cel.table import DeviceTable
from dra.cel.values import Value
from dra.errors import NotSupportedError

MOST_GROUPS: Final = 256
"""Groups of devices of which one is evaluated."""


class Failure(NamedTuple):
    """``node`` fails with ``message`` on the devices at ``rows``."""

    node: Node
    message: str
    rows: Rows


def failures(
    program: Program, table: DeviceTable, selection: Selection, rows: Rows
) -> list[Failure]:
    """Why ``program`` fails at ``rows``, all of which are errors in ``selection``.

    Most frequent first. Devices are alike when everything the expression reads is;
    where that makes more than :data:`MOST_GROUPS` groups, when they fail with the
    same message and publish the same names.
    """
    if not len(rows):
        return []
    locate = _Locator(program)
    found: dict[tuple[int, int, str], tuple[Node, list[Rows]]] = {}
    for members in _groups(program, table, selection, rows):
        row = int(members[0])
        node = locate.at(table, row)
        key = (node.start, node.end, str(selection[row]))
        found.setdefault(key, (node, []))[1].append(members)
    out = [
        Failure(node, key[2], _ordered(parts, len(table)))
        for key, (node, parts) in found.items()
    ]
    return sorted(out, key=lambda failure: -len(failure.rows))


def _ordered(parts: Sequence[Rows], size: int) -> Rows:
    if len(parts) == 1:
        return parts[0]
    mask = np.zeros(size, np.bool_)
    for part in parts:
        mask[part] = True
    return np.flatnonzero(mask)


def columns_read(reads: frozenset[Read] | None, table: DeviceTable) -> list[Column]:
    """The columns that an expression with these reads may look at."""
    if reads is None:
        return list(table.columns.values())
    found: dict[Read, Column] = {}
    for read in sorted(reads):
        if read in table.columns:
            found[read] = table.columns[read]
        elif read.kind in MAPS and read.identifier in ("", NAMES, WHOLE):
            # The names, the values or the presence of a domain, or of every one.
            found |= {
                other: column
                for other, column in table.columns.items()
                if other.kind == read.kind and read.domain in (other.domain, WHOLE)
            }
    return list(found.values())


def _groups(
    program: Program, table: DeviceTable, selection: Selection, rows: Rows
) -> Iterator[Rows]:
    columns = columns_read(program.reads, table)
    messages = Part(selection.codes[rows], len(selection.answers))
    exact = [Part(column.codes[rows], column.size) for column in columns]
    grouped = combinations([messages, *exact], len(rows))
    if len(grouped.first) > MOST_GROUPS:
        present = [Part((part.codes != 0).astype(np.int32), 2) for part in exact]
        grouped = combinations([messages, *present], len(rows))
    which = grouped.which
    if len(grouped.first) <= np.iinfo(np.int16).max:
        # Numbers this short are sorted by their digits, which is much faster.
        which = which.astype(np.int16)
    order = np.argsort(which, kind="stable")
    sizes = np.bincount(which, minlength=len(grouped.first))
    groups = np.split(rows[order], np.cumsum(sizes)[:-1])
    yield from sorted(groups, key=len, reverse=True)[:MOST_GROUPS]


class _LocatedError(EvaluationError):
    """An error with the node it comes from."""

    def __init__(self, message: str, node: Node) -> None:
        self.node = node
        super().__init__(message)


class _Locator:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._planner = _Planner(program.checked, metered=program.metered)
        root = program.root
        self._step = with_room(
            lambda: self._planner.plan(root), "an expression nested this deep"
        )

    def at(self, table: DeviceTable, row: int) -> Node:
        """The node that fails on the device in ``row``; the whole where none does."""
        program = self._program
        device = device_value(table.device(row), lists=table.lists)
        try:
            as_answer(
                run(self._step, self._planner.slots, device, metered=program.metered)
            )
        except _LocatedError as error:
            return error.node
        except (EvaluationError, NotSupportedError):
            # The result is no bool, or the cost limit was hit.
            return program.root
        return program.root


class _Planner(Planner):
    """Closures whose errors know their node, the innermost one that fails."""

    burden = 2

    def plan(self, node: Node) -> Step:
        step = super().plan(node)
        return step if self.is_constant(node) else _located(step, node)

    def follow(self, base: Step, links: list[chains.Link], *, test: bool) -> Step:
        if test:
            return super().follow(base, links, test=test)
        return _located_links(base, links)


def _located(step: Step, node: Node) -> Step:
    def located(frame: Frame) -> Value:
        try:
            return step(frame)
        except _LocatedError:
            raise
        except EvaluationError as error:
            raise _LocatedError(str(error), node) from error

    return located


def _located_links(base: Step, links: Sequence[chains.Link]) -> Step:
    def located(frame: Frame) -> Value:
        value = base(frame)
        followed = chains.each(frame, value, list(links))
        for link in links:
            try:
                value = next(followed)
            except _LocatedError:
                raise
            except EvaluationError as error:
                raise _LocatedError(str(error), link.node) from error
        return value

    return located
