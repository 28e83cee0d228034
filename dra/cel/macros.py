"""Macros: calls that are rewritten while parsing.

Each maker takes the :class:`~dra.cel.expansions.Tree` (which hands out node ids),
the target and the arguments, and returns the expansion. ``None`` means "not this
macro after all"; a :class:`~dra.cel.source.Problem` means the arguments are
malformed. The expansions are those of the reference, node for node: cost and
typing depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dra.cel.ast import (
    Ident,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)
from dra.cel.expansions import Tree
from dra.cel.source import Problem

_OLD_ACCUMULATOR: Final = "__result__"
UNUSED: Final = "#unused"
_SORT_INPUT: Final = "@__sortBy_input__"


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
