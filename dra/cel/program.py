"""Compiling and running selectors: the front door."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

from dra.cel import budget, evaluator
from dra.cel.ast import Call, Node, Select, children
from dra.cel.checker import Checked, check
from dra.cel.cost import LIMIT, Range, estimate, is_priced
from dra.cel.devices import DeviceInput, clean, device_value
from dra.cel.environments import DEFAULT, Age, CelFeatures, environment
from dra.cel.errors import (
    CompileError,
    CostExceededError,
    EvaluationError,
    Issue,
)
from dra.cel.metering import METER_SLOT, Meter
from dra.cel.operators import type_name
from dra.cel.parser import parse
from dra.cel.plan import Step
from dra.cel.reads import Read, reads
from dra.cel.source import Problem, Problems, issue, refusal
from dra.cel.stack import on_fresh_stack
from dra.cel.types import ANY, BOOL, DEVICE, DYN, INT, SEMVER, STRING, Type
from dra.cel.validators import validate
from dra.cel.values import DeviceMap, Value
from dra.errors import NotSupportedError

MAX_LENGTH: Final = 10 * 1024
"""Bytes of UTF-8 that the API server accepts in a selector."""

type _Key = tuple[str, CelFeatures, Age, bool]


class Program:
    """A compiled selector; immutable and safe to share between threads.

    One that was compiled as ``derived`` has a :meth:`value` and no answer.

    ``cost`` is the range of what one run may cost; the API server refuses a
    selector whose ``cost.high`` is over :data:`~dra.cel.cost.LIMIT`. ``reads``
    is everything of a device that it may look at, None when that has no bounds.
    ``checked`` is the typed tree, ``metered`` whether running it counts the cost.
    """

    cost: Range
    reads: frozenset[Read] | None

    __slots__ = (
        "_slots",
        "_step",
        "checked",
        "cost",
        "expression",
        "features",
        "metered",
        "reads",
    )

    def __init__(
        self, expression: str, checked: Checked, features: CelFeatures
    ) -> None:
        self.expression = expression
        self.features = features
        self.checked = checked
        self.cost = estimate(checked)
        self.metered = may_exceed(checked, self.cost)
        self._step, self._slots = evaluator.build(checked, metered=self.metered)
        self.reads = reads_of(checked)

    @property
    def key(self) -> Hashable:
        """Equal for programs that give equal answers on every device."""
        return (self.expression, self.features)

    @property
    def root(self) -> Node:
        """The syntax tree, macros expanded."""
        return self.checked.root

    def evaluate(self, device: DeviceInput) -> bool:
        """Whether the device matches.

        Raises :class:`EvaluationError` where the scheduler would abort the
        allocation: a missing attribute, values of the wrong type, a device with
        a version that is none.
        """
        value = device_value(device, lists=self.features.list_type_attributes)
        return self.evaluate_value(value)

    def evaluate_value(self, device: DeviceMap) -> bool:
        """The same for a device that was converted before (:func:`device_value`)."""
        result = self.value(device)
        return result if type(result) is bool else as_answer(result)

    def value(self, device: DeviceMap) -> Value:
        """Whatever comes out. Raises :class:`EvaluationError`."""
        return run(self._step, self._slots, device, metered=self.metered)


def run(step: Step, slots: int, device: DeviceMap, *, metered: bool) -> Value:
    """The value of a built tree. Raises :class:`EvaluationError`."""
    try:
        try:
            return _run_once(step, slots, device, metered)
        except RecursionError:
            # Not with_room for everything: this is where the time goes.
            return with_room(
                lambda: _run_once(step, slots, device, metered),
                "evaluating something this deep",
            )
    except CostExceededError as error:
        raise EvaluationError(str(error)) from None


def _run_once(step: Step, slots: int, device: DeviceMap, metered: bool) -> Value:
    budget.begin()
    frame: list[Value] = [None] * slots
    frame[0] = device
    if metered:
        frame[METER_SLOT] = Meter()
    return step(frame)


def reads_of(checked: Checked) -> frozenset[Read] | None:
    """What the tree may look at, None when that has no bounds."""
    try:
        return reads(checked)
    except RecursionError:
        pass
    try:
        return on_fresh_stack(lambda: reads(checked))
    except RecursionError:
        # Too deep to tell: it may look at anything.
        return None


def as_answer(result: Value) -> bool:
    """``result`` of a whole selector. Raises :class:`EvaluationError` if no bool."""
    if type(result) is bool:
        return result
    name = type_name(result)
    raise EvaluationError(
        f"CEL result of type {name} could not be converted to bool: "
        f"type conversion error from '{name}' to 'bool'"
    )


_SURE: Final = 600
"""Below this estimate what :func:`is_underestimated` tells of cannot matter."""


_TRAVERSING: Final = frozenset(
    ["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"]
)
_NESTED: Final = frozenset(["dyn", "list", "map"])


def may_exceed(checked: Checked, cost: Range) -> bool:
    """Whether one run may cost more than the limit."""
    if cost.high > LIMIT:
        return True
    return cost.high > _SURE and is_underestimated(checked)


def is_underestimated(checked: Checked) -> bool:
    """Whether a run may cost more than the estimate, which is never too low but for
    a few things: it prices startsWith and endsWith by the argument, where running
    them is paid by the text, and the check of a format by the text, where the format's
    pattern counts too; it takes fields of optional values, and of those whose type is
    not known, for free; for it a device has no size, and neither have elements
    of a list whose type is not known, which functions that look at all of them pay.
    What is spent on a call whose arguments fail is a unit each.
    """
    for resolution in checked.calls.values():
        for overload in resolution.overloads:
            if overload.id in ("starts_with_string", "ends_with_string"):
                return True
    pending = [checked.root]
    while pending:
        node = pending.pop()
        if isinstance(node, Select) and not (node.test or is_priced(node, checked)):
            return True
        if isinstance(node, Call) and node.function in ("_==_", "_!=_"):
            left, right = (checked.types[arg.id] for arg in node.args)
            if left is right is DEVICE:
                return True
        if isinstance(node, Call) and node.function == "validate":
            return True
        if isinstance(node, Call) and node.function in _TRAVERSING:
            over = checked.types[(node.target or node.args[0]).id]
            if over.kind == "dyn" or any(p.kind in _NESTED for p in over.params):
                return True
        pending.extend(children(node))
    return False


def with_room[T](work: Callable[[], T], what: str) -> T:
    """Run ``work``; where the stack is too short for it, on a fresh stack."""
    try:
        return work()
    except RecursionError:
        pass
    try:
        return on_fresh_stack(work)
    except RecursionError:
        raise NotSupportedError(what) from None


class _Cache:
    """The programs compiled last, successes only.

    Bounded by number and by characters of source: a program takes up to 200 bytes
    for each.
    """

    def __init__(self, *, entries: int, characters: int) -> None:
        self._entries = entries
        self._characters = characters
        self._used = 0
        self._programs: OrderedDict[_Key, Program] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: _Key) -> Program | None:
        with self._lock:
            program = self._programs.get(key)
            if program is not None:
                self._programs.move_to_end(key)
            return program

    def put(self, key: _Key, program: Program) -> None:
        with self._lock:
            if key not in self._programs:
                self._used += len(key[0])
            self._programs[key] = program
            self._programs.move_to_end(key)
            while len(self._programs) > self._entries or self._used > self._characters:
                (expression, *_), _ = self._programs.popitem(last=False)
                self._used -= len(expression)


_cache = _Cache(entries=4096, characters=512 * 1024)


def compile(  # noqa: A001 - the word of the field
    expression: str,
    *,
    features: CelFeatures = DEFAULT,
    environment: Age = "stored",
    derived: bool = False,
) -> Program:
    """Compile a device selector, or with ``derived`` the expression of a derived attribute.

    Raises :class:`CompileError` with positions for whatever the API server would
    refuse, and :class:`~dra.errors.NotSupportedError` for the little that is not
    built. Programs are cached.
    """
    key = (expression, features, environment, derived)
    program = _cache.get(key)
    if program is None:
        program = with_room(
            lambda: _compile(expression, features, environment, derived=derived),
            "an expression nested this deep",
        )
        _cache.put(key, program)
    return program


def _compile(
    expression: str, features: CelFeatures, age: Age, *, derived: bool
) -> Program:
    budget.begin()
    text = clean(expression)
    length = len(text.encode())
    if length > MAX_LENGTH:
        message = f"Too long: may not be more than {MAX_LENGTH} bytes, has {length}"
        raise CompileError(message, (Issue(message),))
    try:
        root = parse(text)
    except Problem as problem:
        raise refusal(text, Problems(problem)) from None
    checked, problems = check(root, environment(features, age))
    if not problems:
        problems = validate(checked)
    if problems:
        raise refusal(text, problems)
    if derived:
        # Stored lists stay readable when the gate of lists goes off.
        lists = features.list_type_attributes or age == "stored"
        _check_derived_result(checked, lists=lists)
    else:
        _check_result(checked, features)
    try:
        return Program(expression, checked, features)
    except evaluator.InstantiationError as error:
        message = f"program instantiation failed: {error.message}"
        node = error.node
        raise CompileError(
            message, (issue(text, message, node.at, node.end),)
        ) from None


def _check_result(checked: Checked, features: CelFeatures) -> None:
    result = checked.types[checked.root.id]
    allowed = {"bool", "any"} | ({"dyn"} if features.list_type_attributes else set())
    if result.kind in allowed:
        return
    shown = result.name if result.kind == "any" else full_name(result)
    message = f"must evaluate to bool or the unknown type, not {shown}"
    raise CompileError(message, (Issue(message),))


_SCALARS: Final = frozenset({BOOL, INT, STRING, SEMVER, ANY, DYN})
"""What may become an attribute, those included that are known at run time only."""


def _check_derived_result(checked: Checked, *, lists: bool) -> None:
    result = checked.types[checked.root.id]
    scalar = result.params[0] if lists and result.kind == "list" else result
    if scalar in _SCALARS:
        return
    allowed = "a primitive scalar (string, integer, boolean, semver)"
    if lists:
        allowed += " or a list of these scalars"
    message = f"must evaluate to {allowed}, not {full_name(result)}"
    raise CompileError(message, (Issue(message),))


def full_name(t: Type) -> str:
    """The type with its parameters, by the names of run time."""
    if not t.params:
        return t.name
    return f"{t.name}({', '.join(map(full_name, t.params))})"
