"""Changing ``{...}`` and ``[...]``, as JSON and short YAML have them, in their own manner."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from claims.authoring.manifests import writing
from claims.authoring.manifests.aligning import aligned, same
from cluster.yaml_parts import Part


def is_kept(part: Part, value: Any) -> bool:
    """Whether ``value`` is written into the brackets of ``part``."""
    return (
        part.style == "flow"
        and bool(part.value)
        and bool(value)
        and type(value) is type(part.value)
    )


def merged(text: str, part: Part, value: Any) -> str:
    """``text[part.start:part.end]`` saying ``value``; see :func:`is_kept`."""
    spans = _spans(part)
    manner = _manner(text, part, spans)
    if isinstance(value, dict):
        known = {entry.key: at for at, entry in enumerate(part.entries)}
        chosen = [(known.get(key), key, one) for key, one in value.items()]
    else:
        places = aligned(part.value, value)
        chosen = [(at, None, one) for at, one in zip(places, value, strict=True)]
    written = text[part.start : spans[0][0]]
    before: int | None = None
    for number, (at, key, one) in enumerate(chosen):
        if number:
            follows = at is not None and before is not None and at == before + 1
            written += (
                text[spans[at - 1][1] : spans[at][0]]
                if follows and at
                else manner.comma
            )
        written += _child(text, part, at, key, one, manner)
        before = at
    return written + text[spans[-1][1] : part.end]


@dataclass(frozen=True, slots=True)
class _Manner:
    """``comma`` stands between children; ``quoted`` words have quotes; over several
    lines children are indented by ``indent`` spaces, ``step`` more than the bracket."""

    comma: str
    quoted: bool
    indent: int
    step: int


def _spans(part: Part) -> list[tuple[int, int]]:
    if part.items:
        return [(item.start, item.end) for item in part.items]
    return [(e.start, max(e.part.end, e.end)) for e in part.entries]


def _manner(text: str, part: Part, spans: list[tuple[int, int]]) -> _Manner:
    opening = text[part.start + 1 : spans[0][0]]
    commas = [text[end:start] for (_, end), (start, _) in pairwise(spans)]
    comma = next((one for one in commas if "#" not in one), "")
    if not comma:
        comma = "," + opening if "\n" in opening and "#" not in opening else ", "
    scalars = [item for item in part.items if isinstance(item.value, str)]
    if part.entries:
        quoted = all(text[e.start] in "\"'" for e in part.entries)
    else:
        quoted = all(item.style != "plain" for item in scalars)
    indent = len(comma.rpartition("\n")[2]) if "\n" in comma else -1
    closing = len(text[spans[-1][1] : part.end - 1].rpartition("\n")[2])
    step = indent - closing if indent > closing else 2
    return _Manner(comma, quoted, indent, step)


def _child(
    text: str, part: Part, at: int | None, key: str | None, value: Any, manner: _Manner
) -> str:
    if at is None:
        return (_key(key, manner) if key is not None else "") + _anew(value, manner)
    if key is None:
        return _value(text, part.items[at], value, manner)
    entry = part.entries[at]
    if entry.part.style == "empty" and value is not None:
        return text[entry.start : entry.end] + ": " + _anew(value, manner)
    between = text[entry.start : entry.part.start]
    return between + _value(text, entry.part, value, manner)


def _value(text: str, part: Part, value: Any, manner: _Manner) -> str:
    if same(part.value, value):
        return text[part.start : part.end]
    if is_kept(part, value):
        return merged(text, part, value)
    if part.style == "single" and isinstance(value, str):
        return (
            writing.inline(value, 0, "single")
            if "\n" not in value
            else writing.flow(value)
        )
    if part.style == "plain" and isinstance(value, str):
        return writing.flow(value, quoted=manner.quoted)
    return _anew(value, manner)


def _key(key: str, manner: _Manner) -> str:
    return writing.flow(key, quoted=manner.quoted) + ": "


def _anew(value: Any, manner: _Manner) -> str:
    if not writing.is_nested(value) or manner.indent < 0:
        return writing.flow(value, quoted=manner.quoted)
    written = json.dumps(value, ensure_ascii=False, indent=manner.step)
    return writing.printable(written.replace("\n", "\n" + " " * manner.indent))
