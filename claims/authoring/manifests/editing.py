"""Changing the text of a draft: one document edited, added or taken away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from claims.authoring.manifests import reading, writing
from claims.authoring.manifests.aligning import same
from claims.authoring.manifests.merging import merged
from claims.authoring.manifests.pieces import LINE, Piece, lines, pieces
from claims.authoring.manifests.reading import Located
from cluster.yaml_documents import YamlError
from cluster.yaml_parts import Part, part_of

_LONE_END: Final = re.compile(r"(?<!\r)\n")
_CLOSING: Final = re.compile(
    r"(?:^|(?<=\n))(?:\.\.\.[ \t]*\r?\n|[ \t]*#[^\n]*\n|[ \t]*\r?\n)*\Z"
)


def to_text(value: Any) -> str:
    """``value`` as the text of one document."""
    return writing.block(value)


def edited(text: str, index: int, value: Any) -> str:
    """``text`` with document ``index`` of :func:`reading.read` saying ``value``.

    Everything else stays byte for byte: other documents, and comments, order of keys,
    quoting and blank lines of what does not change. Raises :class:`IndexError` if there
    is no such document, :class:`ValueError` if no YAML can say ``value``.
    """
    place = _located(text, index)
    if place.root is not None and same(place.document.value, value):
        return text
    root = place.root
    whole = (
        value
        if place.item is None or root is None
        else _with_item(root, place.item, value)
    )
    piece = place.piece
    return text[: piece.start] + _edited(piece.text, root, whole) + text[piece.end :]


def appended(text: str, value: Any) -> str:
    """``text`` with one more document at its end."""
    written = to_text(value)
    if "\r\n" in text and not _LONE_END.search(text):
        written = written.replace("\n", "\r\n")
    end = "\r\n" if written.endswith("\r\n") else "\n"
    found = pieces(text)
    if not text.strip("\ufeff \t\r\n"):
        return text[: text.startswith("\ufeff")] + written
    head = text if text.endswith("\n") else text + end
    if found and found[-1].is_blank and not _ended(found[-1]):
        return head + written
    return f"{head}---{end}{written}"


def removed(text: str, index: int) -> str:
    """``text`` without document ``index``; the comments above it go with it.

    Raises :class:`IndexError` if there is no such document.
    """
    place = _located(text, index)
    piece = place.piece
    if place.item is not None and place.root is not None:
        items = _items(place.root)
        if len(items) > 1:
            left = items[: place.item] + items[place.item + 1 :]
            whole = {**place.root.value, "items": left}
            written = _edited(piece.text, place.root, whole)
            return text[: piece.start] + written + text[piece.end :]
    before, after = text[: piece.start], text[piece.end :]
    if before.strip("\ufeff") or piece.opened:
        return before + after
    # The first document had no marker of its own; the next one needs none either.
    first, _, rest = after.partition("\n")
    return before + (rest if first.rstrip() == "---" else after)


def _located(text: str, index: int) -> Located:
    found = reading.located(text)
    if not 0 <= index < len(found):
        raise IndexError(f"the text has no document {index}")
    return found[index]


def _items(root: Part) -> list[Any]:
    return list(root.value["items"])


def _with_item(root: Part, at: int, value: Any) -> Any:
    items = _items(root)
    if same(reading.as_item(items[at], root.value), value):
        return root.value
    items[at] = value
    return {**root.value, "items": items}


def _edited(text: str, root: Part | None, value: Any) -> str:
    """``text`` of one piece saying ``value``, by the first way that is read again so."""
    crlf = "\r\n" in text and not _LONE_END.search(text)
    for candidate in _candidates(text, root, value):
        written = _LONE_END.sub("\r\n", candidate) if crlf else candidate
        if not text.endswith(("\n", "\r")):
            bare = written.removesuffix("\n").removesuffix("\r")
            if _says(bare, value):
                return bare
        if _says(written, value):
            return written
    raise ValueError("YAML cannot say this value")


def _candidates(text: str, root: Part | None, value: Any) -> Iterator[str]:
    if root is not None:
        yield from _merged(text, root, value)
    yield _anew(text, root, value)
    yield "---\n" + to_text(value)


def _merged(text: str, root: Part, value: Any) -> list[str]:
    try:
        if not text.endswith("\n"):
            # A literal block in the last line says more once that line has an end.
            text += "\n"
            root = part_of(text) or root
        return [merged(text, root, value)]
    except (AssertionError, IndexError):
        # Written as nobody writes, so that the comments inside cannot be kept.
        return []


def _anew(text: str, root: Part | None, value: Any) -> str:
    """The document printed, between the comments above and below it."""
    if root is not None:
        line = text.rfind("\n", 0, root.start) + 1
        head, end = text[:line], text.find("\n", root.end) + 1 or len(text)
        marker = "---\n" if text[line : root.start].strip() else ""
        return head + marker + to_text(value) + text[end:]
    head = ""
    for line_text in lines(text):
        if not _is_head(line_text):
            break
        head += line_text
    closing = _CLOSING.search(text, len(head))
    return head + to_text(value) + (closing[0] if closing else "")


def _is_head(line: str) -> bool:
    said = line.strip()
    return not said or said.startswith(("#", "%")) or said == "---"


def _says(text: str, value: Any) -> bool:
    if sum(not piece.is_blank for piece in pieces(text)) != 1:
        return False
    try:
        part = part_of(text)
    except YamlError:
        return False
    return part is not None and same(part.value, value)


def _ended(piece: Piece) -> bool:
    """Whether a blank piece is closed, so that a further document needs a marker."""
    return not piece.opened and any(LINE.finditer(piece.text)) and "..." in piece.text
