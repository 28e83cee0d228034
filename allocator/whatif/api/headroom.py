"""How many more of each shape fit, the shapes, and how it went over time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from allocator.whatif import headroom
from allocator.whatif.api.serializers import (
    HeadroomSerializer,
    HistorySerializer,
    ShapesSerializer,
    refused,
)
from allocator.whatif.asking import snapshot_of
from dra.whatif import ScenarioError
from inventory.models import Cluster
from web.api.permissions import ViewerReads

MOST_DAYS = 366


class OfCluster(generics.GenericAPIView[Cluster]):
    """Something of one cluster: viewers read, operators change."""

    queryset = Cluster.objects.all()
    lookup_field = "name"
    permission_classes = [ViewerReads]


class HeadroomNow(OfCluster):
    serializer_class = HeadroomSerializer

    @extend_schema(
        operation_id="clusters_headroom",
        responses={
            200: HeadroomSerializer,
            404: OpenApiResponse(description="No such cluster."),
        },
    )
    def get(self, request: Request, **_: Any) -> Response:
        """Each shape asked as if the others were not there."""
        del request
        return Response(_json(self.get_object()))

    @extend_schema(
        operation_id="clusters_headroom_shapes",
        request=ShapesSerializer,
        responses={200: HeadroomSerializer},
    )
    def put(self, request: Request, **_: Any) -> Response:
        """Replace the list of shapes (role operator); the answers for the new one."""
        cluster = self.get_object()
        data = request.data
        if not isinstance(data, dict) or set(data) != {"shapes"}:
            raise ValidationError({"shapes": "Give the list of shapes, and no more."})
        try:
            headroom.save_shapes(cluster, headroom.read_shapes(data["shapes"]))
        except ScenarioError as error:
            refused(error, "")
        return Response(_json(cluster))


class HeadroomHistory(OfCluster):
    serializer_class = HistorySerializer

    @extend_schema(
        operation_id="clusters_headroom_history",
        parameters=[
            OpenApiParameter(
                "days",
                OpenApiTypes.INT,
                default=1,
                description="How far back, 1 to 366. Older looks are means of hours or days.",
            )
        ],
        responses={200: HistorySerializer(many=True)},
    )
    def get(self, request: Request, **_: Any) -> Response:
        """The line of each shape that is on the list now."""
        cluster = self.get_object()
        text = request.query_params.get("days", "1")
        if not (
            text.isascii() and text.isdecimal() and 1 <= int(text[:6]) <= MOST_DAYS
        ):
            raise ValidationError({"days": f"Must be 1 to {MOST_DAYS}."})
        since = timezone.now() - timedelta(days=int(text))
        shapes, _own = headroom.shapes_of(cluster, snapshot_of(cluster))
        lines = headroom.history(cluster, [shape.digest for shape in shapes], since)
        body = [
            {"name": s.name, "digest": s.digest, "samples": lines[s.digest]}
            for s in shapes
        ]
        return Response(HistorySerializer(body, many=True).data)


def _json(cluster: Cluster) -> dict[str, Any]:
    found = headroom.look(cluster)
    answers = [
        {
            "name": shape.name,
            "digest": shape.digest,
            "fits": answer.fits,
            "nodes": answer.nodes,
            "verdict": answer.verdict,
            "capped": answer.verdict == "not tried",
            "sentence": answer.sentence,
            "reason": answer.reason,
            "claims": shape.claims,
        }
        for shape, answer in zip(found.shapes, found.answers, strict=True)
    ]
    body = {
        "cluster": cluster.name,
        "seq": found.seq,
        "at": found.at,
        "own": found.own,
        "shapes": answers,
    }
    return dict(HeadroomSerializer(body).data)
