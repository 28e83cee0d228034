"""Building the nodes that a macro expands to."""

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
from dra.cel.values import Value

ACCUMULATOR: Final = "@result"


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
