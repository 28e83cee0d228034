"""One YAML document with the place of everything in it, for editing text in place.

Values are those of :mod:`cluster.yaml_documents`. Places are offsets in code points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import yaml

from cluster.yaml_documents import Loader, YamlError, refused, yaml_error

MAX_DEPTH: Final = 100
_STYLES: Final = {
    None: "plain",
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}
# Lines after a block scalar that are quite empty belong to nobody, unless it keeps them.
_EMPTY_LINES: Final = re.compile(r"(?:\r\n|[\r\n\x85\u2028\u2029])+\Z")
_KEEPS: Final = re.compile(r"[|>][0-9]?\+")
_LAST_BREAK: Final = re.compile(r"(?:\r\n|[\r\n\x85\u2028\u2029])\Z")


@dataclass(slots=True)
class Part:
    """A value where it stands: ``text[start:end]``, without what follows in its line.

    ``style`` is ``block`` or ``flow`` for mappings and lists, and ``plain``, ``single``,
    ``double``, ``literal``, ``folded`` or ``empty`` (a null of no characters) for others.
    ``column`` counts from 0: in block style that of the first key or dash.
    """

    value: Any
    start: int
    end: int
    column: int
    style: str
    entries: list[Entry]
    items: list[Part]


@dataclass(slots=True)
class Entry:
    """A key with its value; ``start`` and ``end`` are those of the key."""

    key: str
    start: int
    end: int
    part: Part


def part_of(text: str) -> Part | None:
    """The one document that ``text`` holds, ``None`` if it holds nothing.

    Raises :class:`YamlError` if it cannot be read, or is a second document.
    """
    try:
        loader = Loader(text)
    except (yaml.YAMLError, UnicodeError) as error:
        raise yaml_error(error) from None
    try:
        node = loader.get_single_node()
        return None if node is None else _Reading(text, loader).part(node, 0)
    except (yaml.YAMLError, UnicodeError, RecursionError, ValueError) as error:
        if isinstance(error, YamlError):
            raise
        raise yaml_error(error) from None
    finally:
        loader.dispose()


class _Reading:
    def __init__(self, text: str, loader: Loader) -> None:
        self.text = text
        self.loader = loader
        self.seen: set[int] = set()

    def part(self, node: yaml.Node, depth: int) -> Part:
        if depth > MAX_DEPTH:
            raise refused("nested too deep", node)
        if id(node) in self.seen:
            raise refused("aliases (*name) are not accepted", node)
        self.seen.add(id(node))
        if isinstance(node, yaml.MappingNode) and node.tag.endswith(":map"):
            return self._mapping(node, depth)
        if isinstance(node, yaml.SequenceNode) and node.tag.endswith(":seq"):
            return self._list(node, depth)
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> Part:
        entries: list[Entry] = []
        value: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.loader.key_text(key_node)
            if key in value:
                raise refused("a key is given twice", key_node)
            part = self.part(value_node, depth + 1)
            start, end = key_node.start_mark.index, key_node.end_mark.index
            entries.append(Entry(key, start, end, part))
            value[key] = part.value
        found = self._collection(node, value)
        found.entries = entries
        if entries and found.style == "block":
            found.end = max(entries[-1].part.end, entries[-1].end)
        return found

    def _list(self, node: yaml.SequenceNode, depth: int) -> Part:
        items = [self.part(item, depth + 1) for item in node.value]
        found = self._collection(node, [item.value for item in items])
        found.items = items
        if items and found.style == "block":
            found.end = items[-1].end
        return found

    def _collection(self, node: yaml.CollectionNode, value: Any) -> Part:
        start, style = node.start_mark, "flow" if node.flow_style else "block"
        return Part(
            value, start.index, node.end_mark.index, start.column, style, [], []
        )

    def _scalar(self, node: yaml.Node) -> Part:
        value = self.loader.construct_object(node, deep=True)
        start, end = node.start_mark.index, node.end_mark.index
        style = _STYLES.get(getattr(node, "style", None), "plain")
        if start == end:
            style = "empty"
        elif style in ("literal", "folded"):
            end = self._end_of_block(start, end)
        return Part(value, start, end, node.start_mark.column, style, [], [])

    def _end_of_block(self, start: int, end: int) -> int:
        written = self.text[start:end]
        keeps = _KEEPS.match(written)
        found = (_LAST_BREAK if keeps else _EMPTY_LINES).search(written)
        return start + (found.start() if found else len(written))
