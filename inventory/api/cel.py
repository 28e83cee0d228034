"""What an expression does: on all devices of a cluster, and step by step on one."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from allocator import snapshots
from dra.names import DeviceID
from inventory import selecting
from inventory.api.base import ClusterQuestion
from inventory.api.cel_answers import (
    EvaluatedSerializer,
    ExplainedSerializer,
    evaluated,
    explained,
)
from inventory.api.cel_questions import EvaluateSerializer, ExplainSerializer


class CelEvaluate(ClusterQuestion):
    """An expression on the devices of a cluster."""

    serializer_class = EvaluateSerializer

    @extend_schema(
        operation_id="clusters_cel_evaluate",
        request=EvaluateSerializer,
        responses={
            200: EvaluatedSerializer,
            404: OpenApiResponse(description="No such cluster, or no such class."),
        },
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Counts, terms, warnings and the first devices. A refused text is an answer."""
        cluster = self.get_object()
        asked = EvaluateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            found = selecting.answer(
                snapshots.current(cluster),
                asked.validated_data["expression"],
                scope=asked.scope_asked(),
                features=selecting.features_of(cluster),
                first=asked.validated_data["first"],
            )
        except selecting.NoSuchScope as problem:
            if problem.missing:
                raise Http404(str(problem)) from problem
            raise ValidationError({"class": str(problem)}) from problem
        return Response(evaluated(found))


class CelExplain(ClusterQuestion):
    """An expression on one device."""

    serializer_class = ExplainSerializer

    @extend_schema(
        operation_id="clusters_cel_explain",
        request=ExplainSerializer,
        responses={
            200: ExplainedSerializer,
            404: OpenApiResponse(description="No such cluster, or no such device."),
        },
    )
    def post(self, request: Request, **_: Any) -> Response:
        """The value or error of every part. A refused text is an answer."""
        cluster = self.get_object()
        asked = ExplainSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            found = selecting.device_trace(
                snapshots.current(cluster),
                asked.validated_data["expression"],
                DeviceID(**asked.validated_data["device"]),
                features=selecting.features_of(cluster),
            )
        except selecting.NoSuchDevice as problem:
            raise Http404(str(problem)) from problem
        return Response(explained(found))
