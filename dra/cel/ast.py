"""The syntax tree.

Every node has an ``id`` (unique in its tree), the offsets ``start`` and ``end``
of its text, and ``at``, the offset that messages point to: the operator, the dot,
the bracket, or the first character. Macros are expanded while parsing, the way
the reference does it, because cost and typing are defined on the expansion.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Node(msgspec.Struct, frozen=True, eq=False):
    """An expression."""

    id: int
    start: int
    end: int
    at: int


class Literal(Node, frozen=True, eq=False):
    """A constant; ``value`` is a CEL value (see ``dra.cel.values``)."""

    value: Any


class Ident(Node, frozen=True, eq=False):
    name: str


class Select(Node, frozen=True, eq=False):
    """``operand.field``; ``test`` makes it ``has(operand.field)``."""

    operand: Node
    field: str
    test: bool = False


class Call(Node, frozen=True, eq=False):
    """A function, method (``target`` set) or operator (``_+_``)."""

    function: str
    target: Node | None
    args: tuple[Node, ...]


class ListLiteral(Node, frozen=True, eq=False):
    """``optional`` holds the indexes of elements written ``?x``."""

    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


class Entry(msgspec.Struct, frozen=True, eq=False):
    key: Node
    value: Node
    optional: bool
    at: int


class MapLiteral(Node, frozen=True, eq=False):
    entries: tuple[Entry, ...]


class StructLiteral(Node, frozen=True, eq=False):
    """``type_name{...}``: a message, of which DRA declares none."""

    type_name: str
    values: tuple[Node, ...]


class Comprehension(Node, frozen=True, eq=False):
    """A fold over a range; what every looping macro turns into.

    ``macro`` names the macro it came from.
    """

    macro: str
    iter_range: Node
    iter_var: str
    iter_var2: str
    accu_var: str
    accu_init: Node
    condition: Node
    step: Node
    result: Node


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of ``node`` in the order of evaluation."""
    match node:
        case Select(operand=operand):
            return (operand,)
        case Call(target=target, args=args):
            return args if target is None else (target, *args)
        case ListLiteral(elements=elements):
            return elements
        case MapLiteral(entries=entries):
            return tuple(part for e in entries for part in (e.key, e.value))
        case StructLiteral(values=values):
            return values
        case Comprehension():
            return (
                node.iter_range,
                node.accu_init,
                node.condition,
                node.step,
                node.result,
            )
        case _:
            return ()


def chained(node: Call) -> list[Node]:
    """The terms of a chain of ``&&`` or ``||``, which is parsed to a balanced tree."""
    terms: list[Node] = []
    pending: list[Node] = [node]
    while pending:
        term = pending.pop()
        if isinstance(term, Call) and term.function == node.function:
            pending.extend(reversed(term.args))
        else:
            terms.append(term)
    return terms
