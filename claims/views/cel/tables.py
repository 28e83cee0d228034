"""Devices with what an expression reads of them, one row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from dra import cel
from dra.cel.columns import Column
from dra.cel.evidence import MOST, Part, evidence
from dra.cel.reads import NAMES, WHOLE
from dra.cel.table import KINDS
from dra.cel.trace import Step, Trace, trace
from dra.errors import NotSupportedError
from dra.names import DeviceID
from inventory.selecting import Deadline, DeviceAnswer

SHOWN: Final = 50

_NOT_A_VALUE: Final = frozenset({"", NAMES, WHOLE})
_ANYTHING: Final = cel.Read("attributes", WHOLE, WHOLE)

type Steps = Mapping[tuple[int, int], Step]


@dataclass(frozen=True, slots=True)
class Cell:
    """What one part of the expression is on a device; ``state`` picks the look."""

    text: str
    state: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    title: str
    pool: str
    node: str
    href: str
    node_href: str
    explain_href: str
    why: str
    error: str
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """``total`` devices are in the list of which ``rows`` are shown."""

    rows: Sequence[Row] = ()
    parts: Sequence[Part] = ()
    total: int = 0
    with_reason: bool = False
    reason_title: str = "Because of"
    nothing: str = "No device."

    @property
    def more(self) -> bool:
        return self.total > len(self.rows)


class Columns:
    """The parts of one or two expressions that get a column each."""

    def __init__(self, table: cel.DeviceTable, programs: Sequence[cel.Program]) -> None:
        self._table = table
        self._programs = programs
        own = [evidence(program) for program in programs]
        by_text = {part.text: part for parts in own for part in parts}
        self.parts: Sequence[Part] = tuple(by_text.values())[:MOST]
        self._places = [
            {part.text: (part.start, part.end) for part in parts} for parts in own
        ]
        self._known: dict[tuple[int, ...], list[Cell]] = {}
        self._read = _columns_read(table, programs)
        self._time_over = Deadline()

    def cells(self, row: int) -> list[Cell]:
        """The values on one device; where one expression did not come to a part, the other's."""
        if self._read is None:
            return self._cells(row)
        # Devices that are alike in all that is read have the same values.
        key = tuple(int(column.codes[row]) for column in self._read)
        if key not in self._known:
            self._known[key] = self._cells(row)
        return self._known[key]

    def _cells(self, row: int) -> list[Cell]:
        if self._time_over():
            late = Cell("…", "skipped", "not worked out: the time was over")
            return [late] * len(self.parts)
        device = self._table.device(row)
        traced = [steps_of(traced_or_none(p, device)) for p in self._programs]
        return [self._cell(part, traced) for part in self.parts]

    def _cell(self, part: Part, traced: Sequence[Steps]) -> Cell:
        found = [
            step
            for places, steps in zip(self._places, traced, strict=True)
            if part.text in places and (step := steps.get(places[part.text]))
        ]
        best = next((step for step in found if step.times), None)
        return cell_of(best)


def _columns_read(
    table: cel.DeviceTable, programs: Sequence[cel.Program]
) -> list[Column] | None:
    """The columns that decide what the programs see; None where not only values count."""
    found: dict[cel.Read, Column] = {}
    if table.problems:
        return None
    for program in programs:
        for read in program.reads if program.reads is not None else (_ANYTHING,):
            if read.identifier in _NOT_A_VALUE and read.kind in KINDS:
                return None
            if read in table.columns:
                found[read] = table.columns[read]
    return list(found.values())


def cell_of(step: Step | None) -> Cell:
    """One step as a cell."""
    if step is None or step.state == "not evaluated":
        return Cell("–", "skipped", "not evaluated: the terms before it decided")
    if step.state == "error":
        return Cell(step.error, "error", step.error)
    return Cell(step.value, "value", f"{step.type} {step.value}")


def traced_or_none(program: cel.Program, device: cel.DeviceInput) -> Trace | None:
    try:
        return trace(program, device)
    except NotSupportedError:
        return None


def steps_of(traced: Trace | None) -> Steps:
    """The steps by their place; of several at one place the outer one."""
    return {} if traced is None else {(s.start, s.end): s for s in _inner(traced.root)}


def _inner(step: Step) -> Iterator[Step]:
    for part in reversed(step.steps):
        yield from _inner(part)
    yield step


def device_href(cluster: str, device: DeviceID) -> str:
    return reverse("device", args=[cluster, *device])


def asked_query(expression: str) -> str:
    """``?expression=…``"""
    return f"?{urlencode({'expression': expression}, errors='replace')}"


def row_of(
    cluster: str, answer: DeviceAnswer, query: str, cells: Sequence[Cell]
) -> Row:
    """One device of a list; ``query`` asks its page for the expression step by step."""
    device = answer.id
    return Row(
        name=device.device,
        title=str(device),
        pool=device.pool,
        node=answer.node,
        href=device_href(cluster, device),
        node_href=reverse("node", args=[cluster, answer.node]) if answer.node else "",
        explain_href=reverse("cel-device", args=[cluster, *device]) + query,
        why=answer.why,
        error=answer.error,
        cells=cells,
    )
