"""The text of an expression: offsets to lines and columns, and the caret picture."""

from __future__ import annotations

import unicodedata

from dra.cel.errors import CompileError, Issue


class Problem(Exception):  # noqa: N818 - carries one issue out of a deep place
    """One problem at an offset; internal, becomes an :class:`Issue`."""

    def __init__(self, message: str, start: int, end: int | None = None) -> None:
        self.message = message
        self.start = start
        self.end = start + 1 if end is None else end
        super().__init__(message)


def locate(text: str, offset: int) -> tuple[int, int]:
    """Line and column of ``offset``, both from 1, columns in code points."""
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - line_start + 1


def issue(text: str, message: str, start: int, end: int) -> Issue:
    line, column = locate(text, start)
    return Issue(message, start, line, column, start, end)


def render(text: str, problem: Issue) -> str:
    """The problem as Kubernetes prints it, with the line and a caret."""
    if problem.line is None or problem.column is None:
        return f"ERROR: <input>:-1:0: {problem.message}"
    out = f"ERROR: <input>:{problem.line}:{problem.column}: {problem.message}"
    lines = text.split("\n")
    line = lines[problem.line - 1].replace("\t", " ")
    before = line[: problem.column - 1]
    dots = "".join("．" if _wide(char) else "." for char in before)
    caret = "＾" if _wide(line[problem.column - 1 : problem.column]) else "^"
    return f"{out}\n | {line}\n | {dots}{caret}"


def _wide(char: str) -> bool:
    # One byte of UTF-8 is one cell; everything else gets a full-width mark.
    return len(char.encode("utf-8", "surrogatepass")) > 1


def refusal(text: str, problems: list[Issue]) -> CompileError:
    """The error of an expression with these problems, ordered by place."""
    ordered = sorted(problems, key=lambda p: -1 if p.offset is None else p.offset)
    body = "\n".join(render(text, problem) for problem in ordered)
    return CompileError(f"compilation failed: {body}", tuple(ordered))


def printable(char: str) -> str:
    """``char`` for a message: itself, or its code point where it has no shape."""
    if unicodedata.category(char).startswith(("C", "Z")) and char != " ":
        return f"\\u{ord(char):04x}"
    return char
