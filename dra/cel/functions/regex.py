"""``matches``, ``find`` and ``findAll``: RE2, the syntax of Go's ``regexp``.

RE2 turns a pattern into a program that reads bytes. Where pattern and text are
ASCII, which is nearly always, the program for single bytes gives the same answers
as the one for UTF-8, and for classes of letters it is a hundred times smaller.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
from collections.abc import Iterator
from typing import Any, Final

import re2

from dra.cel import budget
from dra.cel import types as t
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError
from dra.errors import NotSupportedError

_S = t.STRING
# Where Go's parser and RE2 part: Go has no \C.
_NOT_IN_GO: Final = re.compile(r"(?<!\\)(?:\\\\)*\\C")
_NOT_UTF8: Final = re.compile(r"[\ud800-\udfff]")
"""RE2 takes only UTF-8; other bytes of a text match as the replacement character."""
_TOO_LARGE: Final = "pattern too large"
_MEMORY: Final = 4 * 1024 * 1024
"""Bytes for one program and its states; ten times what patterns need."""
_KEPT_PATTERNS: Final = 256
_KEPT_INSTRUCTIONS: Final = 1_000_000
_STEPS_PER_UNIT: Final = 10
"""Instructions on one character in a tenth of a microsecond, at worst."""
_ASCII_UNITS: Final = 3.0
_UTF8_UNITS: Final = 50.0
"""For making one instruction; those of classes in UTF-8 take long to find."""
_LOOKED_UP: Final = 20
_FOUND: Final = 20
_READ_PER_UNIT: Final = 30
"""Bytes that are read again to find the next match, and find none."""
_REFUSED: Final = 800
"""For finding out that a text is no pattern."""


def declare(to: Declarations) -> None:
    to.add("matches", "matches", (_S, _S), t.BOOL, matches)
    to.method("matches", "matches_string", (_S, _S), t.BOOL, matches)
    to.method("find", "string_find_string", (_S, _S), _S, find)
    strings = t.list_of(_S)
    to.method("findAll", "string_find_all_string", (_S, _S), strings, find_all)
    to.method(
        "findAll", "string_find_all_string_int", (_S, _S, t.INT), strings, find_all
    )


def _options(encoding: Any) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MEMORY
    options.encoding = encoding
    return options


_BYTES: Final = _options(re2.Options.Encoding.LATIN1)
_UTF8: Final = _options(re2.Options.Encoding.UTF8)


class _Program:
    """A pattern for texts in one encoding."""

    __slots__ = ("cost", "regex", "size")

    def __init__(self, regex: Any, units: float) -> None:
        self.regex = regex
        self.size: int = regex.programsize
        self.cost = int(self.size * units)


class Pattern:
    """A pattern that was found valid; its programs are made as texts need them."""

    __slots__ = ("_ascii", "_text", "_utf8", "cost", "size")

    def __init__(self, text: str) -> None:
        """Raises :class:`EvaluationError` when ``text`` is no pattern."""
        self._text = text
        self._ascii: _Program | None = None
        self._utf8: _Program | None = None
        if _NOT_IN_GO.search(text):
            message = "error parsing regexp: invalid escape sequence: `\\C`"
            raise EvaluationError(message)
        if _NOT_UTF8.search(text):
            raise EvaluationError("error parsing regexp: invalid UTF-8")
        if text.isascii():
            # An error: no pattern, or one that names characters beyond a byte.
            with contextlib.suppress(re2.error):
                self._ascii = _Program(_made(text.encode(), _BYTES), _ASCII_UNITS)
        first = self._ascii
        if first is None:
            first = self._utf8 = self._for_utf8()
        self.size = first.size
        self.cost = first.cost

    def _for_utf8(self) -> _Program:
        try:
            return _Program(_made(self._text, _UTF8), _UTF8_UNITS)
        except re2.error as error:
            reason = error.args[0] if error.args else "invalid pattern"
            if isinstance(reason, bytes):
                reason = reason.decode(errors="replace")
            raise EvaluationError(f"error parsing regexp: {reason}") from error

    def _for(self, text: str) -> tuple[Any, str | bytes]:
        """The program for ``text``, and what it reads."""
        program = self._ascii
        if program is not None and text.isascii():
            budget.spend(len(text) * program.size // _STEPS_PER_UNIT)
            return program.regex, text.encode()
        wide = self._utf8
        if wide is None:
            wide = self._utf8 = self._for_utf8()
        if program is not None:
            budget.spend(wide.cost)
        budget.spend(len(text) * wide.size // _STEPS_PER_UNIT)
        return wide.regex, _NOT_UTF8.sub("\ufffd", text)

    def matches(self, text: str) -> bool:
        regex, source = self._for(text)
        return regex.search(source) is not None

    def find(self, text: str) -> Iterator[str]:
        """The matches from the left that do not overlap.

        As in Go, an empty match right after a match does not count.
        """
        regex, source = self._for(text)
        per_unit = _READ_PER_UNIT if isinstance(source, bytes) else _READ_PER_UNIT // 3
        last_end = -1
        for hit in regex.finditer(source):
            start, end = hit.span()
            if end > start or start != last_end:
                yield text[start:end]
            last_end = end
            # The rest may be read again to find the next one.
            budget.spend(_FOUND + (len(text) - end) // per_unit)


def _made(text: str | bytes, options: Any) -> Any:
    try:
        return re2.compile(text, options)
    except re2.error as error:
        if _TOO_LARGE in str(error):
            raise NotSupportedError("regular expressions of this size") from error
        raise
    finally:
        # RE2 for Python keeps patterns too, whatever their size.
        re2.purge()


class _Patterns:
    """The patterns used lately; all are forgotten when there are too many."""

    def __init__(self) -> None:
        self._known: dict[str, Pattern] = {}
        self._instructions = 0
        self._lock = threading.Lock()

    def get(self, text: str) -> Pattern:
        """Raises :class:`EvaluationError` when ``text`` is no pattern."""
        known = self._known.get(text)
        if known is not None:
            return known
        pattern = Pattern(text)
        with self._lock:
            self._instructions += pattern.size
            if (
                len(self._known) >= _KEPT_PATTERNS
                or self._instructions > _KEPT_INSTRUCTIONS
            ):
                self._known.clear()
                self._instructions = pattern.size
            self._known[text] = pattern
        return pattern


_patterns = _Patterns()


def compiled(text: str) -> Pattern:
    """The pattern, paid for as if it were new.

    Raises :class:`EvaluationError` when it is none.
    """
    try:
        pattern = _patterns.get(text)
    except EvaluationError:
        budget.spend(_REFUSED)
        raise
    budget.spend(_LOOKED_UP + pattern.cost)
    return pattern


def matches(text: str, pattern: str) -> bool:
    return compiled(pattern).matches(text)


def find(text: str, pattern: str) -> str:
    """The leftmost match, or the empty string."""
    return next(compiled(pattern).find(text), "")


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    """All matches from the left; ``limit`` < 0 means all."""
    found = compiled(pattern).find(text)
    return list(found if limit < 0 else itertools.islice(found, limit))
