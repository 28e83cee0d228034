"""Cursor paging: stable while rows come and go, and as quick on the last page as on the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

if TYPE_CHECKING:  # DRF's views import this module through the settings
    from rest_framework.views import APIView


class CursorPages(CursorPagination):
    """``?limit=`` 1 to 1,000 rows a page, ``?cursor=`` from ``next`` and ``previous``."""

    page_size = 100
    page_size_query_param = "limit"
    page_size_query_description = "Rows a page, 1 to 1,000; 100 without it."
    max_page_size = 1000
    ordering = "pk"

    def get_ordering(
        self, request: Request, queryset: QuerySet[Any], view: APIView
    ) -> tuple[str, ...]:
        ordering = getattr(view, "cursor_ordering", self.ordering)
        return (ordering,) if isinstance(ordering, str) else tuple(ordering)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """In OpenAPI 3.1's words; DRF's own are those of 3.0."""
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": address, "previous": address, "results": schema},
        }
