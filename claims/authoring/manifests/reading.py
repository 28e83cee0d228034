"""What the text of a draft says: its documents as JSON values, and where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any, Final

from claims.authoring.manifests.pieces import BREAK, Piece, pieces
from cluster.yaml_documents import YamlError
from cluster.yaml_parts import Part, part_of

MAX_BYTES: Final = 256 * 1024
MAX_DOCUMENTS: Final = 64
_EDITOR_BREAK: Final = re.compile(r"\r\n|[\r\n]")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something cannot be read, in a sentence; ``line`` and ``column`` count from 1,
    0 if the whole text is meant."""

    message: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """One object of the text, at position ``index`` among them.

    ``value`` is plain JSON, ``None`` if it cannot be read. ``kind`` and the like are empty
    where the text does not say them as text. ``within`` is the path of an item of a
    ``kind: List`` (``items[2]``), else empty. ``problem`` says why it is no object.
    Lines count from 1, both belong to it.
    """

    index: int
    value: Any
    kind: str
    api_version: str
    namespace: str
    name: str
    first_line: int
    last_line: int
    within: str = ""
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """``text`` and what it holds. ``problem`` is the first place that cannot be read as
    YAML, or the bound that the text breaks; documents around it are given all the same."""

    text: str
    documents: tuple[Document, ...]
    problem: Problem | None

    @property
    def objects(self) -> tuple[Document, ...]:
        """The documents that are objects, without those that have a problem."""
        return tuple(one for one in self.documents if one.problem is None)


@dataclass(frozen=True, slots=True)
class Located:
    """A document with the piece of text it stands in, and its part there (offsets count
    from the start of the piece). ``item`` is its position in a list, or ``None``."""

    document: Document
    piece: Piece
    root: Part | None
    item: int | None

    @property
    def part(self) -> Part | None:
        if self.root is None or self.item is None:
            return self.root
        return next(e.part for e in self.root.entries if e.key == "items").items[
            self.item
        ]


def read(text: str) -> Manifest:
    """The documents of ``text``. Never raises: whatever is wrong is a ``problem``.

    Documents that say nothing are left out, as ``kubectl`` does. Bounds: 256 KiB,
    64 documents, 100 levels; aliases are refused.
    """
    too_long = _too_long(text)
    if too_long:
        return Manifest(text, (), too_long)
    found = located(text)
    problem = next(
        (one.document.problem for one in found if one.root is None),
        None,
    )
    if len(found) > MAX_DOCUMENTS:
        line = found[MAX_DOCUMENTS].document.first_line
        message = f"The text holds more than {MAX_DOCUMENTS} documents."
        problem = problem or Problem(message, line, 1)
    documents = tuple(one.document for one in found[:MAX_DOCUMENTS])
    return Manifest(text, documents, problem)


def located(text: str) -> list[Located]:
    """Every document with its place, one more than the bound at most."""
    lines = Lines(text)
    found: list[Located] = []
    for piece in pieces(text):
        if not piece.is_blank:
            found.extend(_documents(piece, lines, len(found)))
        if len(found) > MAX_DOCUMENTS:
            break
    return found[: MAX_DOCUMENTS + 1]


