"""From a checked tree to Python closures.

A closure takes the frame (a list: the device, then one slot for every variable
in scope) and returns a value or raises
:class:`~dra.cel.errors.EvaluationError`. Constants are folded where the
reference folds them, because an error there is a compile error.
"""

from __future__ import annotations

from typing import Final

from dra.cel import access, calls, chains, containers, loops, weights
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
    chained,
)
from dra.cel.checker import Checked
from dra.cel.errors import EvaluationError
from dra.cel.forms import FORMS
from dra.cel.functions.regex import compiled
from dra.cel.metering import (
    LITERALS,
    METER_SLOT,
    RESULT,
    charged,
    metered_call,
    pay,
    without_base,
)
from dra.cel.plan import Frame, Lazy, Step, constant
from dra.cel.stack import Depth, hop
from dra.cel.turns import LOOPS, Written, pay_for_turns, weighed
from dra.cel.values import Value
from dra.cel.weights import weight

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
_FREE: Final = frozenset({"_?_:_", "or", "orValue"})


class InstantiationError(Exception):
    """A constant that the reference evaluates when it builds the program."""

    def __init__(self, message: str, node: Node) -> None:
        self.message = message
        self.node = node
        super().__init__(message)


def build(checked: Checked, *, metered: bool) -> tuple[Step, int]:
    """The closure of the whole tree, and how many slots its frame needs.

    ``metered`` closures pay for what they do to the meter in the frame. Raises
    :class:`InstantiationError`.
    """
    planner = Planner(checked, metered=metered)
    step = planner.plan(checked.root)
    return step, planner.slots


