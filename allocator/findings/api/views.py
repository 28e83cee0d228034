"""Findings: list, look, acknowledge, take that back."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response

from allocator.findings import queries
from allocator.findings.acknowledging import (
    AcknowledgeRefused,
    acknowledge,
    take_back,
)
from allocator.findings.api import serializers
from allocator.findings.filtersets import FindingFilter
from allocator.models import Finding, FindingObject
from inventory.api.base import CLUSTER_PARAMETER, MirrorList
from web.api.problems import Conflict


@extend_schema(parameters=[CLUSTER_PARAMETER])
class FindingList(MirrorList):
    """What is wrong, worst first; with `state` also what was."""

    serializer_class = serializers.FindingSerializer
    filterset_class = FindingFilter
    cursor_ordering = ("rank", "code", "pk")
    follows_seq = False
    queryset = Finding.objects.none()

    def get_queryset(self) -> QuerySet[Finding]:
        return queries.findings(self.cluster)


class _One(generics.GenericAPIView[Finding]):
    serializer_class = serializers.FindingDetailSerializer
    queryset = Finding.objects.none()

    def get_queryset(self) -> QuerySet[Finding]:
        objects = FindingObject.objects.order_by("pk")
        return queries.findings().prefetch_related(
            Prefetch("objects_concerned", queryset=objects)
        )


class FindingDetail(_One, generics.RetrieveAPIView[Finding]):
    """One finding with the objects that it concerns and the steps that mend it."""


class FindingAcknowledge(_One):
    """Take note of a finding: it is listed, and counted no more."""

    @extend_schema(
        request=serializers.AcknowledgeSerializer,
        responses={
            200: serializers.FindingDetailSerializer,
            409: OpenApiResponse(description="The finding has ended."),
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        """Give the reason why it can stay as it is."""
        given = serializers.AcknowledgeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        return self._written(
            lambda row: acknowledge(row, request.user, given.validated_data["reason"])
        )

    @extend_schema(
        responses={
            200: serializers.FindingDetailSerializer,
            409: OpenApiResponse(description="The finding has ended."),
        },
    )
    def delete(self, request: Request, pk: int) -> Response:
        """Take that back: it counts again."""
        return self._written(take_back)

    def _written(self, write: Any) -> Response:
        row = self.get_object()
        try:
            write(row)
        except AcknowledgeRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return Response(self.get_serializer(row).data)
