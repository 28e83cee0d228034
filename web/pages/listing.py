"""A list with filters, sorting, paging and export, each in the URL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import batched
from typing import Any, ClassVar, Final

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.text import slugify

from web.doors import RequiresRole
from web.exports import export
from web.pages.addresses import with_parameters
from web.pages.columns import Column
from web.pages.crumbs import Crumb
from web.pages.tabular import TabularRows

EXPORT_BATCH: Final = 500


class ListPage[M: Model](RequiresRole, TabularRows[M]):
    """See the module docstring of ``web.pages`` for how to make one."""

    title: ClassVar[str] = ""
    name: ClassVar[str] = ""
    refresh_on: ClassVar[tuple[str, ...]] = ()
    template_name: ClassVar[str] = "pages/list.html"
    results_template: ClassVar[str] = "pages/list.html#results"
    empty_title: ClassVar[str] = "Nothing here yet"
    nothing_yet: ClassVar[str] = "Nothing has been mirrored yet."
    nothing_href: ClassVar[str] = ""
    nothing_action: ClassVar[str] = ""

    # --- what a page says --------------------------------------------------

    def prepare(self, rows: list[M]) -> list[M]:
        """Load what the cells of these rows need, in bulk: a page or an export batch."""
        return rows

    def sentence(self) -> str:
        """The answer that stands on top; may be empty."""
        return ""

    def crumbs(self) -> list[Crumb]:
        return [Crumb(self.title)]

    def extra(self) -> dict[str, object]:
        """More template context."""
        return {}

    @property
    def incomplete(self) -> bool:
        """Whether the page should ask for its rows again as soon as it is shown."""
        return False

    @property
    def live(self) -> bool:
        """Whether the rows follow changes of ``refresh_on`` by themselves.

        Else the page only says that there were some: nothing moves under a reader.
        """
        return False

    # --- the two answers ---------------------------------------------------

    def get(
        self, request: HttpRequest, *_args: object, **_kwargs: object
    ) -> HttpResponseBase:
        wanted = request.GET.get("format", "")
        if wanted in {"csv", "json"} and self.filter_errors:
            # An empty file would say that there is nothing; the page says what is wrong.
            page = self._page(request)
            page.status_code = 400
            return page
        if wanted in {"csv", "json"}:
            columns = self.exported_columns
            return export(
                request,
                format_="csv" if wanted == "csv" else "json",
                file_name=slugify(self.name or self.title) or "list",
                header=[column.name for column in columns],
                rows=self._export_rows(columns),
            )
        return self._page(request)

    @property
    def exported_columns(self) -> Sequence[Column]:
        """Those shown; what only a page has by itself, too, where it was asked for."""
        asked = bool(self.asked_columns)
        return [
            column
            for column in self.shown_columns
            if column.exported or (asked and column.value)
        ]

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
        columns = self.columns_of(rows)
        context: dict[str, object] = {
            "list": self,
            "page": page,
            "header": self.header_of(columns),
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
