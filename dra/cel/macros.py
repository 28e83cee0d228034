"""Macros: calls that are rewritten while parsing.

Each maker takes the :class:`Tree` (which hands out node ids), the target and the
arguments, and returns the expansion. ``None`` means "not this macro after all";
a :class:`~dra.cel.source.Problem` means the arguments are malformed. The
expansions are those of the reference, node for node: cost and typing depend on
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dra.cel.ast import (
    Call,
    Comprehension,
    Entry,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)
from dra.cel.source import Problem
from dra.cel.values import Value

ACCUMULATOR: Final = "@result"
_OLD_ACCUMULATOR: Final = "__result__"
UNUSED: Final = "#unused"
_SORT_INPUT: Final = "@__sortBy_input__"


class Tree:
    """Builds nodes of one tree that all sit at the place of the macro call."""

    def __init__(
        self, next_id: Callable[[], int], copy_id: Callable[[], int], place: Node
    ) -> None:
        self._next_id = next_id
        self._copy_id = copy_id
        self._start, self._end, self._at = place.start, place.end, place.at

    def literal(self, value: Value) -> Node:
        return Literal(self._next_id(), self._start, self._end, self._at, value)

    def ident(self, name: str) -> Node:
        return Ident(self._next_id(), self._start, self._end, self._at, name)

    def accumulator(self) -> Node:
        return self.ident(ACCUMULATOR)

    def list_of(self, *elements: Node) -> Node:
        return ListLiteral(self._next_id(), self._start, self._end, self._at, elements)

    def empty_map(self) -> Node:
        return MapLiteral(self._next_id(), self._start, self._end, self._at, ())

    def call(self, function: str, *args: Node) -> Node:
        return Call(
            self._next_id(), self._start, self._end, self._at, function, None, args
        )

    def method(self, function: str, target: Node, *args: Node) -> Node:
        return Call(
            self._next_id(), self._start, self._end, self._at, function, target, args
        )

    def has(self, operand: Node, field: str) -> Node:
        return Select(
            self._next_id(),
            self._start,
            self._end,
            self._at,
            operand,
            field,
            test=True,
        )

    def fold(
        self,
        macro: str,
        *,
        over: Node,
        names: tuple[str, str],
        init: Node,
        condition: Node,
        step: Node,
        result: Node,
        accumulator: str = ACCUMULATOR,
    ) -> Node:
        return Comprehension(
            self._next_id(),
            self._start,
            self._end,
            self._at,
            macro=macro,
            iter_range=over,
            iter_var=names[0],
            iter_var2=names[1],
            accu_var=accumulator,
            accu_init=init,
            condition=condition,
            step=step,
            result=result,
        )

    def copy(self, node: Node) -> Node:
        """The same expression with ids of its own."""
        fresh = (self._copy_id(), node.start, node.end, node.at)
        match node:
            case Literal(value=value):
                return Literal(*fresh, value)
            case Ident(name=name):
                return Ident(*fresh, name)
            case Select(operand=operand, field=field, test=test):
                return Select(*fresh, self.copy(operand), field, test)
            case Call(function=function, target=target, args=args):
                receiver = None if target is None else self.copy(target)
                return Call(*fresh, function, receiver, tuple(map(self.copy, args)))
            case ListLiteral(elements=elements, optional=optional):
                return ListLiteral(*fresh, tuple(map(self.copy, elements)), optional)
            case MapLiteral(entries=entries):
                return MapLiteral(
                    *fresh,
                    tuple(
                        Entry(self.copy(e.key), self.copy(e.value), e.optional, e.at)
                        for e in entries
                    ),
                )
            case StructLiteral(type_name=type_name, values=values):
                return StructLiteral(*fresh, type_name, tuple(map(self.copy, values)))
            case Comprehension():
                return Comprehension(
                    *fresh,
                    macro=node.macro,
                    iter_range=self.copy(node.iter_range),
                    iter_var=node.iter_var,
                    iter_var2=node.iter_var2,
                    accu_var=node.accu_var,
                    accu_init=self.copy(node.accu_init),
                    condition=self.copy(node.condition),
                    step=self.copy(node.step),
                    result=self.copy(node.result),
                )
            case _:
                raise AssertionError(f"unknown node {node!r}")


type Args = tuple[Node, ...]
type Maker = Callable[[Tree, Node, Args], Node | None]


def _name(node: Node, message: str) -> str:
    if not isinstance(node, Ident):
        raise Problem(message, node.at, node.end)
    if node.name == _OLD_ACCUMULATOR:
        raise Problem(
            "iteration variable overwrites accumulator variable", node.at, node.end
        )
    return node.name


def _names(args: Args) -> tuple[str, str]:
    message = "argument must be a simple name"
    first, second = _name(args[0], message), _name(args[1], message)
    if first == second:
        raise Problem(f"duplicate variable name: {first}", args[1].at, args[1].end)
    return first, second


def _has(tree: Tree, _target: Node, args: Args) -> Node:
    (arg,) = args
    if not isinstance(arg, Select):
        raise Problem("invalid argument to has() macro", arg.at, arg.end)
    return tree.has(arg.operand, arg.field)


def _all(tree: Tree, target: Node, names: tuple[str, str], predicate: Node) -> Node:
    return tree.fold(
        "all",
        over=target,
        names=names,
        init=tree.literal(value=True),
        condition=tree.call("@not_strictly_false", tree.accumulator()),
        step=tree.call("_&&_", tree.accumulator(), predicate),
        result=tree.accumulator(),
    )


def _exists(tree: Tree, target: Node, names: tuple[str, str], predicate: Node) -> Node:
    return tree.fold(
        "exists",
        over=target,
        names=names,
        init=tree.literal(value=False),
        condition=tree.call("@not_strictly_false", tree.call("!_", tree.accumulator())),
        step=tree.call("_||_", tree.accumulator(), predicate),
        result=tree.accumulator(),
    )


def _exists_one(
    tree: Tree, target: Node, names: tuple[str, str], predicate: Node
) -> Node:
    return tree.fold(
        "exists_one",
        over=target,
        names=names,
        init=tree.literal(0),
        condition=tree.literal(value=True),
        step=tree.call(
            "_?_:_",
            predicate,
            tree.call("_+_", tree.accumulator(), tree.literal(1)),
            tree.accumulator(),
        ),
        result=tree.call("_==_", tree.accumulator(), tree.literal(1)),
    )


type _Quantifier = Callable[[Tree, Node, tuple[str, str], Node], Node]


def _one_name(make: _Quantifier) -> Maker:
    def maker(tree: Tree, target: Node, args: Args) -> Node:
        name = _name(args[0], "argument must be a simple name")
        return make(tree, target, (name, ""), args[1])

    return maker


def _two_names(make: _Quantifier) -> Maker:
    def maker(tree: Tree, target: Node, args: Args) -> Node:
        return make(tree, target, _names(args), args[2])

    return maker


def _collect(
    tree: Tree,
    macro: str,
    target: Node,
    names: tuple[str, str],
    step: Node,
    predicate: Node | None,
    *,
    init: Node,
) -> Node:
    """A fold that gathers ``step``, only where ``predicate`` holds."""
    if predicate is not None:
        step = tree.call("_?_:_", predicate, step, tree.accumulator())
    return tree.fold(
        macro,
        over=target,
        names=names,
        init=init,
        condition=tree.literal(value=True),
        step=step,
        result=tree.accumulator(),
    )


def _append(tree: Tree, element: Node) -> Node:
    return tree.call("_+_", tree.accumulator(), tree.list_of(element))


def _map(tree: Tree, target: Node, args: Args) -> Node:
    name = _name(args[0], "argument is not an identifier")
    predicate = args[1] if len(args) == 3 else None
    return _collect(
        tree,
        "map",
        target,
        (name, ""),
        _append(tree, args[-1]),
        predicate,
        init=tree.list_of(),
    )


def _filter(tree: Tree, target: Node, args: Args) -> Node:
    name = _name(args[0], "argument is not an identifier")
    return _collect(
        tree,
        "filter",
        target,
        (name, ""),
        _append(tree, args[0]),
        args[1],
        init=tree.list_of(),
    )


def _transform_list(tree: Tree, target: Node, args: Args) -> Node:
    return _collect(
        tree,
        "transformList",
        target,
        _names(args),
        _append(tree, args[-1]),
        args[2] if len(args) == 4 else None,
        init=tree.list_of(),
    )


def _transform_map(tree: Tree, target: Node, args: Args) -> Node:
    names = _names(args)
    step = tree.call(
        "cel.@mapInsert", tree.accumulator(), tree.ident(names[0]), args[-1]
    )
    return _collect(
        tree,
        "transformMap",
        target,
        names,
        step,
        args[2] if len(args) == 4 else None,
        init=tree.empty_map(),
    )


def _transform_map_entry(tree: Tree, target: Node, args: Args) -> Node:
    return _collect(
        tree,
        "transformMapEntry",
        target,
        _names(args),
        tree.call("cel.@mapInsert", tree.accumulator(), args[-1]),
        args[2] if len(args) == 4 else None,
        init=tree.empty_map(),
    )


def _bind_value(
    tree: Tree, macro: str, name: str, init: Node, body: Node, *, value: Node
) -> Node:
    """A fold over nothing: ``body`` with ``name`` standing for ``init``."""
    return tree.fold(
        macro,
        over=tree.list_of(),
        names=(UNUSED, ""),
        accumulator=name,
        init=init,
        condition=tree.literal(value=False),
        step=value,
        result=body,
    )


def _bind(tree: Tree, target: Node, args: Args) -> Node | None:
    if not (isinstance(target, Ident) and target.name == "cel"):
        return None
    if not isinstance(args[0], Ident):
        raise Problem(
            "cel.bind() variable names must be simple identifiers",
            args[0].at,
            args[0].end,
        )
    name = args[0].name
    return _bind_value(tree, "bind", name, args[1], args[2], value=tree.ident(name))


def _opt_body(tree: Tree, macro: str, target: Node, args: Args) -> Node:
    if not isinstance(args[0], Ident):
        raise Problem(
            f"{macro}() variable name must be a simple identifier",
            args[0].at,
            args[0].end,
        )
    name = args[0].name
    return _bind_value(
        tree,
        macro,
        name,
        tree.method("value", tree.copy(target)),
        args[1],
        value=tree.ident(name),
    )


def _opt_map(tree: Tree, target: Node, args: Args) -> Node:
    return tree.call(
        "_?_:_",
        tree.method("hasValue", target),
        tree.call("optional.of", _opt_body(tree, "optMap", target, args)),
        tree.call("optional.none"),
    )


def _opt_flat_map(tree: Tree, target: Node, args: Args) -> Node:
    return tree.call(
        "_?_:_",
        tree.method("hasValue", target),
        _opt_body(tree, "optFlatMap", target, args),
        tree.call("optional.none"),
    )


def _sort_by(tree: Tree, target: Node, args: Args) -> Node:
    if isinstance(target, Literal | MapLiteral | StructLiteral):
        raise Problem(
            "sortBy can only be applied to a list, identifier, comprehension, call "
            "or select expression",
            target.at,
            target.end,
        )
    values = tree.ident(_SORT_INPUT)
    keys = _map(tree, tree.copy(values), args)
    return _bind_value(
        tree,
        "sortBy",
        _SORT_INPUT,
        target,
        tree.method("@sortByAssociatedKeys", tree.copy(values), keys),
        value=values,
    )


GLOBAL: Final[dict[tuple[str, int], Maker]] = {("has", 1): _has}
METHODS: Final[dict[tuple[str, int], Maker]] = {
    ("all", 2): _one_name(_all),
    ("all", 3): _two_names(_all),
    ("exists", 2): _one_name(_exists),
    ("exists", 3): _two_names(_exists),
    ("exists_one", 2): _one_name(_exists_one),
    ("exists_one", 3): _two_names(_exists_one),
    ("existsOne", 3): _two_names(_exists_one),
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("bind", 3): _bind,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
    ("sortBy", 2): _sort_by,
}
