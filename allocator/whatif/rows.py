"""A scenario as rows of fields, and back: what is typed survives, right or wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allocator.whatif import documents
from allocator.whatif.kinds import (
    BY_NAME,
    EXAMPLES,
    TAGS,
    FieldKind,
    RowKind,
    Section,
)
from dra.whatif import ScenarioError

type Json = dict[str, Any]

MOST_ROWS: Final = 50
"""Of a section in the form; a scenario with more has none there, only its text."""
_INDEX: Final = re.compile(r"^(edits|workload)\.(\d{1,4})\.kind$")
_SECTIONS: Final[tuple[Section, ...]] = ("edits", "workload")


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of a row: ``name`` in the form, ``path`` in the scenario."""

    kind: FieldKind
    name: str
    path: str
    value: str
    problem: str = ""

    @property
    def id(self) -> str:
        return f"w-{self.name.replace('.', '-')}"


@dataclass(frozen=True, slots=True)
class Row:
    """One entry of the scenario. ``problem`` belongs to none of its fields."""

    kind: RowKind
    index: int
    cells: tuple[Cell, ...]
    problem: str = ""

    @property
    def name(self) -> str:
        return f"{self.kind.section}.{self.index}"


@dataclass(slots=True)
class Typed:
    """What a form says: the scenario in JSON, and what could not be read of it."""

    raw: Json
    texts: dict[str, str] = field(default_factory=dict)
    """By the cell's name."""
    problems: dict[str, str] = field(default_factory=dict)
    """By path."""


# --- form → scenario ---------------------------------------------------------


def typed(data: Mapping[str, str]) -> Typed:
    """The scenario that the fields of a posted form hold."""
    found = Typed({})
    if name := data.get("name", "").strip():
        found.raw["name"] = name
    for section in _SECTIONS:
        entries = [
            _entry(data, kind, old, place, found)
            for place, (old, kind) in enumerate(_posted(data, section))
        ]
        if entries:
            found.raw[section] = entries
    if policy := data.get("policy", ""):
        found.raw["policy"] = policy
    return found


def _posted(data: Mapping[str, str], section: Section) -> list[tuple[int, RowKind]]:
    """(number in the form, kind) of the rows, in order."""
    rows = []
    for name in data:
        match = _INDEX.match(name)
        kind = BY_NAME.get((section, data[name]))
        if match and match[1] == section and kind is not None:
            rows.append((int(match[2]), kind))
    return sorted(rows, key=lambda row: row[0])[:MOST_ROWS]


def _entry(
    data: Mapping[str, str], kind: RowKind, old: int, place: int, found: Typed
) -> Json:
    entry: Json = {TAGS[kind.section]: kind.kind}
    for one in kind.fields:
        text = data.get(f"{kind.section}.{old}.{one.name}", "").replace("\r\n", "\n")
        found.texts[f"{kind.section}.{place}.{one.name}"] = text
        try:
            value = _value(one, text)
        except ScenarioError as error:
            path = f"{kind.section}[{place}].{one.name}"
            found.problems[path] = error.reason
            continue
        if value is not None:
            _put(entry, one.name, value)
    if kind.kind in ("taint", "untaint", "changeDevices"):
        entry.setdefault("devices", {})
    return entry


def _value(kind: FieldKind, text: str) -> Any:
    """None for what is left out."""
    bare = text.strip()
    if not bare:
        return None
    match kind.look:
        case "names":
            return re.split(r"[\s,]+", bare.strip(","))
        case "number":
            digits = bare.replace(",", "")
            if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
                raise ScenarioError("", "must be a number")
            return int(digits)
        case "yaml":
            return documents.plain(text)
        case "check":
            return True
    return bare


def _put(entry: Json, name: str, value: Any) -> None:
    *above, last = name.split(".")
    for step in above:
        entry = entry.setdefault(step, {})
    entry[last] = value


# --- scenario → form ---------------------------------------------------------


def rows_of(raw: Any, found: Typed | None = None) -> dict[Section, list[Row]]:
    """The rows of a scenario in JSON, right or wrong; entries of no known kind have none.

    ``found``: what was typed, shown instead of what was understood, with problems.
    """
    texts = found.texts if found else {}
    problems = found.problems if found else {}
    return {
        section: list(_rows(raw, section, texts, problems)) for section in _SECTIONS
    }


