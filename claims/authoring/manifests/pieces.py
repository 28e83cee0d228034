"""A text of several YAML documents, cut at its ``---`` and ``...`` lines.

The cut needs no parser: a marker at the start of a line ends every YAML construct. So
an error in one document leaves the others readable, and editing one cannot touch them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# What YAML 1.1 takes for the end of a line.
BREAK: Final = re.compile(r"\r\n|[\r\n\x85\u2028\u2029]")
LINE: Final = re.compile(
    r"[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029])|[^\r\n\x85\u2028\u2029]+"
)
_MARKER: Final = re.compile(r"(---|\.\.\.)(?=[ \t\r\n\x85\u2028\u2029]|\Z)")
BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Piece:
    """``text`` of one document with its marker lines and comments; ``start`` is its offset.

    ``opened`` tells that a ``---`` line belongs to it.
    """

    start: int
    text: str
    opened: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_blank(self) -> bool:
        """Only comments, directives and markers: no document."""
        return all(_says_nothing(line) for line in lines(self.text))


def lines(text: str) -> Iterator[str]:
    """The lines of ``text`` with their ends, as YAML counts them."""
    for match in LINE.finditer(text):
        yield match[0]


def pieces(text: str) -> list[Piece]:
    """``text`` cut into its documents, blank ones too; joined they are ``text``."""
    mark = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    return list(_cut(text, mark))


def _cut(text: str, begin: int) -> Iterator[Piece]:
    start = offset = begin
    opened = said = ended = False
    for line in LINE.finditer(text, begin):
        marker = _MARKER.match(line[0])
        opens = marker is not None and marker[1] == "---"
        # Comments and directives before a marker belong to the document it opens.
        if (opens and (opened or said)) or (ended and not _says_nothing(line[0])):
            yield Piece(start, text[start:offset], opened)
            start, opened, said, ended = offset, False, False, False
        opened = opened or opens
        ended = ended or (marker is not None and not opens and (opened or said))
        said = said or not _says_nothing(line[0])
        offset = line.end()
    if offset > start:
        yield Piece(start, text[start:], opened)


def _says_nothing(line: str) -> bool:
    marker = _MARKER.match(line)
    said = line[marker.end() :] if marker else line
    said = said.strip(" \t\r\n\x85\u2028\u2029")
    return not said or said.startswith("#") or (line.startswith("%") and not marker)
