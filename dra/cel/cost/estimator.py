"""The estimate: a walk over the checked tree that adds up the worst case."""

from __future__ import annotations

from typing import NamedTuple

from dra.cel.ast import (
    Call,
    Comprehension,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
)
from dra.cel.checker import Checked
from dra.cel.cost.arguments import Argument, CallCost
from dra.cel.cost.calls import call_cost
from dra.cel.cost.ranges import (
    LIST_COST,
    MAP_COST,
    MAXIMUM,
    ONE,
    UNKNOWN,
    ZERO,
    Range,
    fixed,
)
from dra.cel.cost.sizes import NOWHERE, Path, root, size_at
from dra.cel.expansions import ACCUMULATOR
from dra.cel.stack import Depth
from dra.cel.types import Type

_SCALARS = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})


class _Entries(NamedTuple):
    """Sizes of the keys and values of a list (``list``) or map."""

    container: str
    key: Range
    value: Range

    def union(self, other: _Entries) -> _Entries:
        return _Entries(
            self.container, self.key.union(other.key), self.value.union(other.value)
        )


class _Variable(NamedTuple):
    path: Path
    size: Range | None
    entries: _Entries | None


def estimate(checked: Checked) -> Range:
    """Lowest and highest cost of running the expression once."""
    return _Estimator(checked).cost(checked.root)


def is_priced(node: Select, checked: Checked) -> bool:
    """Whether the estimate counts a field; parts of a name are none."""
    operand = checked.types.get(node.operand.id)
    return operand is None or operand.kind in ("map", "struct", "param")


