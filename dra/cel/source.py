"""The text of an expression: offsets to lines and columns, and the caret picture."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from dra.cel.errors import CompileError, Issue


class Problem(Exception):  # noqa: N818 - carries one issue out of a deep place
    """One problem at an offset; internal, becomes an :class:`Issue`."""

    def __init__(self, message: str, start: int, end: int | None = None) -> None:
        self.message = message
        self.start = start
        self.end = start + 1 if end is None else end
        super().__init__(message)


def locate(text: str, offset: int) -> tuple[int, int]:
    """Line and column of ``offset``, both from 1, columns in code points.

    The place in an empty text is column 0, as in the reference.
    """
    if not text:
        return 1, 0
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - line_start + 1


def issue(text: str, message: str, start: int, end: int) -> Issue:
    line, column = locate(text, start)
    return Issue(message, start, line, column, start, end)


MAX_PROBLEMS: Final = 100
"""Problems that the reference writes out; more are only counted."""


class Problems:
    """Problems in the order they were found."""

    __slots__ = ("count", "kept")

    def __init__(self, *first: Problem) -> None:
        self.kept = list(first)
        self.count = len(first)

    def __bool__(self) -> bool:
        return self.count > 0

    def add(self, start: int, end: int, message: str | Callable[[], str]) -> None:
        """``message`` may be a function, which is called only where it is kept."""
        self.count += 1
        if self.count <= MAX_PROBLEMS:
            text = message if isinstance(message, str) else message()
            self.kept.append(Problem(text, start, end))


class _Picture:
    """The lines of a text, as messages show them."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._dots: dict[int, str] = {}

    def of(self, problem: Issue) -> str:
        """The problem as Kubernetes prints it, with the line and a caret."""
        if problem.line is None or problem.column is None:
            return f"ERROR: <input>:-1:0: {problem.message}"
        found = f"ERROR: <input>:{problem.line}:{problem.column}: {problem.message}"
        at = problem.column - 1
        if at < 0:
            return found
        line = self._lines[problem.line - 1].replace("\t", " ")
        dots = self._dots.get(problem.line)
        if dots is None:
            # One byte of UTF-8 is one cell; everything else gets a wide mark.
            dots = self._dots[problem.line] = _WIDE.sub("．", _NARROW.sub(".", line))
        caret = "＾" if _WIDE.match(line, at) else "^"
        return f"{found}\n | {line}\n | {dots[:at]}{caret}"


_NARROW: Final = re.compile(r"[\x00-\x7f]")
_WIDE: Final = re.compile(r"[^\x00-\x7f]")


def refusal(text: str, problems: Problems) -> CompileError:
    """The error of an expression with these problems, ordered by place."""
    ordered = sorted(problems.kept, key=lambda problem: problem.start)
    issues = [issue(text, p.message, p.start, p.end) for p in ordered]
    picture = _Picture(text)
    written = [picture.of(found) for found in issues]
    if problems.count > len(issues):
        more = problems.count - len(issues)
        written.append(f"{more} more errors were truncated")
    body = "\n".join(written)
    return CompileError(f"compilation failed: {body}", tuple(issues))


def printable(char: str) -> str:
    """``char`` for a message: itself, or its code point where it has no shape."""
    if unicodedata.category(char).startswith(("C", "Z")) and char != " ":
        return f"\\u{ord(char):04x}"
    return char
