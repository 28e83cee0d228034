"""From a checked tree to Python closures.

A closure takes the frame (a list: the device, then one slot for every variable
in scope) and returns a value or raises
:class:`~dra.cel.errors.EvaluationError`. Constants are folded where the
reference folds them, because an error there is a compile error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dra.cel import access, calls, loops
from dra.cel import operators as ops
from dra.cel.ast import (
    Call,
    Comprehension,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)
from dra.cel.checker import Checked
from dra.cel.errors import EvaluationError
from dra.cel.library.regex import compiled
from dra.cel.plan import Frame, Lazy, Step, constant
from dra.cel.values import NONE, DomainMap, Optional, Value, map_key

_CONVERSIONS: Final = frozenset(
    [
        "bool",
        "bytes",
        "double",
        "dyn",
        "duration",
        "int",
        "string",
        "timestamp",
        "type",
        "uint",
    ]
)
_REGEX: Final = frozenset({"matches", "find", "findAll"})
_LOOPS: Final = frozenset(
    [
        "all",
        "exists",
        "exists_one",
        "map",
        "filter",
        "transformList",
        "transformMap",
        "transformMapEntry",
    ]
)


class InstantiationError(Exception):
    """A constant that the reference evaluates when it builds the program."""

    def __init__(self, message: str, node: Node) -> None:
        self.message = message
        self.node = node
        super().__init__(message)


def build(checked: Checked) -> tuple[Step, int]:
    """The closure of the whole tree, and how many slots its frame needs.

    Raises :class:`InstantiationError`.
    """
    planner = Planner(checked)
    step = planner.plan(checked.root)
    return step, planner.slots


class Planner:
    """Builds closures bottom up; one per tree."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._constants: dict[int, Value] = {}
        self._scopes: list[dict[str, int]] = [{"device": 0}]
        self._lazy: set[int] = set()
        self.slots = 1

    def plan(self, node: Node) -> Step:
        step = self._plan(node)
        if node.id in self._constants:
            return constant(self._constants[node.id])
        return step

    def _plan(self, node: Node) -> Step:
        match node:
            case Literal(value=value):
                return self._fold(node, value)
            case Ident() | Select() if node.id in self._checked.constants:
                return self._fold(node, self._checked.constants[node.id])
            case Ident(name=name):
                return self._variable(name.removeprefix("."))
            case Select() | Call(function="_[_]" | "_[?_]" | "_?._"):
                return self._chain(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._comprehension(node)
            case StructLiteral(type_name=name):
                raise AssertionError(f"the checker let a message {name} pass")
        raise AssertionError(f"unknown node {node!r}")

    def _fold(self, node: Node, value: Value) -> Step:
        self._constants[node.id] = value
        return constant(value)

    def is_constant(self, node: Node) -> bool:
        return node.id in self._constants

    # --- names ---

    def _variable(self, name: str) -> Step:
        for scope in reversed(self._scopes):
            if name in scope:
                slot = scope[name]
                break
        else:
            raise AssertionError(f"the checker let an unknown name {name} pass")
        if slot in self._lazy:

            def lazy(frame: Frame) -> Value:
                found = frame[slot]
                return found.value(frame) if type(found) is Lazy else found

            return lazy

        def read(frame: Frame) -> Value:
            return frame[slot]

        return read

    def _new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    # --- fields and indexes ---

    def _chain(self, node: Node) -> Step:
        """A chain of fields and indexes over one base, looked up left to right."""
        links: list[_Link] = []
        test = False
        while True:
            match node:
                case Select(operand=operand, field=field) if (
                    node.id not in self._checked.constants and not (node.test and links)
                ):
                    test = test or node.test
                    links.append(_Link(constant(field), field, optional=False))
                    node = operand
                case Call(function="_?._", args=(operand, Literal(value=field))):
                    links.append(_Link(constant(field), field, optional=True))
                    node = operand
                case Call(function="_[_]" | "_[?_]" as function, args=(operand, key)):
                    step = self.plan(key)
                    known = self._constants.get(key.id)
                    if self.is_constant(key):
                        self._check_constant_key(key, known)
                    links.append(_Link(step, known, optional=function == "_[?_]"))
                    node = operand
                case _:
                    break
        links.reverse()
        if isinstance(node, Ident) and node.id not in self._checked.constants:
            quick = self._device_chain(node, links, test=test)
            if quick is not None:
                return quick
        base = self.plan(node)
        if test:
            return _presence(base, links)
        if any(link.optional for link in links):
            return _optional_lookup(base, links)
        return _lookup(base, links)

    def _check_constant_key(self, node: Node, key: Value) -> None:
        try:
            access.check_key(key)
        except EvaluationError as error:
            raise InstantiationError(str(error), node) from error

    def _device_chain(
        self, base: Ident, links: list[_Link], *, test: bool
    ) -> Step | None:
        """``device.field`` and ``device.attributes["domain"].id``, the short way."""
        if self._scopes[0].get(base.name.removeprefix(".")) != 0 or any(
            base.name in scope for scope in self._scopes[1:]
        ):
            return None
        if any(link.optional or type(link.known) is not str for link in links):
            return None
        names = [link.known for link in links]
        if not test and names in (["driver"], ["allowMultipleAllocations"]):
            return _device_field(names[0])
        if len(names) != 3 or names[0] not in ("attributes", "capacity"):
            return None
        kind, domain, identifier = names
        if test:
            return _device_has(kind, domain, identifier)
        return _device_value(kind, domain, identifier)

    # --- calls ---

    def _call(self, node: Call) -> Step:
        resolution = self._checked.calls[node.id]
        name = resolution.function
        if name in ("_&&_", "_||_"):
            return self._logical(node)
        nodes = node.args
        if node.target is not None and not resolution.namespaced:
            nodes = (node.target, *node.args)
        steps = [self.plan(arg) for arg in nodes]
        if name == "@in":
            folded = self._membership(node, steps[0], nodes[1])
            if folded is not None:
                return folded
        if name in _REGEX and self.is_constant(nodes[1]):
            self._check_pattern(nodes[1])
        special = _SPECIAL.get(name)
        if special is not None:
            step = special(*steps)
        else:
            step = calls.call(name, resolution.overloads, self._all(name), steps)
        if name in _CONVERSIONS and len(nodes) == 1 and self.is_constant(nodes[0]):
            try:
                return self._fold(node, step([]))
            except EvaluationError as error:
                raise InstantiationError(str(error), node) from error
        return step

    def _all(self, name: str) -> calls.Overloads:
        function = self._checked.functions.find(name)
        assert function is not None
        return tuple(function.overloads)

    def _check_pattern(self, node: Node) -> None:
        pattern = self._constants[node.id]
        if not isinstance(pattern, str):
            return
        try:
            compiled(pattern)
        except EvaluationError as error:
            raise InstantiationError(str(error), node) from error

    def _logical(self, node: Call) -> Step:
        terms: list[Node] = []
        pending: list[Node] = [node]
        while pending:
            term = pending.pop()
            if isinstance(term, Call) and term.function == node.function:
                pending.extend(reversed(term.args))
            else:
                terms.append(term)
        steps = [self.plan(term) for term in terms]
        return loops.any_of(steps) if node.function == "_||_" else loops.all_of(steps)

    def _membership(self, node: Call, element: Step, container: Node) -> Step | None:
        """``x in [constants]``, which the reference turns into a hash lookup."""
        items = self._constants.get(container.id)
        if type(items) is not list:
            return None
        if not items:
            return self._fold(node, value=False)
        return calls.membership(element, items)

    # --- literals ---

    def _list(self, node: ListLiteral) -> Step:
        steps = [self.plan(element) for element in node.elements]
        optional = node.optional

        def fixed(frame: Frame) -> Value:
            return [step(frame) for step in steps]

        def with_optional(frame: Frame) -> Value:
            items: list[Value] = []
            for index, step in enumerate(steps):
                value = step(frame)
                if index in optional:
                    value = _optional_part(value, "list element")
                    if not value.present:
                        continue
                    value = value.value
                items.append(value)
            return items

        step = with_optional if optional else fixed
        if all(map(self.is_constant, node.elements)):
            return self._fold_literal(node, step)
        return step

    def _map(self, node: MapLiteral) -> Step:
        entries = [
            (self.plan(e.key), self.plan(e.value), e.optional) for e in node.entries
        ]

        def run(frame: Frame) -> Value:
            found: dict[Value, Value] = {}
            for key_step, value_step, optional in entries:
                key = map_key(key_step(frame))
                value = value_step(frame)
                if optional:
                    value = _optional_part(value, "entry")
                    if not value.present:
                        found.pop(key, None)
                        continue
                    value = value.value
                calls.insert(found, key, value)
            return found

        parts = [part for e in node.entries for part in (e.key, e.value)]
        if all(map(self.is_constant, parts)):
            return self._fold_literal(node, run)
        return run

    def _fold_literal(self, node: Node, step: Step) -> Step:
        try:
            return self._fold(node, step([]))
        except EvaluationError:
            # The reference keeps the error as the value of the literal.
            return step

    # --- comprehensions ---

    def _comprehension(self, node: Comprehension) -> Step:
        if node.macro not in _LOOPS:
            return self._binding(node)
        over = self.plan(node.iter_range)
        first = self._new_slot()
        names = {node.iter_var: first}
        if node.iter_var2:
            names[node.iter_var2] = self._new_slot()
        second = names.get(node.iter_var2)
        self._scopes.append(names)
        body = _body(node)
        predicate = None if body.predicate is None else self.plan(body.predicate)
        value = None if body.value is None else self.plan(body.value)
        self._scopes.pop()
        return loops.loop(
            node.macro, over, (first, second), predicate=predicate, value=value
        )

    def _binding(self, node: Comprehension) -> Step:
        init = self.plan(node.accu_init)
        slot = self._new_slot()
        self._lazy.add(slot)
        self._scopes.append({node.accu_var: slot})
        result = self.plan(node.result)
        self._scopes.pop()

        def run(frame: Frame) -> Value:
            frame[slot] = Lazy(init)
            return result(frame)

        return run


class _Link:
    """One step of a chain: how to get the key, and the key if it is constant."""

    __slots__ = ("key", "known", "optional")

    def __init__(self, key: Step, known: Value, *, optional: bool) -> None:
        self.key = key
        self.known = known
        self.optional = optional


class _body:  # noqa: N801 - a view, used like a function
    """The parts of a macro that the user wrote, out of its expansion."""

    __slots__ = ("predicate", "value")

    def __init__(self, node: Comprehension) -> None:
        step = node.step
        assert isinstance(step, Call)
        self.predicate: Node | None = None
        self.value: Node | None = None
        if node.macro in ("all", "exists"):
            self.predicate = step.args[1]
            return
        if step.function == "_?_:_":
            self.predicate = step.args[0]
            if node.macro == "exists_one":
                return
            step = step.args[1]
            assert isinstance(step, Call)
        last = step.args[-1]
        if step.function == "_+_":
            assert isinstance(last, ListLiteral)
            last = last.elements[0]
        self.value = last


def _optional_part(value: Value, what: str) -> Optional:
    if isinstance(value, Optional):
        return value
    raise EvaluationError(
        f"cannot initialize optional {what} from non-optional value {value}"
    )


# --- closures of chains ---


def _lookup(base: Step, links: list[_Link]) -> Step:
    keys = [link.key for link in links]

    def run(frame: Frame) -> Value:
        value = base(frame)
        if type(value) is Optional:
            return _walk(frame, value, links)
        for key in keys:
            value = access.get(value, key(frame))
        return value

    return run


def _optional_lookup(base: Step, links: list[_Link]) -> Step:
    def run(frame: Frame) -> Value:
        return _walk(frame, base(frame), links)

    return run


def _walk(frame: Frame, value: Value, links: list[_Link]) -> Value:
    """Follow a chain that may be optional from some link on."""
    optional = type(value) is Optional
    if optional:
        if not value.present:
            return value
        value = value.value
    for link in links:
        optional = optional or link.optional
        if optional:
            present, value = access.get_if_present(value, link.key(frame))
            if not present:
                return NONE
        else:
            value = access.get(value, link.key(frame))
    return Optional(value) if optional else value


def _presence(base: Step, links: list[_Link]) -> Step:
    last = links[-1].known
    inner = links[:-1]

    def run(frame: Frame) -> Value:
        value = _walk(frame, base(frame), inner)
        if type(value) is Optional:
            if not value.present:
                return False
            value = value.value
        return access.get_if_present(value, last)[0]

    return run


def _device_field(name: str) -> Step:
    def run(frame: Frame) -> Value:
        return frame[0][name]

    return run


def _device_value(kind: str, domain: str, identifier: str) -> Step:
    missing = f"no such key: {identifier}"

    def run(frame: Frame) -> Value:
        try:
            return frame[0][kind][domain][identifier]
        except KeyError:
            raise EvaluationError(missing) from None

    return run


def _device_has(kind: str, domain: str, identifier: str) -> Step:
    def run(frame: Frame) -> Value:
        found: DomainMap = frame[0][kind]
        return identifier in found.get(domain, ())

    return run


# --- operators ---


def _conditional(condition: Step, yes: Step, no: Step) -> Step:
    def run(frame: Frame) -> Value:
        chosen = condition(frame)
        if chosen is True:
            return yes(frame)
        if chosen is False:
            return no(frame)
        raise ops.no_such_overload()

    return run


def _not(arg: Step) -> Step:
    def run(frame: Frame) -> Value:
        value = arg(frame)
        if value is True:
            return False
        if value is False:
            return True
        raise ops.no_such_overload("!_", value)

    return run


def _equals(left: Step, right: Step) -> Step:
    equal = ops.equal

    def run(frame: Frame) -> Value:
        return equal(left(frame), right(frame))

    return run


def _not_equals(left: Step, right: Step) -> Step:
    definitely_equal = ops.definitely_equal

    def run(frame: Frame) -> Value:
        return not definitely_equal(left(frame), right(frame))

    return run


def _in(element: Step, container: Step) -> Step:
    contains = ops.contains

    def run(frame: Frame) -> Value:
        value = element(frame)
        return contains(container(frame), value)

    return run


def _order(test: Callable[[int], bool]) -> Callable[[Step, Step], Step]:
    def make(left: Step, right: Step) -> Step:
        def run(frame: Frame) -> Value:
            return test(ops.compare(left(frame), right(frame)))

        return run

    return make


def _arithmetic(operate: Callable[[Value, Value], Value]) -> Callable[..., Step]:
    def make(left: Step, right: Step) -> Step:
        def run(frame: Frame) -> Value:
            return operate(left(frame), right(frame))

        return run

    return make


def _negate(arg: Step) -> Step:
    def run(frame: Frame) -> Value:
        return ops.negate(arg(frame))

    return run


def _or(left: Step, right: Step) -> Step:
    def run(frame: Frame) -> Value:
        value = left(frame)
        if type(value) is Optional and not value.present:
            return right(frame)
        return value

    return run


def _or_value(left: Step, right: Step) -> Step:
    def run(frame: Frame) -> Value:
        value = left(frame)
        if type(value) is not Optional:
            return value
        return value.value if value.present else right(frame)

    return run


_SPECIAL: Final[dict[str, Callable[..., Step]]] = {
    "_?_:_": _conditional,
    "!_": _not,
    "-_": _negate,
    "_==_": _equals,
    "_!=_": _not_equals,
    "@in": _in,
    "_<_": _order(lambda order: order < 0),
    "_<=_": _order(lambda order: order <= 0),
    "_>_": _order(lambda order: order > 0),
    "_>=_": _order(lambda order: order >= 0),
    "or": _or,
    "orValue": _or_value,
    **{name: _arithmetic(operate) for name, operate in ops.ARITHMETIC.items()},
}