class _Estimator:
    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}
        self._variables: dict[str, list[_Variable]] = {}
        self._depth = Depth()

    def cost(self, node: Node) -> Range:
        return self._depth.walk(self._cost, node)

    def _cost(self, node: Node) -> Range:
        match node:
            case Literal():
                return ZERO
            case Ident() | Select() if node.id in self._checked.constants:
                return self._name(node, _dotted(node))
            case Ident(name=name):
                return self._name(node, name.removeprefix("."))
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._bind(node) if _is_bind(node) else self._loop(node)
        return ZERO

    # --- what is known about nodes ---

    def _type(self, node: Node) -> Type:
        return self._checked.types[node.id]

    def _variable(self, node: Node) -> _Variable | None:
        if isinstance(node, Ident):
            found = self._variables.get(node.name.removeprefix("."))
            if found:
                return found[-1]
        return None

    def _path(self, node: Node) -> Path:
        variable = self._variable(node)
        if variable is not None:
            return variable.path
        return self._paths.get(node.id, NOWHERE)

    def _size(self, node: Node) -> Range | None:
        known = self._sizes.get(node.id)
        if known is not None:
            return known
        literal = _literal_size(node)
        if literal is not None:
            return fixed(literal)
        at_path = size_at(self._path(node).names())
        if at_path is not None:
            self._sizes[node.id] = at_path
            return at_path
        if _is_scalar(self._type(node)):
            return ONE
        variable = self._variable(node)
        return None if variable is None else variable.size

    def _size_or_unknown(self, node: Node) -> Range:
        size = self._size(node)
        return UNKNOWN if size is None else size

    def _entry_sizes(self, node: Node) -> _Entries | None:
        known = self._entries.get(node.id)
        if known is not None:
            return known
        variable = self._variable(node)
        return None if variable is None else variable.entries

    def _set_size(self, node: Node, size: Range | None) -> None:
        if size is not None:
            self._sizes[node.id] = size

    def _set_entries(self, node: Node, entries: _Entries | None) -> None:
        if entries is not None:
            self._entries[node.id] = entries

    def _push(self, name: str, variable: _Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    # --- kinds of nodes ---

    def _name(self, node: Node, name: str) -> Range:
        variable = self._variables.get(name)
        self._paths[node.id] = variable[-1].path if variable else root(name)
        return ONE

    def _select(self, node: Select) -> Range:
        total = self.cost(node.operand)
        if node.test:
            return total
        if is_priced(node, self._checked):
            total = total.plus(ONE)
        self._paths[node.id] = self._path(node.operand).plus(node.field)
        return total

    def _list(self, node: ListLiteral) -> Range:
        total = ZERO
        items = Range(MAXIMUM if node.elements else 0, 0)
        for element in node.elements:
            total = total.plus(self.cost(element))
            items = items.union(self._size_or_unknown(element))
        self._entries[node.id] = _Entries("list", ONE, items)
        return total.plus(fixed(LIST_COST))

    def _map(self, node: MapLiteral) -> Range:
        total = ZERO
        keys = values = Range(MAXIMUM if node.entries else 0, 0)
        for entry in node.entries:
            total = total.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            keys = keys.union(self._size_or_unknown(entry.key))
            values = values.union(self._size_or_unknown(entry.value))
        self._entries[node.id] = _Entries("map", keys, values)
        return total.plus(fixed(MAP_COST))

    def _bind(self, node: Comprehension) -> Range:
        total = self.cost(node.iter_range).plus(self.cost(node.accu_init))
        self._push_value(node.accu_var, node.accu_init)
        total = total.plus(self.cost(node.result))
        self._variables[node.accu_var].pop()
        self._set_size(node, self._size(node.result))
        self._set_entries(node, self._entry_sizes(node.result))
        return total

    def _loop(self, node: Comprehension) -> Range:
        over = node.iter_range
        total = self.cost(over).plus(self.cost(node.accu_init))
        self._push_value(node.accu_var, node.accu_init)
        if node.iter_var2:
            self._push_iteration(node.iter_var, over, keys=True)
            self._push_iteration(node.iter_var2, over, keys=False)
        else:
            self._push_iteration(node.iter_var, over, keys=not self._is_list(over))
        condition = self.cost(node.condition)
        step = self.cost(node.step)
        self._variables[node.iter_var].pop()
        if node.iter_var2:
            self._variables[node.iter_var2].pop()
        total = total.plus(self.cost(node.result))
        self._variables[node.accu_var].pop()
        turns = self._size_or_unknown(over)
        total = total.plus(turns.times(step.plus(condition)))
        if isinstance(node.accu_init, Literal):
            self._set_size(node, self._size(node.accu_init))
        elif isinstance(node.accu_init, ListLiteral | MapLiteral):
            self._set_size(node, turns)
            self._set_entries(node, self._entry_sizes(node.step))
        return total

    def _push_value(self, name: str, node: Node) -> None:
        path, entries = self._path(node), self._entry_sizes(node)
        self._push(name, _Variable(path, self._size(node), entries))

    def _is_list(self, over: Node) -> bool:
        entries = self._entry_sizes(over)
        kind = self._type(over).kind if entries is None else entries.container
        return kind == "list"

    def _push_iteration(self, name: str, over: Node, *, keys: bool) -> None:
        entries = self._entry_sizes(over)
        size = None
        if entries is not None:
            size = entries.key if keys else entries.value
        if self._is_list(over):
            step = "@indices" if keys else "@items"
        else:
            step = "@keys" if keys else "@values"
        self._push(name, _Variable(self._path(over).plus(step), size, None))

    # --- calls ---

    def _argument(self, node: Node) -> Argument:
        names = self._path(node).names()
        if names and names[0] == ACCUMULATOR:
            names = []
        literal = node.value if isinstance(node, Literal) else None
        return Argument(self._type(node), names, self._size(node), literal)

    def _call(self, node: Call) -> Range:
        resolution = self._checked.calls[node.id]
        if resolution.function == "dyn":
            return self._dyn(node)
        costs: list[Range] = []
        args: list[Argument] = []
        for arg in node.args:
            costs.append(self.cost(arg))
            args.append(self._argument(arg))
        total, target = ZERO, None
        if node.target is not None and not resolution.namespaced:
            total = self.cost(node.target)
            target = self._argument(node.target)
        if resolution.function == "_?._":
            ids = ["select_optional_field"]
        else:
            ids = [overload.id for overload in resolution.overloads]
        called = Range(MAXIMUM, 0)
        size: Range | None = None
        for overload in ids:
            one = call_cost(resolution.function, overload, target, args, costs)
            self._track_entries(node, overload)
            called = called.union(one.cost)
            size = self._result_size(node, overload, size, one)
        self._set_size(node, size)
        return total.plus(called)

    def _result_size(
        self, node: Call, overload: str, size: Range | None, one: CallCost
    ) -> Range | None:
        if one.size is not None:
            size = one.size if size is None else size.union(one.size)
        if overload in ("index_list", "index_map"):
            container = node.args[0]
            entries = self._entry_sizes(container)
            size = None if entries is None else entries.value
            step = "@items" if overload == "index_list" else "@values"
            self._paths[node.id] = self._path(container).plus(step)
        return self._size(node) if size is None else size

    def _track_entries(self, node: Call, overload: str) -> None:
        """What a concatenation or a choice holds is what both sides hold."""
        if overload == "conditional":
            left, right = node.args[1:]
        elif overload in ("add_string", "add_bytes", "add_list"):
            left, right = node.args
        else:
            return
        first, second = self._entry_sizes(left), self._entry_sizes(right)
        if first is not None and second is not None:
            self._entries[node.id] = first.union(second)

    def _dyn(self, node: Call) -> Range:
        (arg,) = node.args
        total = ONE.plus(self.cost(arg))
        self._set_size(node, self._size(arg))
        self._set_entries(node, self._entry_sizes(arg))
        return total


def _dotted(node: Node) -> str:
    parts: list[str] = []
    while isinstance(node, Select):
        parts.append(node.field)
        node = node.operand
    if isinstance(node, Ident):
        parts.append(node.name)
    return ".".join(reversed(parts))


def _is_bind(node: Comprehension) -> bool:
    return (
        isinstance(node.iter_range, ListLiteral)
        and not node.iter_range.elements
        and isinstance(node.condition, Literal)
        and node.condition.value is False
    )


def _literal_size(node: Node) -> int | None:
    match node:
        case Literal(value=str() | bytes() as text):
            return len(text)
        case Literal():
            return 1
        case ListLiteral(elements=elements):
            return len(elements)
        case MapLiteral(entries=entries):
            return len(entries)
    return None


def _is_scalar(t: Type) -> bool:
    if t.kind == "opaque" and t.name == "optional_type":
        return _is_scalar(t.params[0])
    return t.kind in _SCALARS