class Lines:
    """Offsets of ``text`` as lines and columns that count from 1, as editors do."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _EDITOR_BREAK.finditer(text))]

    def line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def place(self, offset: int) -> tuple[int, int]:
        line = self.line(offset)
        return line, offset - self._starts[line - 1] + 1


def _too_long(text: str) -> Problem | None:
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "replace")) > MAX_BYTES:
        return Problem(f"The text is longer than {MAX_BYTES // 1024} KiB.")
    return None


def _documents(piece: Piece, lines: Lines, index: int) -> list[Located]:
    try:
        root = part_of(piece.text)
    except YamlError as error:
        return [_unreadable(error, piece, lines, index)]
    if root is None or (root.style == "empty" and root.value is None):
        return []
    items = _items_of(root)
    if not items:
        return [
            Located(_document(root, root.value, piece, lines, index), piece, root, None)
        ]
    return [
        Located(
            replace(
                _document(
                    item, as_item(item.value, root.value), piece, lines, index + at
                ),
                within=f"items[{at}]",
            ),
            piece,
            root,
            at,
        )
        for at, item in enumerate(items[: MAX_DOCUMENTS + 1])
    ]


def _items_of(root: Part) -> list[Part]:
    """The items of a ``kind: List``, or of a typed one like ``ResourceClaimList``."""
    kind = root.value.get("kind") if isinstance(root.value, dict) else None
    if not isinstance(kind, str) or not kind.endswith("List"):
        return []
    return next((e.part.items for e in root.entries if e.key == "items"), [])


def as_item(value: Any, whole: dict[str, Any]) -> Any:
    """Items of a typed list may leave out kind and version; ``kubectl`` adds them."""
    kind = whole["kind"].removesuffix("List")
    if not isinstance(value, dict) or not kind or "kind" in value:
        return value
    said = {"apiVersion": whole["apiVersion"]} if "apiVersion" in whole else {}
    return {**said, "kind": kind, **value}


def _document(
    part: Part, value: Any, piece: Piece, lines: Lines, index: int
) -> Document:
    start = piece.start + part.start
    last = lines.line(piece.start + max(part.start, part.end - 1))
    line, column = lines.place(start)
    problem = None
    if not isinstance(value, dict):
        problem = Problem(
            "An object is a mapping of keys to values, with apiVersion, kind and "
            f"metadata; this is {_what(value)}.",
            line,
            column,
        )
    elif not value:
        problem = Problem(
            "This object is empty; begin with its apiVersion and kind.", line, column
        )
    fields = value if isinstance(value, dict) else {}
    metadata = fields.get("metadata")
    names = metadata if isinstance(metadata, dict) else {}
    return Document(
        index,
        value,
        _text(fields.get("kind")),
        _text(fields.get("apiVersion")),
        _text(names.get("namespace")),
        _text(names.get("name")),
        line,
        last,
        problem=problem,
    )


def _what(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    return "text" if isinstance(value, str) else "a single value"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# What the parser says, as far as its words help nobody.
_IN_WORDS: Final = {
    "found character that cannot start any token": (
        "a tab cannot indent, and a value cannot begin with @, ` or %; "
        "use spaces, or put the value in quotes"
    ),
    "could not find expected ':'": "expected a key with a colon, or a list item",
    "did not find expected key": (
        "expected a key at the same indentation as the keys above"
    ),
    "did not find expected '-' indicator": (
        "expected a list item (-) at the same indentation as the items above"
    ),
    "mapping values are not allowed in this context": (
        "a colon in a value needs quotes around the value, "
        "or the key is indented too far"
    ),
    "did not find expected <document start>": (
        "a further document needs a line --- before it"
    ),
    "but found another document": "a further document needs a line --- before it",
    "did not find expected node content": (
        "a bracket is not closed, or a value is missing"
    ),
    "did not find expected ',' or ']'": "a bracket [ is not closed",
    "did not find expected ',' or '}'": "a bracket { is not closed",
    "found unexpected end of stream": "a quote is not closed",
    "found unexpected document indicator": "a quote is not closed",
    "aliases (*name) are not accepted": (
        "aliases (*name) are not accepted; write out again what stands at &name"
    ),
    "block sequence entries are not allowed in this context": (
        "a list begins on a line of its own, below its key"
    ),
}


def _unreadable(error: YamlError, piece: Piece, lines: Lines, index: int) -> Located:
    starts = [0, *(match.end() for match in BREAK.finditer(piece.text))]
    at = starts[min(max(error.line, 1), len(starts)) - 1] + max(error.column, 1) - 1
    line, column = lines.place(piece.start + at)
    reason = _IN_WORDS.get(error.reason, error.reason)
    problem = Problem(f"Cannot read this as YAML: {reason}.", line, column)
    first = lines.line(piece.start)
    last = lines.line(max(piece.start, piece.end - 1))
    document = Document(index, None, "", "", "", "", first, last, problem=problem)
    return Located(document, piece, None, None)
