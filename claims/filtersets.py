"""Filters of claims, templates and pods, the same on pages and in the API."""

from __future__ import annotations

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from claims.choices import ClaimState
from claims.models import (
    WAITING_POD,
    AllocatedDevice,
    ClaimConsumer,
    ClaimRequest,
    Pod,
    PodResource,
    ResourceClaim,
    ResourceClaimTemplate,
)
from web.filters import SearchFilter, TextFilter, YesNoFilter


class ClaimFilter(filters.FilterSet):
    q = SearchFilter(
        fields=("name", "owner_name", "node_name", "requests_text"),
        placeholder="name, owner, node or request",
    )
    namespace = TextFilter(label="Namespace")
    state = filters.MultipleChoiceFilter(label="State", choices=ClaimState)
    device_class = TextFilter(label="Device class", method="filter_class")
    node_name = TextFilter(label="Node")
    driver = TextFilter(label="Driver of a device it holds", method="filter_driver")
    pod = TextFilter(label="Pod it is reserved for", method="filter_pod")
    template_name = TextFilter(label="Template")
    admin_access = YesNoFilter(label="Admin access")

    class Meta:
        model = ResourceClaim
        fields: list[str] = []

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
    q = SearchFilter(fields=("name", "requests_text"), placeholder="name or request")
    namespace = TextFilter(label="Namespace")
    device_class = TextFilter(label="Device class", method="filter_class")

    class Meta:
        model = ResourceClaimTemplate
        fields: list[str] = []

    def filter_class(
        self, queryset: QuerySet[ResourceClaimTemplate], _name: str, value: str
    ) -> QuerySet[ResourceClaimTemplate]:
        asks = ClaimRequest.objects.filter(template=OuterRef("pk"), class_name=value)
        return queryset.filter(Exists(asks))


class PodSearch(SearchFilter):
    """Also what a pod asks for as an extended resource."""

    def match(self, word: str) -> Q:
        asks = PodResource.objects.filter(pod=OuterRef("pk"), name__icontains=word)
        return super().match(word) | Q(Exists(asks))


class PodFilter(filters.FilterSet):
    q = PodSearch(
        fields=("name", "node_name"), placeholder="name, node or extended resource"
    )
    namespace = TextFilter(label="Namespace")
    phase = TextFilter(label="Phase")
    node_name = TextFilter(label="Node")
    waiting = YesNoFilter(label="Waits for a node", method="filter_waiting")
    resource = TextFilter(
        label="Extended resource it asks for", method="filter_resource"
    )

    class Meta:
        model = Pod
        fields: list[str] = []

    def filter_waiting(
        self, queryset: QuerySet[Pod], _name: str, value: str
    ) -> QuerySet[Pod]:
        return queryset.filter(WAITING_POD if value == "true" else ~WAITING_POD)

    def filter_resource(
        self, queryset: QuerySet[Pod], _name: str, value: str
    ) -> QuerySet[Pod]:
        asks = PodResource.objects.filter(pod=OuterRef("pk"), name=value)
        return queryset.filter(Exists(asks))
