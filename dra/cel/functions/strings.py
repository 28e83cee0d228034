"""Functions on strings, counted in code points."""

from __future__ import annotations

import re

from dra.cel import budget
from dra.cel import types as t
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError
from dra.cel.operators import type_name

_S, _I = t.STRING, t.INT
_STRINGS = t.list_of(t.STRING)
_PART = 4
"""Units for a string of its own."""
_LONG = 100
# What Go calls white space.
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007" + (
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_QUOTED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_TO_QUOTE = re.compile(r'[\a\b\f\n\r\t\v\\"]')


def declare(to: Declarations) -> None:
    to.method("contains", "contains_string", (_S, _S), t.BOOL, lambda a, b: b in a)
    to.method("endsWith", "ends_with_string", (_S, _S), t.BOOL, str.endswith)
    to.method("startsWith", "starts_with_string", (_S, _S), t.BOOL, str.startswith)
    to.method("charAt", "string_char_at_int", (_S, _I), _S, char_at)
    to.method("indexOf", "string_index_of_string", (_S, _S), _I, index_of)
    to.method("indexOf", "string_index_of_string_int", (_S, _S, _I), _I, index_of)
    to.method("lastIndexOf", "string_last_index_of_string", (_S, _S), _I, last_index_of)
    to.method(
        "lastIndexOf",
        "string_last_index_of_string_int",
        (_S, _S, _I),
        _I,
        last_index_of_from,
    )
    to.method("lowerAscii", "string_lower_ascii", (_S,), _S, lower_ascii)
    to.method("upperAscii", "string_upper_ascii", (_S,), _S, upper_ascii)
    to.method("trim", "string_trim", (_S,), _S, lambda s: s.strip(_SPACE))
    to.method("replace", "string_replace_string_string", (_S, _S, _S), _S, replace)
    to.method(
        "replace", "string_replace_string_string_int", (_S, _S, _S, _I), _S, replace
    )
    to.method("split", "string_split_string", (_S, _S), _STRINGS, split)
    to.method("split", "string_split_string_int", (_S, _S, _I), _STRINGS, split)
    to.method("substring", "string_substring_int", (_S, _I), _S, substring)
    to.method("substring", "string_substring_int_int", (_S, _I, _I), _S, substring)
    to.method("join", "list_join", (_STRINGS,), _S, join)
    to.method("join", "list_join_string", (_STRINGS, _S), _S, join)
    to.add("strings.quote", "strings_quote", (_S,), _S, lambda s: f'"{quote(s)}"')


def _bytes(text: str) -> bytes:
    """UTF-8; bytes out of URLs that are none stay as they are."""
    return text.encode("utf-8", "surrogateescape")


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def quote(text: str) -> str:
    """``text`` with the characters escaped that CEL has an escape for."""
    budget.spend_on_text(2 * len(text))
    return _TO_QUOTE.sub(lambda found: _QUOTED[found[0]], text)


def char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start)


def last_index_of(text: str, part: str) -> int:
    if not part:
        return len(text)
    # Shorter in UTF-8: no search, and so no complaint about an empty text.
    if len(_bytes(text)) < len(_bytes(part)):
        return -1
    return last_index_of_from(text, part, len(text) - 1)


def last_index_of_from(text: str, part: str, start: int) -> int:
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    if start >= len(text):
        return -1
    end = min(start + len(part), len(text))
    if len(part) < _LONG:
        return text.rfind(part, 0, end)
    # Python searches backwards in quadratic time, forwards in linear time.
    at = text[end - 1 :: -1].find(part[::-1])
    return -1 if at == -1 else end - at - len(part)


def lower_ascii(text: str) -> str:
    # Bytes know only the letters of ASCII.
    return _bytes(text).lower().decode("utf-8", "surrogateescape")


def upper_ascii(text: str) -> str:
    return _bytes(text).upper().decode("utf-8", "surrogateescape")


def replace(text: str, old: str, new: str, limit: int = -1) -> str:
    """Go's ``strings.Replace``: the first ``limit``, all when negative."""
    if len(new) > len(old):
        times = text.count(old)
        times = times if limit < 0 else min(times, limit)
        budget.spend_on_text(len(text) + times * (len(new) - len(old)))
    return str.replace(text, old, new, limit)


def split(text: str, separator: str, limit: int = -1) -> list[str]:
    """Go's ``strings.SplitN``: at most ``limit`` parts, all when negative."""
    if limit == 0:
        return []
    parts = text.count(separator) if limit < 0 else min(limit, len(text))
    budget.spend(parts * _PART)
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        if not 0 <= start <= len(text):
            raise _out_of_range(start)
        return text[start:]
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def join(parts: list[object], separator: str = "") -> str:
    for part in parts:
        if not isinstance(part, str):
            raise EvaluationError(f"join: invalid input of type {type_name(part)}")
    texts = [str(part) for part in parts]
    budget.spend_on_text(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)
