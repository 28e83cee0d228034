"""The type checker: every node gets a type, every call its possible overloads.

It follows the reference step by step, because which overloads stay possible
decides what happens at run time, and types decide the cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra.cel import types as t
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
from dra.cel.declarations import Declarations, Function, Overload
from dra.cel.source import Problems
from dra.cel.stack import Depth
from dra.cel.types import Type, Work
from dra.cel.values import TypeValue, UInt
from dra.errors import NotSupportedError


@dataclass(frozen=True, slots=True)
class Environment:
    """What expressions may refer to.

    ``variables`` and ``fields`` give types; ``type_names`` are the identifiers
    that denote types.
    """

    functions: Declarations
    variables: Mapping[str, Type]
    fields: Mapping[str, Mapping[str, Type]]
    type_names: Mapping[str, Type]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a call means: its overloads, and whether its target is an argument.

    ``namespaced`` calls (``optional.of(x)``) have no receiver; ``function`` is
    then the full name.
    """

    function: str
    overloads: tuple[Overload, ...]
    namespaced: bool = False


@dataclass(slots=True)
class Checked:
    """The outcome: by node id, the type, the call, and constants behind names.

    ``work`` is what typing took so far.
    """

    root: Node
    functions: Declarations
    work: Work = field(default_factory=Work)
    types: dict[int, Type] = field(default_factory=dict)
    calls: dict[int, Resolution] = field(default_factory=dict)
    constants: dict[int, TypeValue] = field(default_factory=dict)


def check(root: Node, environment: Environment) -> tuple[Checked, Problems]:
    """Types of the whole tree, and everything wrong with it."""
    checker = _Checker(root, environment)
    checker.check(root)
    out = checker.out
    for node_id, found in out.types.items():
        out.types[node_id] = checker.bindings.resolve(found, open_to_dyn=True)
    return out, checker.problems


def qualified_name(node: Node) -> str | None:
    """``a.b.c`` as one name where the node is nothing but names and dots."""
    parts: list[str] = []
    while isinstance(node, Select) and not node.test:
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    parts.append(node.name)
    return ".".join(reversed(parts))


