"""Filtered rows in columns, sorted, a page at a time, each in the URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet

from web.pages.addresses import with_parameters
from web.pages.columns import Column
from web.pages.filtered import FilteredRows

PAGE_SIZES: Final = (50, 100, 200)
_WINDOW: Final = 2


@dataclass(frozen=True, slots=True)
class HeaderCell:
    column: Column
    href: str
    direction: str
    """``ascending``, ``descending`` or empty, as ``aria-sort`` wants it."""


@dataclass(frozen=True, slots=True)
class PageLink:
    number: int
    """0: a gap."""
    href: str


class TabularRows[M: Model](FilteredRows[M]):
    """Which columns are shown, in which order the rows come, and which page it is."""

    noun: ClassVar[tuple[str, str]] = ("row", "rows")
    columns: ClassVar[Sequence[Column]] = ()
    default_sort: ClassVar[str] = "name"
    page_size: ClassVar[int] = PAGE_SIZES[0]
    page_sizes: ClassVar[tuple[int, ...]] = PAGE_SIZES

    def available_columns(self) -> Sequence[Column]:
        """All columns that ``?cols=`` may name."""
        return self.columns

    @cached_property
    def _available(self) -> Sequence[Column]:
        return self.available_columns()

    # --- columns and sorting -----------------------------------------------

    @cached_property
    def rows(self) -> QuerySet[M]:
        """Filtered and sorted; ties broken by key, so that paging is stable."""
        if self.filterset is None:
            found = self.queryset()
        elif self.filter_errors:
            found = self.queryset().none()
        else:
            found = self.filterset.qs
        return found.order_by(*self._order, "pk")

    @cached_property
    def shown_columns(self) -> list[Column]:
        """The default ones, or those of ``?cols=a,b`` (repeated ones count too)."""
        available = self._available
        asked = self.asked_columns
        if asked:
            by_name = {column.name: column for column in available}
            chosen = [by_name[name] for name in asked if name in by_name]
            if chosen:
                return chosen
        return [column for column in available if column.shown]

    def columns_of(self, rows: Sequence[M]) -> list[Column]:
        """Those of ``shown_columns`` that a page with ``rows`` needs."""
        if self.asked_columns:
            return self.shown_columns
        return [
            column
            for column in self.shown_columns
            if column.on_page
            and not (column.if_any and all(map(column.is_blank, rows)))
        ]

    @property
    def asked_columns(self) -> list[str]:
        names = ",".join(self.request.GET.getlist("cols"))[:4000].split(",")
        return list(dict.fromkeys(filter(None, names)))

    @property
    def choosable(self) -> list[tuple[Column, bool]]:
        """Every column and whether it is shown, for the chooser."""
        asked = bool(self.asked_columns)
        shown = {c.name for c in self.shown_columns if asked or c.on_page}
        return [(column, column.name in shown) for column in self._available]

    @property
    def can_choose(self) -> bool:
        return any(
            not column.shown or not column.on_page or column.if_any
            for column in self._available
        )

    @cached_property
    def sort(self) -> str:
        """``name`` or ``-name`` of a sortable column."""
        asked = self.request.GET.get("sort", "")
        sortable = {c.name for c in self._available if c.sort}
        return asked if asked.removeprefix("-") in sortable else self.default_sort

    @property
    def _order(self) -> list[str]:
        column = next(
            (c for c in self._available if c.name == self.sort.removeprefix("-")),
            None,
        )
        if column is None:
            return [self.default_sort]
        if not self.sort.startswith("-"):
            return list(column.sort)
        return [_reversed(field) for field in column.sort]

    def header_of(self, columns: Sequence[Column]) -> list[HeaderCell]:
        cells = []
        for column in columns:
            direction, target = "", column.name
            if self.sort == column.name:
                direction, target = "ascending", f"-{column.name}"
            elif self.sort == f"-{column.name}":
                direction = "descending"
            elif column.kind == "number":
                target = f"-{column.name}"
            href = with_parameters(self.request, sort=target) if column.sort else ""
            cells.append(HeaderCell(column, href, direction))
        return cells

    # --- paging ------------------------------------------------------------

    @cached_property
    def size(self) -> int:
        asked = self.request.GET.get("size", "")
        return int(asked) if asked in map(str, self.page_sizes) else self.page_size

    @cached_property
    def paginator(self) -> Paginator[M]:
        return Paginator(self.rows, self.size)

    @cached_property
    def current_page(self) -> Page[M]:
        """The asked page, or the nearest one that exists."""
        return self.paginator.get_page(self.request.GET.get("page"))

    @property
    def page_links(self) -> list[PageLink]:
        """First, last and those around the current one; number 0 stands for a gap."""
        here, last = self.current_page.number, self.paginator.num_pages
        near = range(max(1, here - _WINDOW), min(last, here + _WINDOW) + 1)
        links: list[PageLink] = []
        previous = 0
        for number in sorted({1, *near, last}):
            if number > previous + 1:
                links.append(PageLink(0, ""))
            links.append(PageLink(number, self.page_href(number)))
            previous = number
        return links

    def page_href(self, number: int) -> str:
        return with_parameters(self.request, page=number if number > 1 else None)

    @property
    def next_href(self) -> str:
        page = self.current_page
        return self.page_href(page.number + 1) if page.has_next() else ""

    @property
    def previous_href(self) -> str:
        page = self.current_page
        return self.page_href(page.number - 1) if page.has_previous() else ""

    @property
    def size_links(self) -> list[tuple[int, str, bool]]:
        return [
            (size, with_parameters(self.request, size=size), size == self.size)
            for size in self.page_sizes
        ]

    @property
    def count_words(self) -> str:
        """``1–50 of 1,024 nodes``."""
        page, total = self.current_page, self.paginator.count
        noun = self.noun[0] if total == 1 else self.noun[1]
        if total <= self.size:
            return f"{total:,} {noun}"
        return f"{page.start_index():,}–{page.end_index():,} of {total:,} {noun}"


def _reversed(field: str) -> str:
    return field.removeprefix("-") if field.startswith("-") else f"-{field}"
