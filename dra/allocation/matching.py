"""Which devices a request's selectors select.

Verdicts are kept with the slice, per chain of expressions, so an expression is
evaluated once per device however many nodes, claims and questions there are.
Nothing is evaluated before the search asks: a device that it never reaches
cannot make it fail.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from dra import cel
from dra.allocation.errors import AllocationError
from dra.allocation.features import Features
from dra.allocation.request import Ask
from dra.allocation.views import Candidate, SliceView, make_room
from dra.cel.columns import Codes
from dra.cel.selection import Answer, Stop
from dra.cel.table import DeviceTable
from dra.cel.values import DeviceMap
from dra.errors import SelectorError
from dra.node_pools import selects_node
from dra.objects import Node

MAX_CHAINS = 256
"""Chains of expressions whose verdicts a slice keeps; the oldest goes first."""


class Trouble(NamedTuple):
    """The verdict of a selector that failed on a device."""

    position: int
    text: str


Verdict = bool | Trouble


class Matcher:
    """Answers for one node."""

    def __init__(self, node: Node, features: Features) -> None:
        self.node = node
        self.features = features
        self.lists = features.list_type_attributes

    def table(self, ask: Ask, view: SliceView) -> list[object]:
        """The verdicts of ``ask``'s selectors on the view's candidates, None: not yet."""
        return verdicts(ask.chain, view, lists=self.lists)

    def selectable(
        self, ask: Ask, candidate: Candidate, table: list[object] | None = None
    ) -> bool:
        """Whether the device may serve ``ask`` as far as it alone is concerned.

        Raises AllocationError when a selector fails on it.
        """
        device = candidate.device
        if device.binding_conditions and not self.features.device_binding_and_status:
            return False
        if table is None:
            table = self.table(ask, candidate.view)
        found = table[candidate.index]
        if found is None:
            subject = Subject(candidate, lists=self.lists)
            found = judge(ask.chain, subject, lists=self.lists)
            table[candidate.index] = found
        if isinstance(found, Trouble):
            where = ask.selectors[found.position].where
            raise AllocationError(f"{where}: {found.text}")
        return bool(found) and self._on_node(candidate)

    def _on_node(self, candidate: Candidate) -> bool:
        if not candidate.spec.per_device_node_selection:
            return True
        try:
            return selects_node(candidate.device, self.node)
        except SelectorError as error:
            name = candidate.view.slice.metadata.name
            raise AllocationError(
                f"node selection of device {candidate.id} in slice {name}: {error}"
            ) from error


def verdicts(chain: tuple[str, ...], view: SliceView, *, lists: bool) -> list[object]:
    """What is known of a chain of expressions on the candidates of a slice."""
    key = (chain, lists)
    found = view.verdicts.get(key)
    if found is None:
        found = [None] * len(view.candidates)
        if not chain:
            found = [True] * len(view.candidates)
        make_room(view.verdicts, MAX_CHAINS)
        view.verdicts[key] = found
    return found


class Subject:
    """A device as expressions see it, converted when the first one asks."""

    __slots__ = ("_candidate", "_value", "lists")

    def __init__(self, candidate: Candidate, *, lists: bool) -> None:
        self._candidate = candidate
        self.lists = lists
        self._value: DeviceMap | None = None

    def value(self) -> DeviceMap:
        """Raises dra.cel.EvaluationError when CEL cannot hold the device."""
        if self._value is None:
            given = _given(self._candidate)
            self._value = cel.device_value(given, lists=self.lists)
        return self._value


def verdict_of(
    chain: tuple[str, ...], candidate: Candidate, *, lists: bool, subject: Subject
) -> Verdict:
    """The verdict from the memo, or found and put there."""
    table = verdicts(chain, candidate.view, lists=lists)
    found = table[candidate.index]
    if found is None:
        found = table[candidate.index] = judge(chain, subject, lists=lists)
    return found  # type: ignore[return-value]  # a table holds None or a verdict


def judge(chain: tuple[str, ...], subject: Subject, *, lists: bool) -> Verdict:
    """Evaluate expressions in order on one device; the first that is not true decides."""
    for position, expression in enumerate(chain):
        program = _program(expression, lists=lists)
        if isinstance(program, str):
            return Trouble(position, program)
        try:
            if not program.evaluate_value(subject.value()):
                return False
        except cel.EvaluationError as error:
            return Trouble(position, f"CEL runtime error: {error}")
    return True


def chain_verdicts(
    chain: tuple[str, ...], table: DeviceTable, *, stop: Stop | None = None
) -> tuple[Codes, list[Verdict]]:
    """The verdict of expressions in order on every device of a table.

    A code per device and what each code means: 0 is True. Raises
    NotSupportedError, and Stopped when ``stop`` said so.
    """
    values: list[Verdict] = [True]
    codes = np.zeros(len(table), np.int32)
    undecided = np.ones(len(table), np.bool_)
    for position, expression in enumerate(chain):
        program = _program(expression, lists=table.lists)
        if isinstance(program, str):
            codes[undecided] = len(values)
            values.append(Trouble(position, program))
            break
        selection = table.select(program, stop=stop)
        meaning = np.zeros(len(selection.answers), np.int32)
        for place, answer in enumerate(selection.answers):
            if answer is not True:
                meaning[place] = len(values)
                values.append(_verdict(position, answer))
        codes[undecided] = meaning[selection.codes[undecided]]
        undecided &= codes == 0
    return codes, values


def _verdict(position: int, answer: Answer) -> Verdict:
    if isinstance(answer, cel.EvaluationError):
        return Trouble(position, f"CEL runtime error: {answer}")
    return answer


def _given(candidate: Candidate) -> cel.DeviceInput:
    device = candidate.device
    return cel.DeviceInput(
        driver=candidate.id.driver,
        attributes=device.attributes or {},
        capacity=device.capacity or {},
        allow_multiple_allocations=candidate.shareable,
    )


@functools.lru_cache(maxsize=1024)
def _program(expression: str, *, lists: bool) -> cel.Program | str:
    """The program, or what is wrong with the expression."""
    features = cel.CelFeatures(list_type_attributes=lists)
    try:
        return cel.compile(expression, features=features, environment="stored")
    except cel.CompileError as error:
        return f"CEL compile error: {error}"
