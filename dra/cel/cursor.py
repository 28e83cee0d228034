"""Where a parser stands: its token, the ids of nodes, and how deep it is.

Positions and limits follow the reference's parser.
"""

from __future__ import annotations

from typing import Final

from dra.cel.ast import Call, Node
from dra.cel.lexer import Token
from dra.cel.source import Problem
from dra.errors import NotSupportedError

MAX_DEPTH: Final = 250
_MAX_COPIES: Final = 4_000
"""Nodes that macros copy; optMap of optMap of … doubles with every level."""


class Cursor:
    """What all rules of the grammar share; the parser adds the rules."""

    def __init__(self, toks: list[Token]) -> None:
        self._toks = toks
        self._at = 0
        self._tok = toks[0]
        self._last_id = 0
        self._copies = 0
        # How deep the reference's parser would be in its own rules.
        self._nesting = 0
        self._relations = 0
        self._sums = 0
        self._members = 0
        # Height of each node in the rules that the reference counts.
        self._height: dict[int, int] = {}
        # Start and end with the parentheses around, of nodes that have some.
        self._outside: dict[int, tuple[int, int]] = {}

    # --- tokens ---

    def advance(self) -> Token:
        token = self._tok
        self._at += 1
        self._tok = self._toks[self._at]
        return token

    def accept(self, kind: str) -> bool:
        if self._tok.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str) -> Token:
        if self._tok.kind != kind:
            raise self.unexpected(f"expecting '{kind.strip('<>')}'")
        token = self._tok
        if kind != "<EOF>":
            self.advance()
        return token

    def unexpected(self, wanted: str) -> Problem:
        token = self._tok
        return Problem(
            f"Syntax error: mismatched input '{token.text}' {wanted}",
            token.start,
            max(token.end, token.start + 1),
        )

    # --- nodes ---

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def next_copy_id(self) -> int:
        self._copies += 1
        if self._copies > _MAX_COPIES:
            raise NotSupportedError("macros that expand this much")
        return self.next_id()

    def _measure(self, node: Node, *parts: Node, counted: bool = False) -> None:
        heights = self._height
        height = max((heights.get(p.id, 0) for p in parts), default=0) + counted
        if height > MAX_DEPTH:
            raise Problem("max recursion depth exceeded", node.at, node.end)
        if height:
            heights[node.id] = height

    def _start(self, node: Node) -> int:
        return self._outside.get(node.id, (node.start,))[0]

    def _end(self, node: Node) -> int:
        return self._outside.get(node.id, (node.end,))[-1]

    def _operator(self, function: str, op: Token, *args: Node, counted: bool) -> Node:
        start, end = min(op.start, self._start(args[0])), self._end(args[-1])
        node = Call(self.next_id(), start, end, op.start, function, None, args)
        self._measure(node, *args, counted=counted)
        return node

    def _limit(self, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise Problem(
                f"expression recursion limit exceeded: {MAX_DEPTH}", self._tok.start
            )
        return depth
