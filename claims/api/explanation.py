"""Why a claim fits or not, over REST."""

from __future__ import annotations

from typing import Any, cast

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from allocator import snapshots
from claims import explaining
from claims.api.explanation_answers import ClaimExplanationSerializer, explanation_json
from claims.api.views import NAMESPACED_KEY
from claims.models import ResourceClaim
from dra.allocation.quirks import Mode
from inventory.api.base import MirrorDetail
from web.api.problems import Conflict

MODES: tuple[Mode, ...] = ("none", "1.36")


class ClaimExplanation(MirrorDetail):
    """Whether a pending claim fits, and if not why and what would make it fit."""

    queryset = ResourceClaim.objects.select_related("cluster").defer("raw")
    serializer_class = ClaimExplanationSerializer
    key_fields = NAMESPACED_KEY

    @extend_schema(
        operation_id="claims_explanation",
        parameters=[
            OpenApiParameter(
                "quirks",
                OpenApiTypes.STR,
                enum=MODES,
                default="none",
                description="As documented (none), or as the scheduler of Kubernetes "
                "1.36 answers, known faults included.",
            )
        ],
        responses={
            200: ClaimExplanationSerializer,
            304: OpenApiResponse(description="Nothing in the cluster has changed."),
            404: OpenApiResponse(description="No such claim."),
            409: OpenApiResponse(description="It does not wait, or cannot be read."),
        },
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The claims that one pod waits for are asked about together. At most 2 s."""
        mode = self._mode(request)
        claim = cast("ResourceClaim", self.get_object())
        cluster = claim.cluster
        etag = f'W/"{cluster.pk}-{cluster.seq}-{mode}"'
        if request.headers.get("If-None-Match") == etag:
            return Response(status=304, headers={"ETag": etag})
        snapshot = snapshots.current(cluster)
        try:
            subject = explaining.subject_of(snapshot, claim.namespace, claim.name)
        except explaining.NotWaiting as state:
            raise Conflict(str(state)) from state
        except KeyError:
            raise Http404("The claim is not in the cluster (any more).") from None
        found = explaining.explained(cluster, snapshot, subject, quirks=mode)
        etag = f'W/"{cluster.pk}-{found.explanation.seq}-{mode}"'
        return Response(
            explanation_json(cluster.name, claim, mode, found), headers={"ETag": etag}
        )

    def _mode(self, request: Request) -> Mode:
        asked = request.query_params.get("quirks", "none")
        for mode in MODES:
            if asked == mode:
                return mode
        raise ValidationError({"quirks": f"Use one of {', '.join(MODES)}."})
