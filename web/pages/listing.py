"""A list with filters, sorting, paging and export, each in the URL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import batched
from typing import Any, ClassVar, Final

from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.text import slugify
from django.views.generic import View
from django_filters import FilterSet

from web.doors import RequiresRole
from web.exports import export
from web.pages.addresses import with_parameters
from web.pages.columns import Column
from web.pages.crumbs import Crumb

PAGE_SIZES: Final = (50, 100, 200)
EXPORT_BATCH: Final = 500
_WINDOW: Final = 2


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter that is on, and the address without it."""

    label: str
    value: str
    href: str


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


class ListPage[M: Model](RequiresRole, View):
    """See the module docstring of ``web.pages`` for how to make one."""

    title: ClassVar[str] = ""
    name: ClassVar[str] = ""
    noun: ClassVar[tuple[str, str]] = ("row", "rows")
    columns: ClassVar[Sequence[Column]] = ()
    filterset_class: ClassVar[type[FilterSet] | None] = None
    default_sort: ClassVar[str] = "name"
    refresh_on: ClassVar[tuple[str, ...]] = ()
    template_name: ClassVar[str] = "pages/list.html"
    results_template: ClassVar[str] = "pages/list.html#results"
    empty_title: ClassVar[str] = "Nothing here yet"
    nothing_yet: ClassVar[str] = "Nothing has been mirrored yet."
    main_filter_names: ClassVar[tuple[str, ...]] = ()
    """Filters beside the search field; empty: the first five. Others fold away."""
    filters_that_answer: ClassVar[tuple[str, ...]] = ()
    """Filters beside which the page itself says what is wrong with them."""
    page_size: ClassVar[int] = PAGE_SIZES[0]
    nothing_href: ClassVar[str] = ""
    nothing_action: ClassVar[str] = ""
    page_sizes: ClassVar[tuple[int, ...]] = PAGE_SIZES
    request: HttpRequest

    # --- what a page says --------------------------------------------------

    def queryset(self) -> QuerySet[M]:
        """All rows that the list is about, before filters."""
        raise NotImplementedError

    def prepare(self, rows: list[M]) -> list[M]:
        """Load what the cells of these rows need, in bulk: a page or an export batch."""
        return rows

    def sentence(self) -> str:
        """The answer that stands on top; may be empty."""
        return ""

    def crumbs(self) -> list[Crumb]:
        return [Crumb(self.title)]

    def filter_options(self) -> Mapping[str, Sequence[str]]:
        """Text filters to choose from a list instead of typing: name → values."""
        return {}

    def extra(self) -> dict[str, object]:
        """More template context."""
        return {}

    @property
    def incomplete(self) -> bool:
        """Whether the page should ask for its rows again as soon as it is shown."""
        return False

    def available_columns(self) -> Sequence[Column]:
        """All columns that ``?cols=`` may name."""
        return self.columns

    @cached_property
    def _available(self) -> Sequence[Column]:
        return self.available_columns()

    # --- the two answers ---------------------------------------------------

    def get(
        self, request: HttpRequest, *_args: object, **_kwargs: object
    ) -> HttpResponseBase:
        wanted = request.GET.get("format", "")
        if wanted in {"csv", "json"}:
            columns = [column for column in self.shown_columns if column.exported]
            return export(
                request,
                format_="csv" if wanted == "csv" else "json",
                file_name=slugify(self.name or self.title) or "list",
                header=[column.name for column in columns],
                rows=self._export_rows(columns),
            )
        return self._page(request)

    def _page(self, request: HttpRequest) -> HttpResponse:
        fragment = self.is_fragment
        template = self.results_template if fragment else self.template_name
        response = render(request, template, self._context(fragment=fragment))
        patch_vary_headers(response, ("HX-Request", "HX-Target"))
        return response

    @cached_property
    def is_fragment(self) -> bool:
        """Whether only the rows are asked for."""
        htmx = getattr(self.request, "htmx", None)
        if not htmx or htmx.history_restore_request:
            return False
        return bool(htmx.target == "results")

    def _context(self, *, fragment: bool) -> dict[str, object]:
        page = self.current_page
        rows = self.prepare(list(page.object_list))
        columns = self.shown_columns
        context: dict[str, object] = {
            "list": self,
            "page": page,
            "table": [[(c, c.render(row)) for c in columns] for row in rows],
            **self.extra(),
        }
        if not fragment:
            context |= {
                "title": self.title,
                "crumbs": self.crumbs(),
                "sentence": self.sentence(),
            }
        return context

    def _export_rows(self, columns: Sequence[Column]) -> Iterator[list[Any]]:
        found = self.rows.iterator(chunk_size=EXPORT_BATCH)
        for batch in batched(found, EXPORT_BATCH):
            for row in self.prepare(list(batch)):
                yield [column.export(row) for column in columns]

    # --- filters -----------------------------------------------------------

    @cached_property
    def filterset(self) -> FilterSet | None:
        if self.filterset_class is None:
            return None
        return self.filterset_class(
            self.request.GET, queryset=self.queryset(), request=self.request
        )

    @cached_property
    def filter_errors(self) -> list[str]:
        """One sentence per filter that cannot be read; the list is empty then."""
        return [sentence for _, sentence in self._errors_by_filter]

    @property
    def listed_filter_errors(self) -> list[str]:
        """Those that stand above the list."""
        return [
            sentence
            for name, sentence in self._errors_by_filter
            if name not in self.filters_that_answer
        ]

    @cached_property
    def _errors_by_filter(self) -> list[tuple[str, str]]:
        if self.filterset is None or self.filterset.is_valid():
            return []
        form = self.filterset.form
        return [
            (
                name,
                f"{form.fields[name].label or name}: {' '.join(map(str, errors))}"
                if name in form.fields
                else " ".join(map(str, errors)),
            )
            for name, errors in form.errors.items()
        ]

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
    def chips(self) -> list[Chip]:
        """The filters that are on."""
        if self.filterset is None:
            return []
        form = self.filterset.form
        chips = []
        for name, field in form.fields.items():
            for value in filter(None, self.request.GET.getlist(name)):
                choices = dict(getattr(field, "choices", ()) or ())
                chips.append(
                    Chip(
                        label=str(field.label or name),
                        value=str(choices.get(value, value)),
                        href=with_parameters(self.request, drop_value=(name, value)),
                    )
                )
        return chips

    @property
    def clear_href(self) -> str:
        names = tuple(self.filterset.form.fields) if self.filterset else ()
        return with_parameters(self.request, drop=names)

    @cached_property
    def _fields(self) -> tuple[list[BoundField], list[BoundField]]:
        form = self.filterset.form if self.filterset else None
        if form is None:
            return [], []
        for name, values in self.filter_options().items():
            choices = [("", "any"), *((value, value) for value in values)]
            form.fields[name].widget = forms.Select(choices=choices)
        if search := form.fields.get("q"):
            hint = search.widget.attrs.get("placeholder") or search.label
            search.widget.attrs["placeholder"] = hint
            search.widget.input_type = "search"
            search.label = "Search"
        main = set(self.main_filter_names or list(form.fields)[:5])
        shown = [field for field in form if not field.is_hidden]
        return (
            [field for field in shown if field.name in main],
            [field for field in shown if field.name not in main],
        )

    @property
    def hidden_filters(self) -> list[BoundField]:
        return list(self.filterset.form.hidden_fields()) if self.filterset else []

    @property
    def main_filters(self) -> list[BoundField]:
        return self._fields[0]

    @property
    def more_filters(self) -> list[BoundField]:
        return self._fields[1]

    @property
    def more_filters_on(self) -> bool:
        return any(self.request.GET.get(field.name) for field in self.more_filters)

    @property
    def kept_parameters(self) -> list[tuple[str, str]]:
        """What a new filter keeps: order, page size, columns."""
        return self._parameters(lambda name: name in {"sort", "size", "cols"})

    @property
    def parameters_without_columns(self) -> list[tuple[str, str]]:
        return self._parameters(lambda name: name not in {"cols", "page"})

    def _parameters(self, keep: Callable[[str], bool]) -> list[tuple[str, str]]:
        return [
            (name, value)
            for name, values in self.request.GET.lists()
            if keep(name)
            for value in values
            if value
        ]

    # --- columns and sorting -----------------------------------------------

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

    @property
    def asked_columns(self) -> list[str]:
        names = ",".join(self.request.GET.getlist("cols"))[:4000].split(",")
        return list(dict.fromkeys(filter(None, names)))

    @property
    def choosable(self) -> list[tuple[Column, bool]]:
        """Every column and whether it is shown, for the chooser."""
        shown = {column.name for column in self.shown_columns}
        return [(column, column.name in shown) for column in self._available]

    @property
    def can_choose(self) -> bool:
        return any(not column.shown for column in self._available)

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

    @property
    def header(self) -> list[HeaderCell]:
        cells = []
        for column in self.shown_columns:
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

    # --- addresses of the template -----------------------------------------

    @property
    def csv_href(self) -> str:
        return with_parameters(self.request, format="csv")

    @property
    def json_href(self) -> str:
        return with_parameters(self.request, format="json")

    @property
    def here(self) -> str:
        return self.request.get_full_path()

    @property
    def is_filtered(self) -> bool:
        return bool(self.chips)


def _reversed(field: str) -> str:
    return field.removeprefix("-") if field.startswith("-") else f"-{field}"
