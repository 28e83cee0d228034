"""From tokens to the syntax tree: precedence climbing, one pass.

Positions, limits and wording follow the reference's parser. Recovery after a
syntax error is not attempted: the first one is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dra.cel import literals, macros
from dra.cel.ast import (
    Call,
    Entry,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)
from dra.cel.cursor import Cursor
from dra.cel.expansions import Tree
from dra.cel.lexer import RESERVED, Token, tokens
from dra.cel.precedence import AND, BINARY, RELATION, SUM, Pending, binds
from dra.cel.source import Problem

_EXPECTED = (
    "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, "
    "NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


def parse(text: str) -> Node:
    """The tree of ``text``, macros expanded.

    Raises :class:`~dra.cel.source.Problem` for text outside the language.
    """
    parser = _Parser(tokens(text))
    root = parser.expression()
    parser.expect("<EOF>")
    return root


class _Parser(Cursor):
    """The rules of the grammar."""

    # Three Python frames for one level of nesting: 250 levels fit the default
    # recursion limit.

    def expression(self) -> Node:
        """``a || b && c ? d : e``"""
        self._nesting += 1
        self._limit(self._nesting)
        node = self._operators()
        if self._tok.kind == "?":
            op = self.advance()
            yes = self._operators()
            self.expect(":")
            no = self.expression()
            node = self._operator("_?_:_", op, node, yes, no, counted=True)
        self._nesting -= 1
        return node

    def _operators(self) -> Node:
        """Everything binary, by binding strength."""
        relations, sums = self._relations, self._sums
        self._relations = self._limit(relations + 1)
        self._sums = self._limit(sums + 1)
        operands: list[Node] = []
        pending: list[Pending] = []
        while True:
            sign, count = self._signs()
            parse_primary = _PRIMARY.get(self._tok.kind)
            if parse_primary is None:
                raise self.unexpected(_EXPECTED)
            if self._starts_message():
                parse_primary = _Parser._message
            node = parse_primary(self, sign if count == 0 else None)
            if self._tok.kind in (".", "["):
                node = self._member(node)
            if count % 2 and sign is not None:
                function = "!_" if sign.kind == "!" else "-_"
                node = self._operator(function, sign, node, counted=False)
            elif count and sign is not None:
                self._outside[node.id] = (sign.start, self._end(node))
            operands.append(node)
            entry = BINARY.get(self._tok.kind)
            if entry is None:
                break
            function, strength = entry
            while pending and binds(pending[-1], strength):
                self._reduce(operands, pending)
            pending.append(Pending(self.advance(), function, strength))
            # Left-recursive rules nest once per operator in the reference.
            if strength > RELATION:
                self._sums = self._limit(self._sums + 1)
                continue
            self._sums = sums + 1
            if strength == RELATION:
                self._relations = self._limit(self._relations + 1)
            else:
                self._relations = relations + 1
        while pending:
            self._reduce(operands, pending)
        self._relations, self._sums = relations, sums
        return operands[0]

    def _signs(self) -> tuple[Token | None, int]:
        """The run of ``!`` or ``-`` before an operand, and how many count.

        One minus before a number belongs to the literal and counts as none.
        """
        kind = self._tok.kind
        if kind not in ("!", "-"):
            return None, 0
        first = self.advance()
        if kind == "-" and self._tok.kind in ("INT", "DOUBLE"):
            return first, 0
        count = 1
        while self._tok.kind == kind:
            self.advance()
            count += 1
        return first, count

    def _reduce(self, operands: list[Node], pending: list[Pending]) -> None:
        last = pending.pop()
        if last.strength > AND:
            if pending and SUM <= pending[-1].strength < last.strength:
                self._sums -= 1
            right, left = operands.pop(), operands.pop()
            operands.append(
                self._operator(last.function, last.op, left, right, counted=True)
            )
            return
        ops = [last.op]
        while pending and pending[-1].strength == last.strength:
            ops.append(pending.pop().op)
        ops.reverse()
        terms = operands[-len(ops) - 1 :]
        del operands[-len(ops) - 1 :]
        operands.append(self._balance(last.function, terms, ops))

    def _balance(self, function: str, terms: list[Node], ops: list[Token]) -> Node:
        """A balanced tree of a chain, so that long chains stay shallow."""

        def build(low: int, high: int) -> Node:
            middle = (low + high + 1) // 2
            left = terms[middle] if middle == low else build(low, middle - 1)
            right = terms[middle + 1] if middle == high else build(middle + 1, high)
            return self._operator(function, ops[middle], left, right, counted=False)

        return build(0, len(ops) - 1)

    def _member(self, node: Node) -> Node:
        """``.field``, ``.?field``, ``.method(...)``, ``[index]``, ``[?index]``"""
        members = self._members
        self._members += 1
        while self._tok.kind in (".", "["):
            self._members = self._limit(self._members + 1)
            op = self.advance()
            if op.kind == "[":
                function = "_[?_]" if self.accept("?") else "_[_]"
                index = self.expression()
                end = self.expect("]").end
                place = (self.next_id(), self._start(node), end, op.start)
                args: tuple[Node, ...] = (node, index)
                call = Call(*place, function, None, args)
                self._measure(call, *args, counted=True)
                node = call
                continue
            optional = self.accept("?")
            if self._tok.kind != "IDENT":
                raise self.unexpected("expecting IDENTIFIER")
            name = self.advance()
            if self._tok.kind != "(" or optional:
                node = self._field(node, op, name, optional=optional)
                continue
            opening = self.advance()
            items: list[Node] = []
            while self._tok.kind != ")":
                items.append(self.expression())
                if self._tok.kind != ",":
                    break
                self.advance()
                if self._tok.kind == ")":
                    raise self.unexpected(_EXPECTED)
            end = self.expect(")").end
            args = tuple(items)
            place = (self.next_id(), self._start(node), end, opening.start)
            call = Call(*place, name.text, node, args)
            self._measure(call, node, *args, counted=True)
            maker = macros.METHODS.get((name.text, len(args)))
            node = self._expand(maker, call, node)
        self._members = members
        return node

    def _field(self, operand: Node, dot: Token, name: Token, *, optional: bool) -> Node:
        node: Node
        place = (self.next_id(), self._start(operand), name.end, dot.start)
        if optional:
            field = Literal(self.next_id(), name.start, name.end, name.start, name.text)
            node = Call(*place, "_?._", None, (operand, field))
        else:
            node = Select(*place, operand, name.text)
        self._measure(node, operand, counted=True)
        return node

    def _expand(self, maker: macros.Maker | None, call: Call, target: Node) -> Node:
        if maker is None:
            return call
        expansion = maker(
            Tree(self.next_id, self.next_copy_id, call), target, call.args
        )
        if expansion is None:
            return call
        if call.id in self._height:
            self._height[expansion.id] = self._height[call.id]
        return expansion

    # --- operands: each takes the minus sign that belongs to a number ---

    def _parenthesis(self, _sign: Token | None) -> Node:
        start = self.advance().start
        node = self.expression()
        self._outside[node.id] = (start, self.expect(")").end)
        return node

    def _word(self, _sign: Token | None) -> Node:
        token = self.advance()
        value = {"true": True, "false": False, "null": None}[token.kind]
        return self._literal(token, value)

    def _ident(self, _sign: Token | None) -> Node:
        first = self.advance()
        token, name = first, first.text
        if first.kind == ".":
            if self._tok.kind != "IDENT":
                raise self.unexpected("expecting IDENTIFIER")
            token = self.advance()
            name = f".{token.text}"
        if token.text in RESERVED:
            raise Problem(f"reserved identifier: {token.text}", first.start, token.end)
        if self._tok.kind != "(":
            return Ident(self.next_id(), first.start, token.end, token.start, name)
        op = self.advance()
        items: list[Node] = []
        while self._tok.kind != ")":
            items.append(self.expression())
            if self._tok.kind != ",":
                break
            self.advance()
            if self._tok.kind == ")":
                raise self.unexpected(_EXPECTED)
        end = self.expect(")").end
        args = tuple(items)
        call = Call(self.next_id(), first.start, end, op.start, name, None, args)
        self._measure(call, *args)
        return self._expand(macros.GLOBAL.get((name, len(args))), call, call)

    def _starts_message(self) -> bool:
        at, toks = self._at, self._toks
        at += toks[at].kind == "."
        if toks[at].kind != "IDENT":
            return False
        at += 1
        while toks[at].kind == "." and toks[at + 1].kind == "IDENT":
            at += 2
        return toks[at].kind == "{"

    def _message(self, _sign: Token | None) -> Node:
        parts: list[str] = []
        start = self._tok.start
        while self._tok.kind != "{":
            parts.append(self.advance().text)
        op = self.advance()
        name = "".join(parts)
        values: list[Node] = []
        while self._tok.kind not in ("}", ","):
            self.accept("?")
            if self._tok.kind != "IDENT":
                raise self.unexpected("expecting IDENTIFIER")
            self.advance()
            self.expect(":")
            values.append(self.expression())
            if self._tok.kind != ",":
                break
            self.advance()
        if not values:
            self.accept(",")
        end = self.expect("}").end
        node = StructLiteral(self.next_id(), start, end, op.start, name, tuple(values))
        self._measure(node, *values)
        return node

    def _list(self, _sign: Token | None) -> Node:
        op = self.advance()
        elements: list[Node] = []
        optional: set[int] = set()
        while self._tok.kind not in ("]", ","):
            if self.accept("?"):
                optional.add(len(elements))
            elements.append(self.expression())
            if self._tok.kind != ",":
                break
            self.advance()
        if not elements:
            self.accept(",")
        end = self.expect("]").end
        place = (self.next_id(), op.start, end, op.start)
        node = ListLiteral(*place, tuple(elements), frozenset(optional))
        self._measure(node, *elements)
        return node

    def _map(self, _sign: Token | None) -> Node:
        op = self.advance()
        entries: list[Entry] = []
        while self._tok.kind not in ("}", ","):
            optional = self.accept("?")
            key = self.expression()
            colon = self.expect(":")
            value = self.expression()
            entries.append(Entry(key, value, optional, colon.start))
            if self._tok.kind != ",":
                break
            self.advance()
        if not entries:
            self.accept(",")
        end = self.expect("}").end
        node = MapLiteral(self.next_id(), op.start, end, op.start, tuple(entries))
        self._measure(node, *(part for e in entries for part in (e.key, e.value)))
        return node

    def _literal(self, token: Token, value: object, start: int | None = None) -> Node:
        start = token.start if start is None else start
        return Literal(self.next_id(), start, token.end, start, value)

    def _number(self, sign: Token | None) -> Node:
        token = self.advance()
        start = token.start if sign is None else sign.start
        text = token.text if sign is None else f"-{token.text}"
        value: int | float | None
        if token.kind == "INT":
            value, kind = literals.read_int(text), "int"
        elif token.kind == "UINT":
            value, kind = literals.read_uint(text), "uint"
        else:
            value, kind = literals.read_double(text), "double"
        if value is None:
            raise Problem(f"invalid {kind} literal", start, token.end)
        return self._literal(token, value, start)

    def _text(self, _sign: Token | None) -> Node:
        token = self.advance()
        try:
            value: str | bytes = (
                literals.read_string(token.text)
                if token.kind == "STRING"
                else literals.read_bytes(token.text)
            )
        except ValueError as error:
            raise Problem(str(error), token.start, token.end) from error
        return self._literal(token, value)


_PRIMARY: Final[dict[str, Callable[[_Parser, Token | None], Node]]] = {
    "IDENT": _Parser._ident,
    ".": _Parser._ident,
    "(": _Parser._parenthesis,
    "[": _Parser._list,
    "{": _Parser._map,
    "INT": _Parser._number,
    "UINT": _Parser._number,
    "DOUBLE": _Parser._number,
    "STRING": _Parser._text,
    "BYTES": _Parser._text,
    "true": _Parser._word,
    "false": _Parser._word,
    "null": _Parser._word,
}
