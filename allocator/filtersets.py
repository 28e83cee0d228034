"""Filters of runs, the same on the page and in the API."""

from __future__ import annotations

import django_filters as filters
from django import forms

from allocator.choices import RunKind, RunState
from allocator.models import AllocationRun
from web.filters import ChoiceFilter, SearchFilter, TextFilter


class RunFilter(filters.FilterSet):
    q = SearchFilter(
        fields=("claim_name", "node_name", "reason"),
        placeholder="claim, node or reason",
    )
    namespace = TextFilter(label="Namespace")
    claim_name = TextFilter(label="Claim")
    state = filters.MultipleChoiceFilter(label="State", choices=RunState)
    kind = ChoiceFilter(label="Kind", choices=RunKind)
    node_name = TextFilter(label="Node")
    created_by = TextFilter(label="Started by", field_name="created_by__username")

    batch = filters.UUIDFilter(label="Batch", widget=forms.HiddenInput)

    class Meta:
        model = AllocationRun
        fields: list[str] = []
