"""The cluster as an author of a claim needs it: which devices a request could take, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dra import cel
from dra.cel.catalog import Catalog, catalog
from dra.cel.columns import ABSENT, Column
from dra.cel.reads import Read
from dra.cel.selection import ERROR, TRUE, Stop
from dra.cel.table import DeviceTable
from dra.errors import NotSupportedError
from dra.names import split_qualified_name
from dra.snapshot import Snapshot
from dra.validation.advice.ground import ANYWHERE, Ground, Mask, ground
from dra.validation.gates import Gates


@dataclass(frozen=True, slots=True)
class Step:
    """What one selector of a chain does to the devices that passed those before it."""

    expression: str
    program: cel.Program | None
    before: Mask
    passed: Mask
    failed: Mask
    error: str

    @property
    def narrows_to_none(self) -> bool:
        return bool(self.before.any()) and not (self.passed | self.failed).any()


@dataclass(frozen=True, slots=True)
class Candidates:
    """The devices a request could take if all were free.

    ``matching`` passes every selector of class and request; None where that is not
    known because one of them does not compile. ``of_class`` passes the class's.
    """

    of_class: Mask
    matching: Mask | None
    steps: tuple[Step, ...]

    @property
    def known(self) -> Mask:
        return self.of_class if self.matching is None else self.matching


class Scene:
    """One snapshot under one set of gates. ``stop`` ends the work, see ``DeviceTable.select``."""

    def __init__(self, snapshot: Snapshot, gates: Gates, stop: Stop | None) -> None:
        self.snapshot = snapshot
        self.gates = gates
        self.stop = stop
        self.table: DeviceTable = snapshot.devices(lists=gates.list_type_attributes)

    @cached_property
    def catalog(self) -> Catalog:
        return catalog(self.table)

    @cached_property
    def ground(self) -> Ground:
        return ground(self.table)

    @property
    def nodes(self) -> NDArray[np.int32]:
        return self.ground.nodes

    @property
    def shareable(self) -> Mask:
        return self.ground.shareable

    def candidates(
        self, class_name: str, expressions: Sequence[str]
    ) -> Candidates | None:
        """Of a request for ``class_name``; None when there is no such class."""
        device_class = self.snapshot.classes.get(class_name)
        if device_class is None:
            return None
        mask = np.ones(len(self.table), np.bool_)
        steps: list[Step] = []
        known = True
        selectors = device_class.spec.selectors or ()
        for expression in (s.cel.expression for s in selectors if s.cel is not None):
            step = self._step(expression, mask)
            mask = step.passed
            known = known and step.program is not None
            steps.append(step)
        of_class = mask
        for expression in expressions:
            step = self._step(expression, mask)
            mask = step.passed
            known = known and step.program is not None
            steps.append(step)
        return Candidates(of_class, mask if known else None, tuple(steps))

    def matching(self, expressions: Iterable[str]) -> tuple[Step, ...]:
        """The steps of a chain that starts with every device."""
        mask = np.ones(len(self.table), np.bool_)
        steps: list[Step] = []
        for expression in expressions:
            step = self._step(expression, mask)
            mask = step.passed
            steps.append(step)
        return tuple(steps)

    def _step(self, expression: str, before: Mask) -> Step:
        nothing = np.zeros(len(self.table), np.bool_)
        try:
            program = cel.compile(expression, features=self.gates.cel)
            selection = self.table.select(program, stop=self.stop)
        except (cel.CompileError, NotSupportedError):
            return Step(expression, None, before, before, nothing, "")
        failed = before & (selection.outcomes == ERROR)
        error = ""
        if failed.any():
            error = str(selection[int(np.argmax(failed))])
        passed = before & (selection.outcomes == TRUE)
        return Step(expression, program, before, passed, failed, error)

    def column(self, kind: str, name: str, driver: str = "") -> Column | None:
        """What devices publish under a name; without a domain, it is the driver's."""
        domain, identifier = split_qualified_name(name, driver)
        return self.table.columns.get(Read(kind, domain, identifier))

    def having(self, column: Column | None, mask: Mask) -> Mask:
        if column is None:
            return np.zeros(len(self.table), np.bool_)
        present: Mask = mask & (column.codes != ABSENT)
        return present

    def name(self, row: int) -> str:
        return str(self.table.ids[row])


def most_on_a_node(nodes: NDArray[np.int32]) -> int:
    """The largest number of these devices that one node can reach, or a little more.

    Devices that several nodes can reach count for every node.
    """
    here = nodes[nodes != ANYWHERE]
    everywhere = len(nodes) - len(here)
    if not len(here):
        return everywhere
    return everywhere + int(np.bincount(here).max())


def details_of(request: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The details of a request with the field they stand in, each alternative apart."""
    exactly = request.get("exactly")
    if exactly is not None:
        return [("exactly", exactly)]
    return [
        (f"firstAvailable[{index}]", sub)
        for index, sub in enumerate(request.get("firstAvailable") or ())
    ]