class _Checker:
    def __init__(self, root: Node, environment: Environment) -> None:
        self.out = Checked(root, environment.functions)
        self.problems = Problems()
        self.bindings = t.Bindings(self.out.work)
        self._env = environment
        self._scopes: list[dict[str, Type]] = [dict(environment.variables)]
        self._fresh = 0
        self._depth = Depth()

    def check(self, node: Node) -> Type:
        found = self.out.types[node.id] = self._depth.walk(self._check, node)
        return found

    def _check(self, node: Node) -> Type:
        match node:
            case Call():
                return self._call(node)
            case Select():
                return self._select(node)
            case Literal():
                return literal_type(node.value)
            case Ident():
                return self._ident(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._comprehension(node)
            case StructLiteral():
                return self._struct(node)
            case _:
                raise AssertionError(f"unknown node {node!r}")

    # --- helpers ---

    def _report(self, node: Node, message: str, *parts: Type | str) -> None:
        """``message`` with a ``{}`` for each part; made only where it is kept."""
        end = node.end if node.at == node.start else node.at + 1
        self.problems.add(node.at, end, lambda: self._written(message, parts))

    def _written(self, message: str, parts: tuple[Type | str, ...]) -> str:
        self.out.work.add(sum([p.size for p in parts if isinstance(p, Type)]))
        return message.format(*parts)

    def _mismatch(self, node: Node, wanted: Type, found: Type) -> None:
        self._report(node, "expected type '{}' but found '{}'", wanted, found)

    def _undeclared(self, node: Node, name: str) -> Type:
        self._report(node, "undeclared reference to '{}' (in container '')", name)
        return t.ERROR

    def _new_param(self) -> Type:
        self._fresh += 1
        return t.param(f"_var{self._fresh}")

    def _lookup(self, name: str) -> Type | None:
        name = name.removeprefix(".")
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return None

    def _named_type(self, node: Node, name: str) -> Type | None:
        named = self._env.type_names.get(name.removeprefix("."))
        if named is None:
            return None
        self.out.constants[node.id] = TypeValue(named.name)
        return t.type_of(named)

    # --- kinds of nodes ---

    def _ident(self, node: Ident) -> Type:
        found = self._lookup(node.name) or self._named_type(node, node.name)
        return self._undeclared(node, node.name) if found is None else found

    def _select(self, node: Select) -> Type:
        name = qualified_name(node)
        if name is not None and name.count(".") - name.startswith("."):
            named = self._named_type(node, name)
            if named is not None:
                return named
            if name.removeprefix(".").startswith("google.protobuf."):
                raise NotSupportedError(f"protocol buffer names in CEL ({name})")
        found = self._field(node, node.operand, node.field, optional=False)
        return t.BOOL if node.test else self.bindings.resolve(found)

    def _field(self, node: Node, operand: Node, name: str, *, optional: bool) -> Type:
        found = self.bindings.resolve(self.check(operand))
        target, was_optional = t.unwrap_optional(found)
        result = t.DYN
        if target.kind == "map":
            result = target.params[1]
        elif target.kind == "struct":
            result = self._struct_field(node, target, name)
        elif target.kind == "param":
            self.bindings.assignable(t.DYN, target)
        elif not t.is_dyn_or_error(target):
            self._report(node, "type '{}' does not support field selection", target)
        return t.optional_of(result) if optional or was_optional else result

    def _struct_field(self, node: Node, struct: Type, name: str) -> Type:
        fields = self._env.fields.get(struct.name)
        if fields is None:
            self._report(node, "unexpected failed resolution of '{}'", struct.name)
            return t.ERROR
        if name not in fields:
            self._report(node, "undefined field '{}'", name)
            return t.ERROR
        return fields[name]

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, name = node.args
            assert isinstance(name, Literal)
            self.out.types[name.id] = t.STRING
            found = self._field(node, operand, name.value, optional=True)
            self.out.calls[node.id] = Resolution("_?._", ())
            return self.bindings.resolve(found)
        args = tuple([self.check(arg) for arg in node.args])
        functions = self._env.functions
        if node.target is None:
            name_ = node.function.removeprefix(".")
            function = functions.find(name_)
            if function is None:
                return self._undeclared(node, node.function)
            return self._resolve(node, function, args, method=False)
        prefix = qualified_name(node.target)
        if prefix is not None:
            full = f"{prefix}.{node.function}".removeprefix(".")
            function = functions.find(full)
            if function is not None:
                return self._resolve(
                    node, function, args, method=False, namespaced=True
                )
        receiver = self.check(node.target)
        function = functions.find(node.function)
        if function is None:
            return self._undeclared(node, node.function)
        return self._resolve(node, function, (receiver, *args), method=True)

    def _resolve(
        self,
        node: Call,
        function: Function,
        args: tuple[Type, ...],
        *,
        method: bool,
        namespaced: bool = False,
    ) -> Type:
        if function.name in ("_&&_", "_||_"):
            return self._logical(node, function, args)
        result: Type | None = None
        possible: list[Overload] = []
        for overload in function.overloads:
            if overload.method != method or len(overload.args) != len(args):
                continue
            wanted, returned = overload.args, overload.result
            if overload.params:
                fresh = {p: self._new_param() for p in overload.params}
                wanted = tuple([t.renamed(a, fresh) for a in wanted])
                returned = t.renamed(returned, fresh)
            if not self.bindings.all_assignable(args, wanted):
                continue
            possible.append(overload)
            returned = self.bindings.resolve(returned)
            if result is None:
                result = returned
            elif not t.is_dyn(result) and returned != result:
                result = t.DYN
        if result is None:
            shown = [self.bindings.resolve(a, open_to_dyn=True) for a in args]
            places = ", ".join(["{}"] * (len(shown) - method))
            self._report(
                node,
                "found no matching overload for '{}' applied to "
                f"'{'{}.' if method else ''}({places})'",
                function.name,
                *shown,
            )
            return t.ERROR
        self.out.calls[node.id] = Resolution(function.name, tuple(possible), namespaced)
        return result

    def _logical(self, node: Call, function: Function, args: tuple[Type, ...]) -> Type:
        fine = True
        for arg, found in zip(node.args, args, strict=True):
            if not self.bindings.assignable(found, t.BOOL):
                self._mismatch(arg, t.BOOL, found)
                fine = False
        self.out.calls[node.id] = Resolution(function.name, tuple(function.overloads))
        return t.BOOL if fine else t.ERROR

    def _join(self, before: Type | None, found: Type) -> Type:
        """The common type of elements so far; dyn where there is none.

        Whether a literal may be mixed is decided afterwards, by a validator.
        """
        if before is None:
            return found
        if self.bindings.assignable(before, found):
            return t.more_general(before, found)
        return t.DYN

    def _maybe_optional(self, node: Node, found: Type) -> Type:
        inner, is_optional = t.unwrap_optional(found)
        if not is_optional and not t.is_dyn(inner):
            self._mismatch(node, t.optional_of(inner), inner)
        return inner

    def _list(self, node: ListLiteral) -> Type:
        element: Type | None = None
        for index, item in enumerate(node.elements):
            found = self.check(item)
            if index in node.optional:
                found = self._maybe_optional(item, found)
            element = self._join(element, found)
        return t.list_of(self._new_param() if element is None else element)

    def _map(self, node: MapLiteral) -> Type:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self._join(key, self.check(entry.key))
            found = self.check(entry.value)
            if entry.optional:
                found = self._maybe_optional(entry.value, found)
            value = self._join(value, found)
        if key is None or value is None:
            return t.map_of(self._new_param(), self._new_param())
        return t.map_of(key, value)

    def _struct(self, node: StructLiteral) -> Type:
        name = node.type_name.removeprefix(".")
        if name.startswith("google.protobuf."):
            raise NotSupportedError(f"protocol buffer messages in CEL ({name})")
        if name in self._env.type_names:
            self._report(node, "'{}' is not a message type", name)
            return t.ERROR
        return self._undeclared(node, node.type_name)

    def _comprehension(self, node: Comprehension) -> Type:
        range_type = self.check(node.iter_range)
        accumulated = self.check(node.accu_init)
        range_type = self.bindings.resolve(range_type)
        self._scopes.append({node.accu_var: accumulated})
        self._scopes.append(self._iteration(node, range_type))
        self._expect(node.condition, t.BOOL)
        self._expect(node.step, accumulated)
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return self.bindings.resolve(result)

    def _iteration(self, node: Comprehension, range_type: Type) -> dict[str, Type]:
        """The types of the iteration variables."""
        two = bool(node.iter_var2)
        if range_type.kind == "list":
            element = range_type.params[0]
            first, second = (t.INT, element) if two else (element, element)
        elif range_type.kind == "map":
            first, second = range_type.params
        elif range_type.kind in ("dyn", "error", "param"):
            self.bindings.assignable(t.DYN, range_type)
            first = second = t.DYN
        else:
            self._report(
                node.iter_range,
                "expression of type '{}' cannot be range of a comprehension "
                "(must be list, map, or dynamic)",
                range_type,
            )
            first = second = t.ERROR
        variables = {node.iter_var: first}
        if two:
            variables[node.iter_var2] = second
        return variables

    def _expect(self, node: Node, wanted: Type) -> None:
        found = self.check(node)
        if not self.bindings.assignable(wanted, found):
            self._mismatch(node, wanted, found)


_LITERALS: dict[type, Type] = {
    bool: t.BOOL,
    int: t.INT,
    UInt: t.UINT,
    float: t.DOUBLE,
    str: t.STRING,
    bytes: t.BYTES,
    type(None): t.NULL,
}


def literal_type(value: object) -> Type:
    """The type of a literal's value."""
    return _LITERALS[type(value)]
