"""Lists and details of claims, templates and pods."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema

from claims import filtersets, models
from claims.api import serializers
from inventory.api.base import CLUSTER_PARAMETER, MirrorDetail, MirrorList

NAMESPACED_KEY = {
    "cluster": "cluster__name",
    "namespace": "namespace",
    "name": "name",
}


@extend_schema(parameters=[CLUSTER_PARAMETER])
class ClaimList(MirrorList):
    """Claims with their requests, the devices they hold and who reserved them."""

    queryset = (
        models.ResourceClaim.objects.defer("raw")
        .select_related("cluster")
        .prefetch_related("requests", "devices", "consumers")
    )
    serializer_class = serializers.ClaimSerializer
    filterset_class = filtersets.ClaimFilter


class ClaimDetail(MirrorDetail):
    """One claim, the mirrored object included."""

    queryset = models.ResourceClaim.objects.select_related("cluster").prefetch_related(
        "requests", "devices", "consumers"
    )
    serializer_class = serializers.ClaimDetailSerializer
    key_fields = NAMESPACED_KEY


@extend_schema(parameters=[CLUSTER_PARAMETER])
class TemplateList(MirrorList):
    """Claim templates with their requests."""

    queryset = (
        models.ResourceClaimTemplate.objects.defer("raw")
        .select_related("cluster")
        .prefetch_related("requests")
    )
    serializer_class = serializers.TemplateSerializer
    filterset_class = filtersets.TemplateFilter


class TemplateDetail(MirrorDetail):
    """One claim template, the mirrored object included."""

    queryset = models.ResourceClaimTemplate.objects.select_related(
        "cluster"
    ).prefetch_related("requests")
    serializer_class = serializers.TemplateDetailSerializer
    key_fields = NAMESPACED_KEY


@extend_schema(parameters=[CLUSTER_PARAMETER])
class PodList(MirrorList):
    """Pods that use claims, wait for extended resources of DRA or belong to a PodGroup;
    others are not mirrored."""

    queryset = (
        models.Pod.objects.defer("raw")
        .select_related("cluster")
        .prefetch_related("claims", "resources")
    )
    serializer_class = serializers.PodSerializer
    filterset_class = filtersets.PodFilter


class PodDetail(MirrorDetail):
    """One pod, the mirrored object included."""

    queryset = models.Pod.objects.select_related("cluster").prefetch_related(
        "claims", "resources"
    )
    serializer_class = serializers.PodDetailSerializer
    key_fields = NAMESPACED_KEY
