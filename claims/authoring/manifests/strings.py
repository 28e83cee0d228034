"""Where each character of a text value stands in the YAML that writes it."""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(?:\r\n|[\s\S]))"
)
_SURROGATES: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def offsets(written: str, value: str, style: str) -> list[int] | None:
    """For every character of ``value``, and its end, the offset in ``written``.

    ``style`` is one of ``cluster.yaml_parts``. ``None`` where it cannot be told, which
    is with escapes over several lines.
    """
    if style == "double":
        found = _quoted(written, '"')
    elif style == "single" and "\n" not in written:
        found = _quoted(written, "'")
    elif style in ("literal", "folded"):
        _, _, body = written.partition("\n")
        found = _folded(written, value, len(written) - len(body))
    elif style == "single":
        found = _folded(written, value, 1)
    else:
        found = _folded(written, value, 0)
    return found if found is not None and len(found) == len(value) + 1 else None


def _quoted(written: str, quote: str) -> list[int] | None:
    """Text in quotes on one line: escapes are one character of the value each."""
    if "\n" in written or not written.startswith(quote) or len(written) < 2:
        return None
    at, end = 1, len(written) - 1
    found: list[int] = []
    while at < end:
        found.append(at)
        at += _width(written, at, quote)
    return [*found, end]


def _width(written: str, at: int, quote: str) -> int:
    if quote == "'":
        return 2 if written[at] == "'" else 1
    escape = _SURROGATES.match(written, at) or _ESCAPE.match(written, at)
    return len(escape[0]) if escape else 1


def _folded(written: str, value: str, start: int) -> list[int] | None:
    """Lines whose breaks and indentation are not those of the value.

    White space of the value stands for the white space at its place; everything else
    is there as it is.
    """
    found: list[int] = []
    at = start
    for index, character in enumerate(value):
        if character.isspace():
            found.append(min(at, len(written)))
            at += _white(written, at, value, index)
            continue
        while at < len(written) and written[at].isspace():
            at += 1
        if at >= len(written) or written[at] != character:
            return None
        found.append(at)
        doubled = character == "'" and written.startswith("''", at) and start == 1
        at += 2 if doubled else 1
    return [*found, min(at, len(written))]


def _white(written: str, at: int, value: str, index: int) -> int:
    """How much of ``written`` the white space character ``value[index]`` is."""
    if at >= len(written) or not written[at].isspace():
        return 0
    if value[index] not in "\r\n":
        return 1 if written[at] == value[index] else 0
    return 2 if written.startswith("\r\n", at) else 1
