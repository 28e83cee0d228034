"""Where a field stands in the text, so that what is said of it can be marked there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from claims.authoring.manifests.reading import Lines, Located, located
from claims.authoring.manifests.strings import offsets
from cluster.yaml_parts import Part

_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")


@dataclass(frozen=True, slots=True)
class Place:
    """From ``line`` and ``column`` up to before ``end_line`` and ``end_column``, which all
    count from 1, in code points; ``start`` and ``end`` are the same as offsets.

    ``exact`` tells that the field itself is there, not just what it would be part of.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int
    exact: bool


def place_of(text: str, index: int, path: str) -> Place | None:
    """Where ``path`` of document ``index`` stands, or the nearest that it would be in.

    ``path`` is written as the API server does: ``spec.devices.requests[0].name``, keys of
    maps in brackets. A value of one line is its place; a mapping or list is marked at its
    key, an item at its first line. ``None`` if there is no such document to mark.
    """
    found = _located(text)
    if not 0 <= index < len(found):
        return None
    place, offset = found[index], found[index].piece.start
    part = place.part
    if part is None:
        return None
    span, exact = _span(place.piece.text, part, list(_steps(path)))
    lines = Lines(text)
    start, end = span[0] + offset, span[1] + offset
    return Place(*lines.place(start), *lines.place(end), start, end, exact)


def place_within(
    text: str, index: int, path: str, start: int, end: int
) -> Place | None:
    """Where the characters ``start`` up to before ``end`` of the text value at ``path``
    stand, in code points: a part of a CEL expression, say.

    The whole value where that cannot be told; as :func:`place_of` if there is none.
    """
    found = place_of(text, index, path)
    if found is None or not found.exact:
        return found
    part = _part(_located(text)[index].part, list(_steps(path)))
    if part is None or not isinstance(part.value, str):
        return found
    inner = offsets(text[found.start : found.end], part.value, part.style)
    if inner is None:
        return found
    start = min(max(start, 0), len(part.value))
    end = min(max(end, start), len(part.value))
    first = found.start + inner[start]
    # The end of the last character, not the start of the next: a line may end between.
    last = found.start + (inner[end - 1] + 1 if end > start else inner[start])
    if end > start and text[last - 1] in "\\'" and inner[end] + found.start > last:
        last = found.start + inner[end]
    lines = Lines(text)
    return Place(*lines.place(first), *lines.place(last), first, last, exact=True)


@lru_cache(maxsize=4)
def _located(text: str) -> tuple[Located, ...]:
    """Kept, as everything that is said of a text is marked one after the other."""
    return tuple(located(text))


def _part(part: Part | None, steps: list[str]) -> Part | None:
    while steps and part is not None:
        taken = _below(part, steps)
        if taken is None:
            return None
        part, _, used = taken
        steps = steps[used:]
    return part


def _steps(path: str) -> Iterator[str]:
    for match in _STEP.finditer(path):
        yield match[1] if match[1] is not None else match[2]


def _span(text: str, part: Part, steps: list[str]) -> tuple[tuple[int, int], bool]:
    """Start and end of what ``steps`` lead to, as far as they go."""
    span = _first_line(text, part)
    while steps:
        taken = _below(part, steps)
        if taken is None:
            return span, False
        part, key, used = taken
        steps = steps[used:]
        nested = bool(part.entries or part.items)
        if key is not None and (nested or part.style == "empty"):
            span = key
        else:
            span = _first_line(text, part) if nested else (part.start, part.end)
    return span, True


def _below(
    part: Part, steps: list[str]
) -> tuple[Part, tuple[int, int] | None, int] | None:
    """The child that the first steps name, where its key is, and how many steps it took."""
    if part.items:
        at = int(steps[0]) if steps[0].isdecimal() else -1
        return (part.items[at], None, 1) if 0 <= at < len(part.items) else None
    # Names of fields have no dots; keys of maps may, and some messages leave out brackets.
    for used in range(len(steps), 0, -1):
        name = ".".join(steps[:used])
        for entry in part.entries:
            if entry.key == name:
                return entry.part, (entry.start, entry.end), used
    return None


def _first_line(text: str, part: Part) -> tuple[int, int]:
    """Where ``part`` begins, up to the end of that line, without a comment."""
    if part.style == "block" and part.entries:
        first = part.entries[0]
        below = _first_line(text, first.part)
        alone = "\n" in text[first.end : below[0]]
        return first.start, first.end if alone else below[1]
    if part.style == "block" and part.items:
        return part.start, _first_line(text, part.items[0])[1]
    line = text[part.start : part.end].partition("\n")[0].rstrip()
    return part.start, part.start + len(line)
