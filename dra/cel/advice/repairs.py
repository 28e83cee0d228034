"""Replacement texts that were tried before anybody is offered them."""

from __future__ import annotations

from collections.abc import Iterable

from dra.cel.advice.asked import Asked
from dra.cel.ast import Node
from dra.cel.devices import device_value
from dra.cel.errors import CompileError, EvaluationError
from dra.cel.program import Program, compile  # noqa: A004 - the word of the field
from dra.errors import NotSupportedError


def replaced(asked: Asked, node: Node, text: str) -> Program | None:
    """The expression with ``text`` for ``node``; None if it does not compile.

    None also after :data:`~dra.cel.advice.asked.MOST_TRIES` attempts.
    """
    if asked.tries <= 0:
        return None
    asked.tries -= 1
    before, after = asked.text[: node.start], asked.text[node.end :]
    try:
        return compile(f"{before}{text}{after}", features=asked.program.features)
    except (CompileError, NotSupportedError):
        return None


def excludes(program: Program, asked: Asked, rows: Iterable[int]) -> bool:
    """Whether none of the devices at ``rows`` matches or fails."""
    for row in rows:
        device = device_value(asked.table.device(row), lists=asked.table.lists)
        try:
            if program.evaluate_value(device):
                return False
        except (EvaluationError, NotSupportedError):
            return False
    return True
