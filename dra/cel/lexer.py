"""From text to tokens.

One regular expression does the work; offsets count code points. String and
number literals become values in the parser, which knows where to complain.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dra.cel.source import Problem, printable

MAX_CODE_POINTS: Final = 100_000

RESERVED: Final = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "null",
        "package",
        "namespace",
        "return",
        "true",
        "var",
        "void",
        "while",
    ]
)


class Token(NamedTuple):
    """``kind`` is the text itself for operators and words of the grammar."""

    kind: str
    text: str
    start: int
    end: int


_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_STRING = (
    rf'[rR]"""(?s:.*?)"""|[rR]\'\'\'(?s:.*?)\'\'\'|"""(?:{_ESCAPE}|[^\\])*?"""'
    rf"|'''(?:{_ESCAPE}|[^\\])*?'''"
    rf'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
    rf'|"(?:{_ESCAPE}|[^\\"\n\r])*"|\'(?:{_ESCAPE}|[^\\\'\n\r])*\''
)
TOKEN = re.compile(
    r"(?P<space>(?:[\t \r\n\f]|//[^\n]*)+)"
    rf"|(?P<BYTES>[bB](?:{_STRING}))"
    rf"|(?P<STRING>{_STRING})"
    r"|(?P<DOUBLE>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
    r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<UINT>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])"
    r"|(?P<INT>0x[0-9a-fA-F]+|[0-9]+)"
    r"|(?P<IDENT>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>==|!=|<=|>=|&&|\|\||[<>\[\]{}().,\-!?:+*/%])"
    r"|(?P<ESCAPED>`[A-Za-z0-9_.\-/ ]+`)"
)
_WORDS: Final = frozenset({"in", "true", "false", "null"})


def tokens(text: str) -> list[Token]:
    """All tokens of ``text``, closed by one of kind ``<EOF>``.

    Raises :class:`~dra.cel.source.Problem` at the first character that starts
    no token.
    """
    if len(text) > MAX_CODE_POINTS:
        raise Problem(
            f"expression code point size exceeds limit: size: {len(text)}, "
            f"limit {MAX_CODE_POINTS}",
            0,
        )
    found: list[Token] = []
    at, size = 0, len(text)
    match = TOKEN.match
    while at < size:
        hit = match(text, at)
        if hit is None:
            raise Problem(
                "Syntax error: token recognition error at: "
                f"'{printable(text[at])}'{_hint(text, at)}",
                at,
            )
        kind, end = hit.lastgroup, hit.end()
        if kind == "ESCAPED":
            raise Problem("unsupported syntax: '`'", at, end)
        if kind != "space":
            word = hit.group()
            if kind == "op" or (kind == "IDENT" and word in _WORDS):
                kind = word
            found.append(Token(kind or "", word, at, end))
        at = end
    found.append(Token("<EOF>", "<EOF>", size, size))
    return found


def _hint(text: str, at: int) -> str:
    if text[at] in "\"'":
        return " (the string is not closed, or has an unknown escape)"
    if text[at] in "&|=":
        return f" (did you mean '{text[at] * 2}'?)"
    return ""
