"""Filters of claims, templates and pods, the same on pages and in the API."""

from __future__ import annotations

from typing import Any

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from claims.choices import ClaimState
from claims.models import (
    AllocatedDevice,
    ClaimConsumer,
    ClaimRequest,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
)

MAX_TEXT = 253


def text(label: str, **kwargs: Any) -> filters.CharFilter:
    return filters.CharFilter(label=label, max_length=MAX_TEXT, **kwargs)


class ClaimFilter(filters.FilterSet):
    q = text("Name, owner, node or request contains", method="filter_text")
    namespace = text("Namespace")
    state = filters.MultipleChoiceFilter(label="State", choices=ClaimState)
    device_class = text("Device class", method="filter_class")
    node_name = text("Node")
    driver = text("Driver of a device it holds", method="filter_driver")
    pod = text("Pod it is reserved for", method="filter_pod")
    template_name = text("Template")
    admin_access = filters.BooleanFilter(label="Admin access")

    class Meta:
        model = ResourceClaim
        fields: list[str] = []

    def filter_text(
        self, queryset: QuerySet[ResourceClaim], _name: str, value: str
    ) -> QuerySet[ResourceClaim]:
        return queryset.filter(
            Q(name__icontains=value)
            | Q(owner_name__icontains=value)
            | Q(node_name__icontains=value)
            | Q(requests_text__icontains=value)
        )

    def filter_class(
        self, queryset: QuerySet[ResourceClaim], _name: str, value: str
    ) -> QuerySet[ResourceClaim]:
        asks = ClaimRequest.objects.filter(claim=OuterRef("pk"), class_name=value)
        return queryset.filter(Exists(asks))

    def filter_driver(
        self, queryset: QuerySet[ResourceClaim], _name: str, value: str
    ) -> QuerySet[ResourceClaim]:
        holds = AllocatedDevice.objects.filter(claim=OuterRef("pk"), driver=value)
        return queryset.filter(Exists(holds))

    def filter_pod(
        self, queryset: QuerySet[ResourceClaim], _name: str, value: str
    ) -> QuerySet[ResourceClaim]:
        reserved = ClaimConsumer.objects.filter(
            claim=OuterRef("pk"), resource="pods", name=value
        )
        return queryset.filter(Exists(reserved))


class TemplateFilter(filters.FilterSet):
    q = text("Name or request contains", method="filter_text")
    namespace = text("Namespace")
    device_class = text("Device class", method="filter_class")

    class Meta:
        model = ResourceClaimTemplate
        fields: list[str] = []

    def filter_text(
        self, queryset: QuerySet[ResourceClaimTemplate], _name: str, value: str
    ) -> QuerySet[ResourceClaimTemplate]:
        return queryset.filter(
            Q(name__icontains=value) | Q(requests_text__icontains=value)
        )

    def filter_class(
        self, queryset: QuerySet[ResourceClaimTemplate], _name: str, value: str
    ) -> QuerySet[ResourceClaimTemplate]:
        asks = ClaimRequest.objects.filter(template=OuterRef("pk"), class_name=value)
        return queryset.filter(Exists(asks))


class PodFilter(filters.FilterSet):
    q = text("Name contains", field_name="name", lookup_expr="icontains")
    namespace = text("Namespace")
    phase = text("Phase")
    node_name = text("Node")
    waiting = filters.BooleanFilter(label="Waits for a node", method="filter_waiting")

    class Meta:
        model = Pod
        fields: list[str] = []

    def filter_waiting(
        self, queryset: QuerySet[Pod], _name: str, value: bool
    ) -> QuerySet[Pod]:
        return (
            queryset.filter(node_name="") if value else queryset.exclude(node_name="")
        )
