"""Binary operators: the function that each calls, and how strongly it binds."""

from __future__ import annotations

from typing import Final, NamedTuple

from dra.cel.lexer import Token

OR, AND, RELATION, SUM, PRODUCT = 1, 2, 3, 4, 5
BINARY: Final = {
    "||": ("_||_", OR),
    "&&": ("_&&_", AND),
    "<": ("_<_", RELATION),
    "<=": ("_<=_", RELATION),
    ">": ("_>_", RELATION),
    ">=": ("_>=_", RELATION),
    "==": ("_==_", RELATION),
    "!=": ("_!=_", RELATION),
    "in": ("@in", RELATION),
    "+": ("_+_", SUM),
    "-": ("_-_", SUM),
    "*": ("_*_", PRODUCT),
    "/": ("_/_", PRODUCT),
    "%": ("_%_", PRODUCT),
}


class Pending(NamedTuple):
    """A binary operator that waits for its right side."""

    op: Token
    function: str
    strength: int


def binds(left: Pending, strength: int) -> bool:
    """Whether ``left`` is complete when an operator of ``strength`` follows."""
    # Chains of && and || stay together until something weaker comes.
    if left.strength == strength:
        return strength > AND
    return left.strength > strength
