"""A changed value put into the text it came from, which stays as it was elsewhere.

The text is never printed anew: what changes is written into the old lines. A child of a
block mapping or list owns whole lines, and with them the comments right above it; so
items move, come and go with their comments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from claims.authoring.manifests import flows, writing
from claims.authoring.manifests.aligning import aligned, same
from claims.authoring.manifests.pieces import LINE
from claims.authoring.manifests.writing import Manner
from cluster.yaml_parts import Entry, Part

_COLON: Final = re.compile(r"[ \t]*:")
_NOTE: Final = re.compile(r"[ \t]+#.*\Z")
_DASH: Final = re.compile(r"^[ \t]*-(?=[ \t\r\n]|\Z)", re.MULTILINE)


def merged(text: str, root: Part, value: Any) -> str:
    """``text``, whose last line has an end, with ``value`` where ``root`` is.

    New lines end with ``\\n`` whatever the others do. The result may be wrong where the text is written in a way that nobody uses (keys of
    several lines, say); callers read it again.
    """
    if same(root.value, value):
        return text
    merging = _Merging(text, manner_of(root))
    end = merging.line_end(root.end)
    if merging.is_kept(root, value):
        written = merging.lines(root, value, root.start)
    elif flows.is_kept(root, value):
        written = flows.merged(text, root, value) + text[root.end : end]
    elif writing.is_nested(value):
        return text[: root.start] + merging.below_marker(root, value) + text[end:]
    else:
        inline = writing.inline(value, merging.manner.step, root.style)
        written = f"{inline}\n"
    return text[: root.start] + written + text[end:]


def manner_of(root: Part) -> Manner:
    """How deep the text indents, from the first mapping and list below a key."""
    step = dash = -1
    waiting = [root]
    while waiting and (step < 0 or dash < 0):
        part = waiting.pop(0)
        for entry in part.entries:
            below = entry.part
            deeper = below.column - part.column
            if part.style != "block" or below.style != "block":
                continue
            if below.entries and step < 0 and deeper > 0:
                step = deeper
            if below.items and dash < 0 and deeper >= 0:
                dash = deeper
        waiting += [entry.part for entry in part.entries] + part.items
    return Manner(step if step > 0 else 2, max(dash, 0))


@dataclass(frozen=True, slots=True)
class _Child:
    """One entry or item with the lines it owns: ``text[lead:begin]`` are the comments
    above it and its indentation, it ends with the line at ``end``, and ``text[end:tail]``
    are comments below that are its own."""

    lead: int
    begin: int
    end: int
    tail: int
    was_first: bool


@dataclass(frozen=True, slots=True)
class _Merging:
    text: str
    manner: Manner

    # Where lines begin and end.

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """After the end of the line that ``offset`` is in."""
        return self.text.find("\n", offset) + 1 or len(self.text)

    # Values.

    def is_kept(self, part: Part, value: Any) -> bool:
        """Whether ``value`` is written into the lines of the block collection ``part``."""
        if part.style != "block" or not value:
            return False
        if part.entries:
            return isinstance(value, dict)
        return bool(part.items) and isinstance(value, list)

    def lines(self, part: Part, value: Any, first: int) -> str:
        """The lines of a block collection from ``first`` on, saying ``value``."""
        if isinstance(value, dict):
            return self.mapping(part, value, first)
        return self.sequence(part, value, first)

    def below_marker(self, root: Part, value: Any) -> str:
        """A document anew; behind ``---`` no mapping may begin in the same line."""
        before = self.text[self.line_start(root.start) : root.start]
        if before.strip():
            return "\n" + writing.block(value, 0, self.manner)
        return writing.block(value, len(before), self.manner)[len(before) :]

    def after(
        self, mark: int, column: int, part: Part, value: Any, *, dash: bool = False
    ) -> str:
        """The rest of the lines behind the colon or dash that ends at ``mark``."""
        end = self.line_end(max(part.end, mark))
        if same(part.value, value):
            return self.text[mark:end]
        if self.is_kept(part, value):
            return self._kept(mark, part, value)
        if flows.is_kept(part, value):
            written = flows.merged(self.text, part, value)
            return self.text[mark : part.start] + written + self.text[part.end : end]
        note = self._note(mark, part)
        if writing.is_nested(value):
            write = writing.after_dash if dash else writing.after_key
            return write(value, column, self.manner, note)
        # Quotes around nothing say no more than that there is nothing.
        style = part.style if part.value != "" else ""
        inline = writing.inline(value, column + self.manner.step, style)
        between = self.text[mark : part.start]
        if part.style in ("block", "empty") or "\n" in between:
            between = " "
        first, broken, rest = inline.partition("\n")
        return f"{between}{first}{note}\n" + (rest + "\n" if broken else "")

    def _kept(self, mark: int, part: Part, value: Any) -> str:
        first = self.line_end(mark)
        if first > part.start:
            return self.text[mark : part.start] + self.lines(part, value, part.start)
        return self.text[mark:first] + self.lines(part, value, first)

    def _note(self, mark: int, part: Part) -> str:
        """The comment in the line of the key or dash, or behind the old value."""
        if part.style not in ("block", "literal", "folded"):
            end = max(part.end, mark)
            return self.text[end : self.line_end(end)].rstrip()
        line = self.text[mark : self.line_end(mark)].rstrip()
        if part.style == "block" and part.start < mark + len(line):
            return ""
        found = _NOTE.search(line)
        return found[0] if found else ""

    # Collections in block style.

    def mapping(self, part: Part, value: dict[str, Any], first: int) -> str:
        children = self.children(
            [(entry.start, max(entry.part.end, entry.end)) for entry in part.entries],
            part,
            first,
        )
        known = {entry.key: at for at, entry in enumerate(part.entries)}
        blocks: list[tuple[str, str]] = []
        for key in _in_old_order(list(value), [entry.key for entry in part.entries]):
            if key in known:
                child = children[known[key]]
                entry = part.entries[known[key]]
                written = self.entry(entry, part.column, value[key])
                blocks.append(self._around(child, written, first_now=not blocks))
            else:
                behind = writing.after_key(value[key], part.column, self.manner)
                blocks.append(("", writing.key_text(key) + ":" + behind))
        return self._joined(blocks, part.column, part, first)

    def entry(self, entry: Entry, column: int, value: Any) -> str:
        colon = _COLON.match(self.text, entry.end)
        mark = colon.end() if colon else entry.end
        behind = self.after(mark, column, entry.part, value)
        return self.text[entry.start : mark] + behind

    def sequence(self, part: Part, value: list[Any], first: int) -> str:
        dashes = self._dashes(part)
        children = self.children(
            [
                (dash, max(item.end, dash + 1))
                for dash, item in zip(dashes, part.items, strict=True)
            ],
            part,
            first,
        )
        blocks: list[tuple[str, str]] = []
        for at, item in zip(aligned(part.value, value), value, strict=True):
            if at is None:
                blocks.append(
                    ("", "-" + writing.after_dash(item, part.column, self.manner))
                )
            else:
                behind = self.after(
                    dashes[at] + 1, part.column, part.items[at], item, dash=True
                )
                written = "-" + behind
                blocks.append(self._around(children[at], written, first_now=not blocks))
        return self._joined(blocks, part.column, part, first)

    def _dashes(self, part: Part) -> list[int]:
        found = [part.start]
        for before in part.items[:-1]:
            dash = _DASH.search(self.text, self.line_end(max(before.end, found[-1])))
            assert dash is not None
            found.append(dash.end() - 1)
        return found

    def children(
        self, spans: Sequence[tuple[int, int]], part: Part, first: int
    ) -> list[_Child]:
        """Whose lines are whose. ``spans`` are the first and last offsets of each."""
        found: list[_Child] = []
        lead = first
        for at, (begin, last) in enumerate(spans):
            end = tail = self.line_end(last)
            following = spans[at + 1][0] if at + 1 < len(spans) else None
            if following is not None:
                tail = self._lead_of(end, self.line_start(following), part.column)
            found.append(_Child(lead, begin, end, tail, not at))
            lead = tail
        return found

    def _lead_of(self, start: int, end: int, column: int) -> int:
        """Where the comments that belong to what follows at ``end`` begin.

        Those are the lines right above it, and the blank lines above them; comments
        that are indented deeper, or stand apart, belong to what is before.
        """
        lines = [(m.start(), m[0]) for m in LINE.finditer(self.text, start, end)]
        lead = end
        while lines and lines[-1][1].strip():
            indent = len(lines[-1][1]) - len(lines[-1][1].lstrip())
            if indent > column:
                return lead
            lead = lines.pop()[0]
        while lines and not lines[-1][1].strip():
            lead = lines.pop()[0]
        return lead

    def _around(self, child: _Child, written: str, first_now: bool) -> tuple[str, str]:
        begin = self.line_start(child.begin)
        above = self.text[child.lead : begin] if child.lead < begin else ""
        if first_now and not child.was_first:
            above = above.lstrip("\r\n")
        return above, written + self.text[child.end : child.tail]

    def _joined(
        self, blocks: list[tuple[str, str]], column: int, part: Part, first: int
    ) -> str:
        """Comments above and lines of every child; ``first`` may be amid a line."""
        margin = " " * column
        head = ""
        if self.line_start(part.start) < first:
            # A dash, or spaces, stand before it in the same line.
            above, head = blocks.pop(0)
            if above.strip():
                head = above.lstrip() + margin + head
        return head + "".join(f"{above}{margin}{written}" for above, written in blocks)


def _in_old_order(new: list[str], old: list[str]) -> list[str]:
    """The keys of ``new``: those of ``old`` as they stood, others behind their neighbour."""
    order = [key for key in old if key in new]
    for at, key in enumerate(new):
        if key not in order:
            place = order.index(new[at - 1]) + 1 if at else 0
            order.insert(place, key)
    return order
