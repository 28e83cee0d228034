"""One device, one expression: the value or error of every part of it.

The expression is planned once more with closures that take notes, and run once. It
is the evaluator itself that runs, so a trace cannot say anything else than
:meth:`~dra.cel.Program.evaluate` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from dra.cel import budget, chains
from dra.cel.ast import (
    Call,
    Comprehension,
    Ident,
    Node,
    Select,
    chained,
    children,
)
from dra.cel.checker import Checked
from dra.cel.devices import DeviceInput, clean, device_value
from dra.cel.display import display, shortened
from dra.cel.errors import CostExceededError, EvaluationError
from dra.cel.evaluator import Planner
from dra.cel.operators import type_name
from dra.cel.plan import Frame, constant
from dra.cel.plan import Step as Closure
from dra.cel.program import Program, as_answer, run, with_room
from dra.cel.turns import LOOPS, Written
from dra.cel.values import DeviceMap, UInt, Value

type State = Literal["value", "error", "not evaluated"]


class Step(msgspec.Struct, frozen=True):
    """A part of the expression, ``expression[start:end]``, and what came of it.

    ``times`` is how often it ran: 0 where it was not needed, more than 1 only in the
    body of a macro. ``value`` is text of at most 200 characters, ``type`` the name of
    its CEL type; where a part that ran several times had several values, ``value``
    lists the first five. ``error`` likewise; a part that failed some of the times has
    state "error" and both. ``depth`` is 0 for the whole expression.
    """

    text: str
    start: int
    end: int
    depth: int
    state: State
    value: str
    type: str
    error: str
    times: int
    steps: tuple[Step, ...]


class Trace(msgspec.Struct, frozen=True):
    """``result`` is None where there is no answer, and ``error`` says why."""

    result: bool | None
    error: str
    root: Step


def trace(program: Program, device: DeviceInput) -> Trace:
    """What ``program`` does with ``device``, step by step.

    Raises :class:`~dra.errors.NotSupportedError` like
    :meth:`~dra.cel.Program.evaluate`.
    """
    try:
        value = device_value(device, lists=program.features.list_type_attributes)
    except EvaluationError as error:
        nothing = _Outline(program, _Recorder(program))
        root = with_room(nothing.root, _TOO_DEEP)
        return Trace(None, clean(str(error)), root)
    return with_room(lambda: _traced(program, value), _TOO_DEEP)


_TOO_DEEP: Final = "tracing something this deep"


def _traced(program: Program, device: DeviceMap) -> Trace:
    budget.begin()
    recorder = _Recorder(program)
    step = recorder.plan(program.root)

    def from_the_start(frame: Frame) -> Value:
        # Constants ran while planning, and a run that was short of stack runs again.
        recorder.forget()
        return step(frame)

    result, error = None, ""
    try:
        value = run(from_the_start, recorder.slots, device, metered=program.metered)
        result = as_answer(value)
    except EvaluationError as problem:
        error = clean(str(problem))
    return Trace(result, error, _Outline(program, recorder).root())


# --- taking notes ---

_KEPT: Final = 5
_COMPARABLE: Final = frozenset({bool, bytes, int, str, UInt})


class _Note:
    """What one node gave, however often it ran: the first few different outcomes."""

    __slots__ = ("errors", "more", "times", "values")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.times = 0
        self.values: list[Value] = []
        self.errors: list[str] = []
        self.more = False

    def saw(self, value: Value) -> None:
        self.times += 1
        values = self.values
        if self.more or (values and values[-1] is value):
            return
        if any(_same(known, value) for known in values):
            return
        if len(values) < _KEPT:
            values.append(value)
        else:
            self.more = True

    def failed(self, error: Exception) -> None:
        self.times += 1
        message = str(error)
        if len(self.errors) < _KEPT and message not in self.errors:
            self.errors.append(message)


def _same(left: Value, right: Value) -> bool:
    """Whether the two look the same to whoever reads the trace."""
    kind = type(left)
    if kind is not type(right):
        return False
    if kind in _COMPARABLE:
        return bool(left == right)
    return display(left) == display(right)


class _Recorder(Planner):
    """Plans closures that note what they give, by the id of the node."""

    burden = 2

    def __init__(self, program: Program) -> None:
        super().__init__(program.checked, metered=program.metered)
        self.shortcuts = False
        self.notes: dict[int, _Note] = {}

    def forget(self) -> None:
        for note in self.notes.values():
            note.forget()

    def plan(self, node: Node) -> Closure:
        step = self._plan(node)
        if node.id in self.constants:
            step = constant(self.constants[node.id])
        note = self._note(node)

        def noted(frame: Frame) -> Value:
            try:
                value = step(frame)
            except (EvaluationError, CostExceededError) as error:
                note.failed(error)
                raise
            note.saw(value)
            return value

        return noted

    def follow(self, base: Closure, links: list[chains.Link], *, test: bool) -> Closure:
        last = links[-1]
        inner = links[:-1]
        notes = [self._note(link.node) for link in inner]

        def walk(frame: Frame) -> Value:
            value = base(frame)
            values = chains.each(frame, value, inner if test else links)
            done = 0
            try:
                for note, value in zip(notes, values, strict=False):
                    note.saw(value)
                    done += 1
            except EvaluationError as error:
                for note in notes[done:]:
                    note.failed(error)
                raise
            return chains.holds(value, last.known) if test else next(values)

        return walk

    def _note(self, node: Node) -> _Note:
        note = self.notes.get(node.id)
        if note is None:
            note = self.notes[node.id] = _Note()
        return note


# --- what is shown ---


class _Outline:
    """The steps of a tree: its nodes that have a text of their own."""

    def __init__(self, program: Program, recorder: _Recorder) -> None:
        self._checked: Checked = program.checked
        self._text = clean(program.expression)
        self._notes: Mapping[int, _Note] = recorder.notes
        self._constants: Mapping[int, Value] = recorder.constants
        # The device and its maps come up again and again. The notes keep the values,
        # and with them their identity.
        self._displayed: dict[int, str] = {}

    def root(self) -> Step:
        node = self._checked.root
        return self._step(node, 0, self._notes.get(node.id))

    def _step(self, node: Node, depth: int, note: _Note | None) -> Step:
        steps = [
            self._step(part, depth + 1, self._note_of(part, node, note))
            for part in self._shown_parts(node)
        ]
        start, end = node.start, node.end
        place = (self._text[start:end], start, end, depth)
        if note is None or not note.times:
            return Step(*place, "not evaluated", "", "", "", 0, tuple(steps))
        values, more = note.values, ", …" if note.more else ""
        types = {type_name(value) for value in values}
        return Step(
            *place,
            state="error" if note.errors else "value",
            value=shortened(", ".join(map(self._display, values)) + more),
            type=types.pop() if len(types) == 1 else "dyn" if types else "",
            error=shortened("; ".join(note.errors)),
            times=note.times,
            steps=tuple(steps),
        )

    def _display(self, value: Value) -> str:
        text = self._displayed.get(id(value))
        if text is None:
            text = self._displayed[id(value)] = display(value)
        return text

    def _note_of(self, node: Node, parent: Node, above: _Note | None) -> _Note | None:
        """The note of a part; parts of a constant were evaluated before the run."""
        note = self._notes.get(node.id)
        if (note is not None and note.times) or node.id not in self._constants:
            return note
        if above is None or not above.times:
            return None
        container = (
            isinstance(parent, Call)
            and parent.function == "@in"
            and node is parent.args[1]
        )
        if not container and parent.id not in self._constants:
            return None
        copy = _Note()
        copy.saw(self._constants[node.id])
        copy.times = above.times
        return copy

    def _shown_parts(self, node: Node) -> list[Node]:
        """The nearest nodes below that the user wrote, each text once.

        Macros expand to nodes that lie where the macro does; some write one of
        their arguments twice.
        """
        found: dict[tuple[int, int], Node] = {}
        pending = list(reversed(self._parts(node)))
        while pending:
            part = pending.pop()
            place = (part.start, part.end)
            if place == (node.start, node.end):
                pending.extend(reversed(self._parts(part)))
            else:
                found.setdefault(place, part)
        return list(found.values())

    def _parts(self, node: Node) -> list[Node]:
        """The direct parts that are evaluated, in that order."""
        match node:
            case Ident() | Select() if node.id in self._checked.constants:
                return []
            case Call(function="_&&_" | "_||_"):
                return chained(node)
            case Call(function="_?._", args=(operand, _)):
                return [operand]
            case Call(args=args) if self._checked.calls[node.id].namespaced:
                return list(args)
            case Comprehension(iter_range=over) if node.macro in LOOPS:
                body = Written(node)
                kept = None if node.macro == "filter" else body.value
                return list(_present(over, body.predicate, kept))
            case Comprehension(accu_init=init, result=result):
                return [init, result]
        return list(children(node))


def _present(*nodes: Node | None) -> Iterable[Node]:
    return (node for node in nodes if node is not None)