class Planner:
    """Builds closures bottom up; one per tree.

    ``constants`` are the values of the nodes folded so far, by node id. With
    ``shortcuts`` the usual chains of a device's fields become one step. ``burden`` is
    how much longer its closures take than those of the plain planner.
    """

    burden = 1

    def __init__(self, checked: Checked, *, metered: bool) -> None:
        self._checked = checked
        self._metered = metered
        self.shortcuts = not metered
        self.constants: dict[int, Value] = {}
        self._scopes: list[dict[str, int]] = [{"device": 0}]
        self._lazy: set[int] = set()
        self._depth = Depth()
        self._weight = 0
        self.slots = METER_SLOT + 1

    def plan(self, node: Node) -> Step:
        step = self._plan(node)
        if node.id in self.constants:
            return constant(self.constants[node.id])
        return step

    def _plan(self, node: Node) -> Step:
        self._weight += weight(node) * self.burden
        return self._depth.walk(self._plan_here, node)

    def _plan_here(self, node: Node) -> Step:
        step = self._planned(node)
        if self._depth.is_full() and not self.is_constant(node):
            return hop(step)
        return step

    def _planned(self, node: Node) -> Step:
        match node:
            case Literal(value=value):
                return self._fold(node, value)
            case Ident() | Select() if node.id in self._checked.constants:
                return self._fold(node, self._checked.constants[node.id])
            case Ident(name=name):
                self._check_no_type(node, name.removeprefix("."))
                return self._charged(self._variable(name.removeprefix(".")), 1)
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
        self.constants[node.id] = value
        return constant(value)

    def is_constant(self, node: Node) -> bool:
        return node.id in self.constants

    def _charged(self, step: Step, units: int) -> Step:
        return charged(step, units) if self._metered else step

    # --- names ---

    def _check_no_type(self, node: Node, name: str) -> None:
        """Refuse a variable that holds a type: the reference looks for its name among
        the types."""
        if self._checked.types[node.id].kind == "type":
            raise InstantiationError(f"reference to undefined type: {name}", node)

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
        links: list[chains.Link] = []
        test = False
        while True:
            match node:
                case Select(operand=operand, field=field) if (
                    node.id not in self._checked.constants and not (node.test and links)
                ):
                    test = test or node.test
                    key = constant(field)
                    links.append(chains.Link(node, key, field, optional=False))
                    node = operand
                case Call(function="_?._", args=(operand, Literal(value=field))):
                    key = constant(field)
                    links.append(chains.Link(node, key, field, optional=True))
                    node = operand
                case Call(function="_[_]" | "_[?_]" as function, args=(operand, index)):
                    key = self.plan(index)
                    known = self.constants.get(index.id)
                    if self.is_constant(index):
                        self._check_constant_key(index, known)
                    optional = function == "_[?_]"
                    links.append(chains.Link(node, key, known, optional=optional))
                    node = operand
                case _:
                    break
        links.reverse()
        named = node.id not in self._checked.constants and isinstance(node, Ident)
        if isinstance(node, Ident) and named and self.shortcuts:
            quick = self._device_chain(node, links, test=test)
            if quick is not None:
                return quick
        step = self.follow(self.plan(node), links, test=test)
        # One for each link and one for the base, which a variable pays itself; a
        # presence test is for free, and so is what an optional link does not find.
        many = 0 if chains.is_optional(links) and not test else len(links)
        return self._charged(step, many + (not named) - test)

    def follow(self, base: Step, links: list[chains.Link], *, test: bool) -> Step:
        """The step of a chain that no shortcut takes."""
        if test:
            return chains.presence(base, links)
        if chains.is_optional(links):
            each = pay(1) if self._metered else None
            return chains.optional_lookup(base, links, each)
        return chains.lookup(base, links)

    def _check_constant_key(self, node: Node, key: Value) -> None:
        try:
            access.check_key(key)
        except EvaluationError as error:
            raise InstantiationError(str(error), node) from error

    def _device_chain(
        self, base: Ident, links: list[chains.Link], *, test: bool
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
            return chains.device_field(names[0])
        if len(names) != 3 or names[0] not in ("attributes", "capacity"):
            return None
        kind, domain, identifier = names
        if test:
            return chains.device_has(kind, domain, identifier)
        return chains.device_value(kind, domain, identifier)

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
        # Where the container might be a map as well, the reference does not look at it.
        if name == "@in" and len(resolution.overloads) == 1:
            folded = self._membership(node, steps[0], nodes[1])
            if folded is not None:
                return folded
        if name in _REGEX and self.is_constant(nodes[1]):
            self._check_pattern(nodes[1])
        if self._metered and name == "_?_:_":
            steps[1:] = [
                without_base(branch, step, self.constants)
                for branch, step in zip(nodes[1:], steps[1:], strict=True)
            ]
        special = FORMS.get(name)

        def make(args: list[Step]) -> Step:
            if special is not None:
                return special(*args)
            return calls.call(name, resolution.overloads, self._all(name), args)

        step = make(steps)
        if name in _CONVERSIONS and len(nodes) == 1 and self.is_constant(nodes[0]):
            try:
                return self._fold(node, step([]))
            except EvaluationError as error:
                raise InstantiationError(str(error), node) from error
        if not self._metered or name in _FREE:
            return step
        overloads = resolution.overloads
        overload = overloads[0].id if len(overloads) == 1 else ""
        return metered_call(name, overload, steps, make)

    def _all(self, name: str) -> calls.Overloads:
        function = self._checked.functions.find(name)
        assert function is not None
        return tuple(function.overloads)

    def _check_pattern(self, node: Node) -> None:
        pattern = self.constants[node.id]
        if not isinstance(pattern, str):
            return
        try:
            compiled(pattern)
        except EvaluationError as error:
            raise InstantiationError(str(error), node) from error

    def _logical(self, node: Call) -> Step:
        steps = [self.plan(term) for term in chained(node)]
        return loops.any_of(steps) if node.function == "_||_" else loops.all_of(steps)

    def _membership(self, node: Call, element: Step, container: Node) -> Step | None:
        """``x in [constants]``, which the reference turns into a hash lookup."""
        items = self.constants.get(container.id)
        if type(items) is not list:
            return None
        if not items:
            return self._fold(node, value=False)
        return calls.membership(element, items)

    # --- literals ---

    def _list(self, node: ListLiteral) -> Step:
        steps = [self.plan(element) for element in node.elements]
        step = containers.list_of(steps, node.optional)
        if all(map(self.is_constant, node.elements)):
            return self._fold_literal(node, step)
        return self._charged(step, LITERALS["list"])

    def _map(self, node: MapLiteral) -> Step:
        entries = [
            (self.plan(e.key), self.plan(e.value), e.optional) for e in node.entries
        ]

        step = containers.map_of(entries)
        parts = [part for e in node.entries for part in (e.key, e.value)]
        if all(map(self.is_constant, parts)):
            return self._fold_literal(node, step)
        return self._charged(step, LITERALS["map"])

    def _fold_literal(self, node: Node, step: Step) -> Step:
        try:
            return self._fold(node, step([]))
        except EvaluationError:
            # The reference keeps the error as the value of the literal.
            return step

    # --- comprehensions ---

    def _comprehension(self, node: Comprehension) -> Step:
        if node.macro not in LOOPS:
            return self._binding(node)
        over = self.plan(node.iter_range)
        first = self._new_slot()
        names = {node.iter_var: first}
        if node.iter_var2:
            names[node.iter_var2] = self._new_slot()
        second = names.get(node.iter_var2)
        self._scopes.append(names)
        body = Written(node)
        outside, self._weight = self._weight, weights.TURN
        predicate = None if body.predicate is None else self.plan(body.predicate)
        value = None if body.value is None else self.plan(body.value)
        turn, self._weight = self._weight, outside
        self._scopes.pop()
        if predicate is not None:
            predicate = weighed(predicate, turn)
        elif value is not None:
            value = weighed(value, turn)
        look = None
        if self._metered:
            fixed = body.value is not None and self.is_constant(body.value)
            predicate, value, look = pay_for_turns(node.macro, predicate, value, fixed)
        loop = loops.loop(node.macro, over, (first, second), predicate, value, look)
        return self._charged(loop, RESULT.get(node.macro, 1))

    def _binding(self, node: Comprehension) -> Step:
        self._check_no_type(node.accu_init, node.accu_var)
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