def entries_of(raw: Any, section: Section) -> list[Any]:
    """What a scenario in JSON has there, right or wrong."""
    entries = raw.get(section) if isinstance(raw, dict) else None
    return entries if isinstance(entries, list) else []


def _rows(
    raw: Any, section: Section, texts: Mapping[str, str], problems: Mapping[str, str]
) -> Iterator[Row]:
    entries = entries_of(raw, section)
    if len(entries) > MOST_ROWS:
        return
    for place, entry in enumerate(entries):
        tag = entry.get(TAGS[section]) if isinstance(entry, dict) else None
        kind = BY_NAME.get((section, str(tag)))
        if kind is None:
            continue
        cells = tuple(
            _cell(one, f"{section}.{place}.{one.name}", entry, section, place, texts)
            for one in kind.fields
        )
        yield _with_problems(Row(kind, place, cells), problems)


def _cell(
    kind: FieldKind,
    name: str,
    entry: Json,
    section: Section,
    place: int,
    texts: Mapping[str, str],
) -> Cell:
    text = texts.get(name)
    if text is None:
        text = _text(kind, _at(entry, kind.name))
    return Cell(kind, name, f"{section}[{place}].{kind.name}", text)


def _at(entry: Any, name: str) -> Any:
    for step in name.split("."):
        entry = entry.get(step) if isinstance(entry, dict) else None
    return entry


def _text(kind: FieldKind, value: Any) -> str:
    if value is None:
        return ""
    match kind.look:
        case "names":
            return " ".join(map(str, value)) if isinstance(value, list) else str(value)
        case "yaml":
            return documents.to_yaml(value) if value else ""
        case "check":
            return "on" if value else ""
    return str(value)


def _with_problems(row: Row, problems: Mapping[str, str]) -> Row:
    here = f"{row.kind.section}[{row.index}]"
    left = {
        path: reason
        for path, reason in problems.items()
        if path == here or path.startswith((f"{here}.", f"{here}["))
    }
    if not left:
        return row
    cells = []
    for cell in row.cells:
        mine = [path for path in left if _is_in(path, cell.path)]
        said = "; ".join(_said(path, cell.path, left.pop(path)) for path in mine)
        cells.append(Cell(cell.kind, cell.name, cell.path, cell.value, said))
    rest = "; ".join(_said(path, here, reason) for path, reason in left.items())
    return Row(row.kind, row.index, tuple(cells), rest)


def _is_in(path: str, of: str) -> bool:
    return path == of or path.startswith((f"{of}.", f"{of}["))


def _said(path: str, of: str, reason: str) -> str:
    deeper = path[len(of) :].lstrip(".")
    return f"{deeper}: {reason}" if deeper else reason


# --- changing rows -----------------------------------------------------------


def stepped(found: Typed, step: str) -> Typed:
    """What a form says after ``add edits drain``, ``remove edits 0`` or ``up edits 1``.

    Anything else leaves it as it is.
    """
    words = step.split()
    if len(words) != 3 or words[1] not in _SECTIONS:
        return found
    section = words[1]
    old = found.raw.get(section)
    entries = old if isinstance(old, list) else []
    order = list(range(len(entries)))
    _reorder(order, words[0], words[2])
    made = [entries[place] for place in order]
    if words[0] == "add" and (section, words[2]) in BY_NAME:
        made.append(first_entry(section, words[2]))
    return Typed(
        found.raw | {section: made},
        _renamed(found.texts, section, order, "{}.{}."),
        _renamed(found.problems, section, order, "{}[{}]"),
    )


def _reorder(order: list[int], verb: str, number: str) -> None:
    if not (number.isascii() and number.isdecimal()):
        return
    place = int(number[:6])
    if place >= len(order):
        return
    if verb == "remove":
        del order[place]
    elif verb == "up" and place:
        order[place - 1 : place + 1] = order[place], order[place - 1]


def _renamed(
    kept: Mapping[str, str], section: Section, order: list[int], form: str
) -> dict[str, str]:
    """The same under the numbers that the rows have now."""
    made = {
        k: v
        for k, v in kept.items()
        if not k.startswith((f"{section}.", f"{section}["))
    }
    for place, old in enumerate(order):
        before, after = form.format(section, old), form.format(section, place)
        for name, value in kept.items():
            if name.startswith(before):
                made[after + name[len(before) :]] = value
    return made


def first_entry(section: Section, kind: str) -> Json:
    """What a new row holds."""
    known = EXAMPLES.get((section, kind), {})
    return {TAGS[section]: kind, **known}
