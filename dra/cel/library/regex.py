"""``matches``, ``find`` and ``findAll``: RE2, the syntax of Go's ``regexp``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import re2

from dra.cel import types as t
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError

_S = t.STRING
_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = False
# Where Go's parser and RE2 part: Go has no \C.
_NOT_IN_GO: Final = re.compile(r"(?<!\\)(?:\\\\)*\\C")


def declare(to: Declarations) -> None:
    to.add("matches", "matches", (_S, _S), t.BOOL, matches)
    to.method("matches", "matches_string", (_S, _S), t.BOOL, matches)
    to.method("find", "string_find_string", (_S, _S), _S, find)
    strings = t.list_of(_S)
    to.method("findAll", "string_find_all_string", (_S, _S), strings, find_all)
    to.method(
        "findAll", "string_find_all_string_int", (_S, _S, t.INT), strings, find_all
    )


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """The compiled pattern. Raises :class:`EvaluationError` when it is none."""
    if _NOT_IN_GO.search(pattern):
        raise EvaluationError("error parsing regexp: invalid escape sequence: `\\C`")
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        reason = error.args[0] if error.args else "invalid pattern"
        if isinstance(reason, bytes):
            reason = reason.decode(errors="replace")
        raise EvaluationError(f"error parsing regexp: {reason}") from error


def _searchable(text: str) -> str:
    """RE2 takes only UTF-8; other bytes match as the replacement character."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def matches(text: str, pattern: str) -> bool:
    return compiled(pattern).search(_searchable(text)) is not None


def find(text: str, pattern: str) -> str:
    """The leftmost match, or the empty string."""
    found = compiled(pattern).search(_searchable(text))
    return "" if found is None else str(found.group())


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    """All matches from the left that do not overlap; ``limit`` < 0 means all.

    As in Go, an empty match right after a match does not count.
    """
    regex = compiled(pattern)
    text = _searchable(text)
    found: list[str] = []
    at = 0
    last_end = -1
    while at <= len(text) and (limit < 0 or len(found) < limit):
        hit = regex.search(text, at)
        if hit is None:
            break
        start, end = hit.span()
        if end > start or start != last_end:
            found.append(text[start:end])
        last_end = end
        at = end if end > start else end + 1
    return found
