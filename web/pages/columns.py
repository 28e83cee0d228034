"""Columns of a list, declared once for the page, its sorting and its exports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

from django.utils.html import format_html

from web.pages import cells

Kind = Literal["text", "line", "mono", "number", "age", "badge", "html"]
"""``line`` is text cut to the room there is, whole in its title; ``html`` never wraps."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    ``value`` gives the plain value for exports and for the built-in kinds: a dotted
    attribute path (default: ``name``) or a function of the row. ``cell`` overrides
    how it looks and must return escaped HTML (``web.pages.cells``). ``sort`` holds
    the ``order_by`` fields; empty: not sortable. ``href`` makes the cell a link.
    ``shown=False``: only when the user asks for it with ``?cols=``; ``if_any``: then, or
    when some row of the page has a value; ``on_page=False``: then, and in exports.
    ``flexible``: cut to the room there is, so that
    what stands beside it stays in view.
    """

    name: str
    label: str
    value: str | Callable[[Any], Any] = ""
    sort: tuple[str, ...] = ()
    kind: Kind = "text"
    cell: Callable[[Any], str] | None = None
    href: Callable[[Any], str] | None = None
    title: str = ""
    shown: bool = True
    if_any: bool = False
    on_page: bool = True
    flexible: bool = False
    exported: bool = True

    @property
    def css(self) -> str:
        """Classes of the column's cells."""
        kind = {"number": "num", "age": "num age", "badge": "state-cell"}.get(
            self.kind, self.kind
        )
        return f"{kind} flexible" if self.flexible else kind

    def get(self, row: Any) -> Any:
        """The plain value."""
        if callable(self.value):
            return self.value(row)
        return attrgetter(self.value or self.name)(row)

    def is_blank(self, row: Any) -> bool:
        """Whether its cell of ``row`` would say nothing."""
        return self.get(row) in (None, "", cells.NOTHING)

    def render(self, row: Any) -> str:
        """The cell's HTML."""
        if self.cell is not None:
            return self.cell(row)
        value = self.get(row)
        if value is None or value == "":
            return cells.NOTHING
        if self.href is not None:
            hint = str(value) if self.flexible else ""
            href = self.href(row)
            return cells.link(href, value, mono=self.kind == "mono", title=hint)
        match self.kind:
            case "mono":
                return cells.mono(value)
            case "number":
                return str(cells.number(value))
            case "age":
                return cells.age(value)
            case "badge":
                return cells.badge(str(value))
            case "line":
                return format_html('<span title="{}">{}</span>', value, value)
            case _:
                return format_html("{}", value)

    def export(self, row: Any) -> Any:
        """A JSON scalar: times as ISO 8601."""
        value = self.get(row)
        if isinstance(value, datetime):
            return value.isoformat()
        if value is None or isinstance(value, str | int | float | bool):
            return value
        if isinstance(value, list | dict):
            return value
        return str(value)
