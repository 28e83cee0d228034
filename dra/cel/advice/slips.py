"""Hints for text that is no CEL: what other languages write, and what was forgotten."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from dra.cel.advice import words
from dra.cel.errors import Issue
from dra.cel.lexer import TOKEN, Token


class Hint(NamedTuple):
    """What to do, and the text for ``start`` to ``end`` that does it, if there is one."""

    message: str
    start: int
    end: int
    suggestion: str = ""


_WORDS: Final = {"and": "&&", "or": "||", "is": "==", "eq": "==", "ne": "!="}
_METHODS: Final = {
    "startswith": "startsWith",
    "endswith": "endsWith",
    "contains": "contains",
    "matches": "matches",
    "like": "matches",
}
_CURLY: Final = "“”„‟«»‘’‚‛"
_VALUE: Final = re.compile(r"[A-Za-z0-9_.+/:-]*[A-Za-z0-9_+]")
_OPERANDS: Final = frozenset({"IDENT", "STRING", "INT", "DOUBLE", "UINT", ")", "]"})
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}


class Slip:
    """A place in a text where it stops being CEL."""

    def __init__(self, text: str, at: int, message: str) -> None:
        self.text = text
        self.message = message
        self.tokens = loose_tokens(text)
        self.at = at
        self.place = next(
            (i for i, token in enumerate(self.tokens) if token.start >= at),
            len(self.tokens) - 1,
        )

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def other(self, steps: int) -> Token | None:
        """The token so many places on."""
        place = self.place + steps
        return self.tokens[place] if 0 <= place < len(self.tokens) else None


def loose_tokens(text: str) -> Sequence[Token]:
    """The tokens of any text; a character that starts none has the kind ``?``."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        hit = TOKEN.match(text, at)
        if hit is None:
            found.append(Token("?", text[at], at, at + 1))
            at += 1
            continue
        kind = hit.lastgroup or ""
        if kind != "space":
            word = hit.group()
            found.append(Token(word if kind == "op" else kind, word, at, hit.end()))
        at = hit.end()
    found.append(Token("<EOF>", "", len(text), len(text)))
    return found


def hint(text: str, issue: Issue) -> Hint | None:
    """What to write instead, if the text is a known slip."""
    if issue.start is None:
        return None
    slip = Slip(text, issue.start, issue.message)
    return next((found for rule in _RULES if (found := rule(slip))), None)


# --- characters ---


def _character(slip: Slip) -> Hint | None:
    token = slip.token
    if token.kind != "?":
        return None
    start = token.start
    match token.text:
        case "=":
            return _single_equals(slip)
        case "&" | "|" as char:
            return Hint(f"Write {char * 2}.", start, start + 1, char * 2)
        case ";":
            return Hint("Leave out the semicolon.", start, start + 1)
        case '"' | "'":
            return _string(slip)
    if token.text in _CURLY:
        return _curly(slip)
    return None


def _single_equals(slip: Slip) -> Hint:
    token, before = slip.token, slip.other(-1)
    start, end = token.start, token.end
    if before is not None and before.end == start and before.text in ("==", "!="):
        return Hint(f"Write {before.text}.", before.start, end, before.text)
    pair = slip.text[start : start + 2]
    if pair in ("=>", "=<"):
        meant = pair[::-1]
        return Hint(f"Write {meant}.", start, start + 2, meant)
    if pair == "=~" and before is not None:
        return _method(before, slip.other(2), "matches", start + 2)
    return Hint("Write == to compare.", start, end, "==")


def _string(slip: Slip) -> Hint:
    start = slip.at
    quote = slip.text[start]
    line = slip.text[start:].split("\n", 1)[0]
    closing = line.find(quote, 1)
    if closing < 0:
        return Hint(
            f"The text that begins here is not closed with {quote}.",
            start,
            start + len(line),
            f"{line.rstrip()}{quote}",
        )
    end = start + closing + 1
    return Hint(
        "A backslash begins an escape, and this one is none. With r in front the text is "
        "taken as it is.",
        start,
        end,
        f"r{slip.text[start:end]}",
    )


def _curly(slip: Slip) -> Hint:
    start = slip.token.start
    end = next(
        (i + 1 for i in range(start + 1, len(slip.text)) if slip.text[i] in _CURLY),
        start + 1,
    )
    inner = slip.text[start + 1 : end - 1]
    return Hint('Texts go in straight quotes: "…".', start, end, words.literal(inner))


# --- words and signs ---


def _word(slip: Slip) -> Hint | None:
    token, before, after = slip.token, slip.other(-1), slip.other(1)
    if before is not None and before.text.lower() == "not" and before.kind == "IDENT":
        return Hint("Write ! for not.", before.start, token.start, "!")
    if token.kind != "IDENT":
        return None
    word = token.text.lower()
    if word in _WORDS:
        meant = _WORDS[word]
        return Hint(f"Write {meant} for {token.text}.", token.start, token.end, meant)
    if word in _METHODS and before is not None:
        return _method(before, after, _METHODS[word], token.end)
    if word == "not" and after is not None and after.text == "in":
        return Hint("Write !(… in …) for not in.", token.start, after.end)
    return None


def _method(before: Token, after: Token | None, name: str, end: int) -> Hint:
    """``name`` as a method, where it was written between two values."""
    message = f'Write .{name}("…") here.'
    if after is None or after.kind != "STRING":
        return Hint(message, before.end, end)
    return Hint(message, before.end, after.end, f".{name}({after.text})")


