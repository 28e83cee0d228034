"""What is known of a call's arguments, and what its cost says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dra.cel.cost.ranges import (
    ONE,
    REGEX_FACTOR,
    STRING_FACTOR,
    UNKNOWN,
    Range,
)
from dra.cel.cost.sizes import size_at
from dra.cel.types import Type


class Argument(NamedTuple):
    """An argument or receiver: its type, path, size, and value if literal."""

    type: Type
    path: list[str]
    known_size: Range | None
    literal: Any

    @property
    def size(self) -> Range:
        if self.known_size is not None:
            return self.known_size
        found = size_at(self.path)
        return UNKNOWN if found is None else found

    @property
    def computed_size(self) -> Range:
        return UNKNOWN if self.known_size is None else self.known_size

    def elements(self) -> Argument | None:
        """A stand-in for the elements, where the type says it has some."""
        if not self.type.params:
            return None
        path = [*self.path, "@items"] if self.path else []
        return Argument(self.type.params[0], path, None, None)


class CallCost(NamedTuple):
    """The cost of a call, its arguments included, and the size of the result."""

    cost: Range
    size: Range | None = None


type Target = Argument | None
type Args = list[Argument]
type Rule = Callable[[str, Target, Args], CallCost | None]
"""Of overload, receiver and arguments; None where it does not know."""


def traversal(size: Range) -> Range:
    """Looking at every character or byte once."""
    return size.scaled(STRING_FACTOR)


def wrapped(value: int) -> int:
    """Unsigned arithmetic of 64 bits wraps around."""
    return value % 2**64


def regex_cost(text: Range, pattern: Range) -> Range:
    """Running ``pattern`` over ``text``."""
    return traversal(text.plus(ONE)).times(pattern.scaled(REGEX_FACTOR))
