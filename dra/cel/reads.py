"""Which parts of a device an expression looks at, known without running it."""

from __future__ import annotations

from typing import Final, NamedTuple

from dra.cel.ast import (
    Call,
    Comprehension,
    Ident,
    Literal,
    Node,
    Select,
    children,
)
from dra.cel.checker import Checked

WHOLE: Final = "*"
"""As an identifier: every identifier of the domain with its value. As a domain:
every domain."""
NAMES: Final = "#"
"""As an identifier: which identifiers the domain has, whatever their values."""


class Read(NamedTuple):
    """One thing that is looked at.

    ``kind`` is the field of the device. For ``attributes`` and ``capacity`` there
    is a ``domain``, and an ``identifier`` in it: a name, :data:`WHOLE`,
    :data:`NAMES`, or empty where only the presence of the domain matters. The
    domain :data:`WHOLE` without identifier is which domains there are, with the
    identifier :data:`WHOLE` all of the map.
    """

    kind: str
    domain: str = ""
    identifier: str = ""


class Shape(NamedTuple):
    """What a node stands for: the device, one of its maps, or a domain of it."""

    kind: str = ""
    domain: str | None = None


DEVICE: Final = Shape()
MAPS: Final = ("attributes", "capacity")


def _or_whole(domain: str | None) -> str:
    return WHOLE if domain is None else domain


class _UnboundedError(Exception):
    """The expression may look at anything."""


def reads(checked: Checked) -> frozenset[Read] | None:
    """Everything the expression may look at, or None when that has no bounds."""
    walk = Walk(checked)
    try:
        walk.escape(walk.visit(checked.root))
    except _UnboundedError:
        return None
    return frozenset(walk.found)


class Walk:
    """A walk over a tree that knows what of the device every node stands for.

    ``found`` is what was read so far.
    """

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._scopes: list[dict[str, Shape | None]] = [{"device": DEVICE}]
        self.found: set[Read] = set()

    def escape(self, shape: Shape | None) -> None:
        """A device, map or domain is used as a value: all of it is read."""
        if shape is None:
            return
        if shape == DEVICE:
            raise _UnboundedError
        self.found.add(Read(shape.kind, _or_whole(shape.domain), WHOLE))

    def escape_keys(self, shape: Shape | None) -> None:
        """Only the keys of a map or a domain are used."""
        if shape is None or shape == DEVICE:
            self.escape(shape)
        elif shape.domain is None:
            self.found.add(Read(shape.kind, WHOLE))
        else:
            self.found.add(Read(shape.kind, shape.domain, NAMES))

    def visit(self, node: Node) -> Shape | None:
        match node:
            case Ident() | Select() if node.id in self._checked.constants:
                return None
            case Ident(name=name):
                return self._named(name.removeprefix("."))
            case Select(operand=operand, field=field, test=test):
                return self._member(self.visit(operand), field, test=test)
            case Call(function="_?._", args=(operand, Literal(value=field))):
                return self._member(self.visit(operand), field)
            case Call(function="_[_]" | "_[?_]", args=(operand, key)):
                return self._index(operand, key)
            case Call(function="@in", args=(element, container)):
                return self._membership(element, container)
            case Call(function="dyn", args=(arg,)):
                return self.visit(arg)
            case (
                Call(function="size", target=None, args=(counted,))
                | Call(function="size", target=Node() as counted, args=())
            ):
                self.escape_keys(self.visit(counted))
                return None
            case Comprehension():
                return self._comprehension(node)
        for child in self._operands(node):
            self.escape(self.visit(child))
        return None

    def _operands(self, node: Node) -> tuple[Node, ...]:
        if isinstance(node, Call):
            resolution = self._checked.calls.get(node.id)
            if resolution is not None and resolution.namespaced:
                return node.args
        return children(node)

    def _named(self, name: str) -> Shape | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return None

    def _member(
        self, shape: Shape | None, name: str, *, test: bool = False
    ) -> Shape | None:
        if shape is None:
            return None
        if shape == DEVICE:
            if name in MAPS:
                return None if test else Shape(name)
            self.found.add(Read(name))
            return None
        if shape.domain is None:
            # A domain is always there when asked for by name.
            return None if test else Shape(shape.kind, name)
        self.found.add(Read(shape.kind, shape.domain, name))
        return None

    def _index(self, operand: Node, key: Node) -> Shape | None:
        shape = self.visit(operand)
        if isinstance(key, Literal) and isinstance(key.value, str):
            return self._member(shape, key.value)
        self.escape(self.visit(key))
        self.escape(shape)
        return None

    def _membership(self, element: Node, container: Node) -> Shape | None:
        shape = self.visit(container)
        named = isinstance(element, Literal) and isinstance(element.value, str)
        if named and shape is not None and shape != DEVICE:
            name = element.value  # type: ignore[attr-defined]  # a literal, see above
            if shape.domain is None:
                self.found.add(Read(shape.kind, name))
            else:
                self.found.add(Read(shape.kind, shape.domain, name))
            return None
        self.escape(self.visit(element))
        self.escape(shape)
        return None

    def _comprehension(self, node: Comprehension) -> Shape | None:
        range_shape = self.visit(node.iter_range)
        if node.iter_var2:
            self.escape(range_shape)
        else:
            self.escape_keys(range_shape)
        self._scopes.append({node.accu_var: self.visit(node.accu_init)})
        self._scopes.append({node.iter_var: None, node.iter_var2: None})
        for part in (node.condition, node.step):
            self.escape(self.visit(part) if not self._is_unused(node, part) else None)
        self._scopes.pop()
        shape = self.visit(node.result)
        self._scopes.pop()
        return shape

    @staticmethod
    def _is_unused(node: Comprehension, part: Node) -> bool:
        """The step of a bound value, which never runs, is just its name."""
        return isinstance(part, Ident) and part.name == node.accu_var