def _escaped(slip: Slip) -> Hint | None:
    """A name in backticks."""
    token, before = slip.token, slip.other(-1)
    if token.kind != "ESCAPED":
        return None
    key = f"[{words.literal(token.text.strip('`'))}]"
    message = f"Names with special characters go in brackets and quotes: {key}"
    if before is None or before.text != ".":
        return Hint(message, token.start, token.end)
    return Hint(message, before.start, token.end, key)


def _signs(slip: Slip) -> Hint | None:
    token, before = slip.token, slip.other(-1)
    if before is not None and (before.text, token.text) == ("<", ">"):
        return Hint("Write != for unequal.", before.start, token.end, "!=")
    return None


def _reserved(slip: Slip) -> Hint | None:
    if slip.token.text != "if":
        return None
    return Hint(
        "There is no if: write condition ? one : other.",
        slip.token.start,
        slip.token.end,
    )


# --- values without quotes, quotes in values ---


def _unquoted(slip: Slip) -> Hint | None:
    """``80Gi``, ``1g.5gb``: a number right before letters."""
    token, before = slip.token, slip.other(-1)
    if (
        before is None
        or before.end != token.start
        or token.kind not in ("IDENT", "DOUBLE")
    ):
        return None
    if before.kind not in ("INT", "DOUBLE", "UINT"):
        return None
    run = _VALUE.match(slip.text, before.start)
    assert run is not None
    value = words.literal(run.group())
    return Hint(f"A text goes in quotes: {value}.", run.start(), run.end(), value)


def _inner_quotes(slip: Slip) -> Hint | None:
    """``"NVIDIA "A10" 24GB"``"""
    token, before = slip.token, slip.other(-1)
    if before is None or before.kind != "STRING" or before.end != token.start:
        return None
    if token.kind not in ("IDENT", "INT", "DOUBLE", "?", "UINT"):
        return None
    quote = before.text[0]
    line_end = slip.text.find("\n", before.start)
    last = slip.text.rfind(quote, before.end, None if line_end < 0 else line_end)
    if last < 0 or quote not in "\"'":
        return None
    value = words.literal(slip.text[before.start + 1 : last])
    return Hint(
        f"Quotes inside of a text need a backslash: {value}.",
        before.start,
        last + 1,
        value,
    )


# --- brackets and gaps ---


def _has(slip: Slip) -> Hint | None:
    """``has(a["x"])``: the macro takes only fields."""
    if "has()" not in slip.message:
        return None
    opening = next(
        (
            i
            for i in range(slip.place, 0, -1)
            if slip.tokens[i].kind == "(" and slip.tokens[i - 1].text == "has"
        ),
        None,
    )
    if opening is None:
        return None
    closing = _closing(slip.tokens, opening)
    if closing is None or closing < slip.place:
        return None
    start, end = slip.tokens[opening - 1].start, slip.tokens[closing].end
    inside = slip.tokens[opening + 1 : closing]
    if len(inside) > 3 and inside[-1].kind == "]" and inside[-2].kind == "STRING":
        map_ = slip.text[inside[0].start : inside[-3].start]
        suggestion = f"{inside[-2].text} in {map_.rstrip()}"
        return Hint(
            f"has() takes a field, as in has(a.b). Write {suggestion}.",
            start,
            end,
            suggestion,
        )
    return Hint("has() takes a field, as in has(a.b).", start, end)


def _closing(tokens: Sequence[Token], opening: int) -> int | None:
    depth = 0
    for place in range(opening, len(tokens)):
        kind = tokens[place].kind
        depth += (kind in _OPENING) - (kind in _OPENING.values())
        if depth == 0:
            return place
    return None


def _list_in_parentheses(slip: Slip) -> Hint | None:
    """``x in ("a", "b")``"""
    if slip.token.text != ",":
        return None
    for place in range(slip.place, 0, -1):
        if slip.tokens[place].kind != "(":
            continue
        closing = _closing(slip.tokens, place)
        if slip.tokens[place - 1].text != "in" or closing is None:
            return None
        start, end = slip.tokens[place].start, slip.tokens[closing].end
        suggestion = f"[{slip.text[start + 1 : end - 1]}]"
        return Hint("A list goes in square brackets.", start, end, suggestion)
    return None


def _brackets(slip: Slip) -> Hint | None:
    opened: list[Token] = []
    for token in slip.tokens:
        if token.kind in _OPENING:
            opened.append(token)
        elif token.kind in _OPENING.values():
            if not opened or _OPENING[opened[-1].kind] != token.kind:
                if token.start == slip.token.start:
                    message = f"This {token.text} closes nothing."
                    return Hint(message, token.start, token.end)
                return None
            opened.pop()
    if not opened or slip.token.kind != "<EOF>":
        return None
    last = opened[-1]
    rest = slip.text[last.start :].rstrip()
    closing = "".join(_OPENING[token.kind] for token in reversed(opened))
    return Hint(
        f"The {last.text} that begins here is not closed.",
        last.start,
        len(slip.text),
        rest + closing,
    )


def _gap(slip: Slip) -> Hint | None:
    token, before = slip.token, slip.other(-1)
    if before is None:
        return Hint(
            'Write a condition, such as device.driver == "…".', 0, len(slip.text)
        )
    if before.kind in _OPERANDS and token.kind in _OPERANDS | {"?"}:
        if token.kind in (")", "]", "?"):
            return None
        return Hint("An operator such as && is missing here.", before.start, token.end)
    if before.kind not in _OPERANDS and token.kind not in ("?",):
        return Hint(
            f"Something is missing after {before.text}.", before.start, before.end
        )
    return None


_RULES: Final[tuple[Callable[[Slip], Hint | None], ...]] = (
    _has,
    _character,
    _escaped,
    _word,
    _signs,
    _reserved,
    _inner_quotes,
    _unquoted,
    _list_in_parentheses,
    _brackets,
    _gap,
)
