"""Runs: list, start, look, cancel."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from allocator import filtersets, models, services
from allocator.api import serializers
from inventory.api.base import CLUSTER_PARAMETER, MirrorList
from inventory.models import Cluster
from web.api.problems import Conflict

RUNS = models.AllocationRun.objects.select_related("cluster", "created_by")


class RunList(MirrorList):
    """Allocation runs, newest first."""

    queryset = RUNS.defer("plan", "patch")
    serializer_class = serializers.RunSerializer
    filterset_class = filtersets.RunFilter
    cursor_ordering = ("-created_at", "pk")
    follows_seq = False

    @extend_schema(parameters=[CLUSTER_PARAMETER])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)

    @extend_schema(
        request=serializers.StartRunSerializer,
        responses={
            202: serializers.RunDetailSerializer,
            409: OpenApiResponse(
                description="The claim cannot be allocated by us now."
            ),
        },
    )
    def post(self, request: Request) -> Response:
        """Start a run. 202: follow it at the address in Location."""
        wanted = serializers.StartRunSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        try:
            cluster = Cluster.objects.get(name=data["cluster"])
        except Cluster.DoesNotExist:
            raise ValidationError(
                {"cluster": f"There is no cluster named {data['cluster']!r}."}
            ) from None
        try:
            run = services.start_run(
                cluster=cluster,
                namespace=data["namespace"],
                claim_name=data["claim_name"],
                user=request.user,
                node=data["node"],
                dry_run=data["dry_run"],
            )
        except services.RunRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        body = serializers.RunDetailSerializer(run, context={"request": request}).data
        address = reverse("api-run", kwargs={"pk": run.pk}, request=request)
        return Response(
            body, status=status.HTTP_202_ACCEPTED, headers={"Location": address}
        )


class RunDetail(generics.RetrieveAPIView[models.AllocationRun]):
    """One run with its plan and every transition."""

    serializer_class = serializers.RunDetailSerializer

    def get_queryset(self) -> QuerySet[models.AllocationRun]:
        return RUNS.prefetch_related("transitions")


class RunCancel(generics.GenericAPIView[models.AllocationRun]):
    """Stop a run that has not written yet."""

    queryset = RUNS
    serializer_class = serializers.RunDetailSerializer

    @extend_schema(
        request=None,
        responses={
            200: serializers.RunDetailSerializer,
            409: OpenApiResponse(description="The run has written or has ended."),
        },
    )
    def post(self, request: Request, pk: str) -> Response:
        run = self.get_object()
        try:
            run = services.cancel_run(run=run, user=request.user)
        except services.RunRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return Response(self.get_serializer(run).data)
