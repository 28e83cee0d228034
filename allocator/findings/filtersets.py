"""Filters of findings, the same on the page and in the API."""

from __future__ import annotations

from typing import Any, Final

import django_filters as filters
from django.db.models import QuerySet

from allocator.models import Finding
from dra.audits import MEANINGS, SEVERITIES
from web.filters import ChoiceFilter, SearchFilter, TextFilter, YesNoFilter

KINDS: Final = (
    ("ResourceClaim", "claim"),
    ("Pool", "pool"),
    ("Driver", "driver"),
    ("Node", "node"),
    ("DeviceClass", "class"),
    ("DeviceTaintRule", "taint rule"),
    ("ResourceClaimTemplate", "template"),
    ("Pod", "pod"),
    ("ResourceSlice", "slice"),
    ("PodGroup", "pod group"),
    ("Namespace", "namespace"),
)


class FindingFilter(filters.FilterSet):
    """Without ``state`` only what is wrong now."""

    q = SearchFilter(
        fields=("sentence", "name", "namespace", "device"),
        placeholder="object, device or words",
    )
    severity = filters.MultipleChoiceFilter(
        label="Severity", choices=[(one, one) for one in SEVERITIES]
    )
    code = ChoiceFilter(
        label="What",
        choices=[(code.value, meaning.title) for code, meaning in MEANINGS.items()],
    )
    state = ChoiceFilter(
        label="When",
        choices=[("ended", "ended"), ("all", "now or before")],
        empty_label="now",
        method="of_state",
    )
    acknowledged = YesNoFilter(label="Acknowledged", method="of_note")
    namespace = TextFilter(label="Namespace")
    kind = ChoiceFilter(label="About a", choices=KINDS)
    name = TextFilter(label="Name")

    class Meta:
        model = Finding
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        found: QuerySet[Finding] = super().filter_queryset(queryset)
        if not self.form.cleaned_data.get("state"):
            found = found.filter(ended_at=None)
        return found

    def of_state(self, rows: QuerySet[Finding], _: str, value: str) -> Any:
        return rows.exclude(ended_at=None) if value == "ended" else rows

    def of_note(self, rows: QuerySet[Finding], _: str, value: str) -> Any:
        return rows.filter(acknowledged_at__isnull=value == "false")
