"""Why a claim or a pod fits or not, over REST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

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
from claims.authoring.checking import gates_of
from claims.explaining import Ask
from claims.models import Pod, ResourceClaim
from dra.allocation.quirks import Mode
from inventory.api.base import MirrorDetail
from web.api.problems import Conflict

MODES: tuple[Mode, ...] = ("none", "1.36")


type _Method = Callable[..., Response]


def _documented(operation: str, unknown: str) -> Callable[[_Method], _Method]:
    decorate: Callable[[_Method], _Method] = extend_schema(
        operation_id=operation,
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
            404: OpenApiResponse(description=unknown),
            409: OpenApiResponse(description="It does not wait, or cannot be read."),
        },
    )
    return decorate


class _Explanation(MirrorDetail):
    """Whether what waits fits, and if not why and what would make it fit."""

    serializer_class = ClaimExplanationSerializer
    key_fields = NAMESPACED_KEY
    noun: ClassVar[str]
    ask: ClassVar[Ask]

    def answer(self, request: Request) -> Response:
        mode = self._mode(request)
        row = cast("ResourceClaim | Pod", self.get_object())
        cluster = row.cluster
        etag = f'W/"{cluster.pk}-{cluster.seq}-{mode}"'
        if request.headers.get("If-None-Match") == etag:
            return Response(status=304, headers={"ETag": etag})
        snapshot = snapshots.current(cluster)
        try:
            subject = type(self).ask(
                snapshot,
                row.namespace,
                row.name,
                extended_resources=gates_of(cluster).extended_resource,
            )
        except explaining.NotWaiting as state:
            raise Conflict(str(state)) from state
        except KeyError:
            raise Http404(
                f"The {self.noun} is not in the cluster (any more)."
            ) from None
        found = explaining.explained(cluster, snapshot, subject, quirks=mode)
        etag = f'W/"{cluster.pk}-{found.explanation.seq}-{mode}"'
        return Response(
            explanation_json(cluster.name, row, mode, found), headers={"ETag": etag}
        )

    def _mode(self, request: Request) -> Mode:
        asked = request.query_params.get("quirks", "none")
        for mode in MODES:
            if asked == mode:
                return mode
        raise ValidationError({"quirks": f"Use one of {', '.join(MODES)}."})


class ClaimExplanation(_Explanation):
    """Whether a pending claim fits, and if not why and what would make it fit."""

    queryset = ResourceClaim.objects.select_related("cluster").defer("raw")
    noun = "claim"
    ask = staticmethod(explaining.subject_of)

    @_documented("claims_explanation", "No such claim.")
    def get(self, request: Request, *_args: Any, **_kwargs: Any) -> Response:
        """The claims that one pod waits for are asked about together. At most 2 s."""
        return self.answer(request)


class PodExplanation(_Explanation):
    """Whether a pod's claims and extended resources fit together, and if not why."""

    queryset = Pod.objects.select_related("cluster").defer("raw")
    noun = "pod"
    ask = staticmethod(explaining.subject_of_pod)

    @_documented("pods_explanation", "No such pod.")
    def get(self, request: Request, *_args: Any, **_kwargs: Any) -> Response:
        """All that the pod waits for, on the nodes where it may run. At most 2 s."""
        return self.answer(request)
