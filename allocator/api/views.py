"""Runs: list, start, look, cancel."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from allocator import filtersets, models, services
from allocator.api import serializers
from inventory.api.base import CLUSTER_PARAMETER, MirrorList
from inventory.models import Cluster
from web.api.permissions import role_of_request
from web.api.problems import Conflict
from web.doors import Role

RUNS = models.AllocationRun.objects.select_related("cluster", "created_by")


def cluster_named(name: str) -> Cluster:
    """Raises ValidationError, which names the field."""
    try:
        return Cluster.objects.get(name=name)
    except Cluster.DoesNotExist:
        raise ValidationError(
            {"cluster": f"There is no cluster named {name!r}."}
        ) from None


def accepted(run: models.AllocationRun, request: Request) -> Response:
    """202 with the run and its address."""
    body = serializers.RunDetailSerializer(run, context={"request": request}).data
    address = reverse("api-run", kwargs={"pk": run.pk}, request=request)
    return Response(
        body, status=status.HTTP_202_ACCEPTED, headers={"Location": address}
    )


class RunList(MirrorList):
    """Allocation runs, newest first."""

    queryset = RUNS.defer("plan", "patch", "before")
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
            run = services.start_run(
                cluster=cluster_named(data["cluster"]),
                namespace=data["namespace"],
                claim_name=data["claim_name"],
                user=request.user,
                node=data["node"],
                policy=data["policy"],
                dry_run=data["dry_run"],
            )
        except services.RunRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return accepted(run, request)


class RunDetail(generics.RetrieveAPIView[models.AllocationRun]):
    """One run with its plan and every transition."""

    serializer_class = serializers.RunDetailSerializer

    def get_queryset(self) -> QuerySet[models.AllocationRun]:
        return RUNS.prefetch_related("transitions", "steps")


class RunCancel(generics.GenericAPIView[models.AllocationRun]):
    """Stop a run that has sent nothing final yet."""

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
        """A run that is writing answers with stop_asked: it ends when it has cleaned up."""
        run = self.get_object()
        try:
            run = services.cancel_run(run=run, user=request.user)
        except services.RunRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return Response(self.get_serializer(run).data)


class RunRetry(generics.GenericAPIView[models.AllocationRun]):
    """A new run like one that is over; it names it in retry_of."""

    queryset = RUNS
    serializer_class = serializers.RetrySerializer

    @extend_schema(
        responses={
            202: serializers.RunDetailSerializer,
            409: OpenApiResponse(description="The claim cannot be had by us now."),
        },
    )
    def post(self, request: Request, pk: str) -> Response:
        run = self.get_object()
        wanted = self.get_serializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        dry_run = False if wanted.validated_data["write"] else None
        try:
            again = services.retry_run(run=run, user=request.user, dry_run=dry_run)
        except services.RunRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return accepted(again, request)


class RunRelease(generics.GenericAPIView[models.AllocationRun]):
    """Take the allocation of a claim back."""

    queryset = RUNS
    serializer_class = serializers.StartReleaseSerializer

    @extend_schema(
        responses={
            202: serializers.RunDetailSerializer,
            409: OpenApiResponse(description="It holds nothing, or somebody uses it."),
        },
    )
    def post(self, request: Request) -> Response:
        """Start a run that deallocates. 202: follow it at the address in Location."""
        wanted = self.get_serializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        if data["override"] and role_of_request(request) != Role.ADMIN:
            raise PermissionDenied("To override takes the role “admin”.")
        try:
            run = services.start_release(
                cluster=cluster_named(data["cluster"]),
                namespace=data["namespace"],
                claim_name=data["claim_name"],
                user=request.user,
                dry_run=data["dry_run"],
                override=data["override"],
            )
        except services.RunRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return accepted(run, request)


class RunBatch(generics.GenericAPIView[models.AllocationRun]):
    """Several claims at once, planned together in one snapshot."""

    queryset = RUNS
    serializer_class = serializers.StartBatchSerializer

    @extend_schema(
        responses={
            202: serializers.BatchSerializer,
            409: OpenApiResponse(
                description="None of them can be allocated by us now."
            ),
        },
    )
    def post(self, request: Request) -> Response:
        """Start a run for each claim that is pending, in the order given."""
        wanted = self.get_serializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        try:
            started = services.start_batch(
                cluster=cluster_named(data["cluster"]),
                claims=[(c["namespace"], c["claim_name"]) for c in data["claims"]],
                user=request.user,
                policy=data["policy"],
                dry_run=data["dry_run"],
            )
        except services.RunRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        left_out = [
            {"namespace": namespace, "claim_name": name, "reason": why}
            for (namespace, name), why in started.refused
        ]
        answer = {"id": started.batch.pk, "runs": started.runs, "left_out": left_out}
        body = serializers.BatchSerializer(answer, context={"request": request}).data
        return Response(body, status=status.HTTP_202_ACCEPTED)
