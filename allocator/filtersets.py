"""Filters of runs, the same on the page and in the API."""

from __future__ import annotations

import django_filters as filters

from allocator.choices import RunState
from allocator.models import AllocationRun

MAX_TEXT = 253


class RunFilter(filters.FilterSet):
    q = filters.CharFilter(
        label="Claim name contains",
        field_name="claim_name",
        lookup_expr="icontains",
        max_length=MAX_TEXT,
    )
    namespace = filters.CharFilter(label="Namespace", max_length=MAX_TEXT)
    claim_name = filters.CharFilter(label="Claim", max_length=MAX_TEXT)
    state = filters.MultipleChoiceFilter(label="State", choices=RunState)
    node_name = filters.CharFilter(label="Node", max_length=MAX_TEXT)
    created_by = filters.CharFilter(
        label="Started by", field_name="created_by__username", max_length=150
    )

    class Meta:
        model = AllocationRun
        fields: list[str] = []
