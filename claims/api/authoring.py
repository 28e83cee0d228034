"""What would become of a draft: would it be accepted, and where would it fit."""

from __future__ import annotations

import time
from typing import Any, Final

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from allocator import snapshots
from claims.api.authoring_answers import ValidatedSerializer, checked_json
from claims.api.authoring_previews import PreviewedSerializer, previews_json
from claims.api.authoring_questions import DraftSerializer, PreviewSerializer
from claims.authoring.previewing import Preview, previewed
from claims.authoring.together import (
    Together,
    asked_together,
    checked_documents,
    with_brought,
)
from dra.allocation.quirks import Mode
from dra.snapshot import Snapshot
from inventory.api.base import ClusterQuestion
from inventory.models import Cluster
from inventory.selecting import Deadline

MOST_PREVIEWS: Final = 16
"""Claims or pods of one manifest that are asked about."""
SECONDS: Final = 2.0
"""How long all previews of one request may take."""


class ClaimsValidate(ClusterQuestion):
    """Whether the API server would accept claims, templates, classes and slices."""

    serializer_class = DraftSerializer

    @extend_schema(
        operation_id="clusters_claims_validate",
        request=DraftSerializer,
        responses={
            200: ValidatedSerializer,
            404: OpenApiResponse(description="No such cluster."),
        },
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Errors, defaults and advice by document. A refused object is an answer."""
        cluster = self.get_object()
        asked = DraftSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        draft = asked.draft()
        snapshot = snapshots.current(cluster)
        documents = checked_documents(
            cluster,
            snapshot,
            draft.documents,
            namespace=asked.validated_data["namespace"],
            stop=Deadline(),
        )
        return Response(checked_json(cluster.name, snapshot.seq, draft, documents))


class ClaimsPreview(ClusterQuestion):
    """Where claims would fit, and if nowhere, why."""

    serializer_class = PreviewSerializer

    @extend_schema(
        operation_id="clusters_claims_preview",
        request=PreviewSerializer,
        responses={
            200: PreviewedSerializer,
            404: OpenApiResponse(description="No such cluster."),
        },
    )
    def post(self, request: Request, **_: Any) -> Response:
        """The same check, and a preview of what each pod or lone claim needs. At most 2 s."""
        cluster = self.get_object()
        asked = PreviewSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data, draft = asked.validated_data, asked.draft()
        snapshot = snapshots.current(cluster)
        world = with_brought(snapshot, draft.documents)
        node = self._node(world, data["node"])
        documents = checked_documents(
            cluster,
            snapshot,
            draft.documents,
            namespace=data["namespace"],
            stop=Deadline(),
        )
        together = asked_together(
            cluster, world, draft.documents, namespace=data["namespace"]
        )
        previews = _previews(
            cluster,
            world,
            together[:MOST_PREVIEWS],
            node,
            relax=data["relax"],
            quirks=data["quirks"],
        )
        more = max(0, len(together) - MOST_PREVIEWS)
        return Response(
            previews_json(cluster.name, world.seq, draft, documents, previews, more)
        )

    def _node(self, snapshot: Snapshot, name: str) -> str:
        if name and name not in snapshot.nodes:
            raise ValidationError({"node": f"There is no node named {name!r}."})
        return name


def _previews(
    cluster: Cluster,
    snapshot: Snapshot,
    together: tuple[Together, ...],
    node: str,
    *,
    relax: bool,
    quirks: Mode,
) -> list[tuple[Together, Preview | None]]:
    """One after another, all of them within the time."""
    end = time.monotonic() + SECONDS
    found: list[tuple[Together, Preview | None]] = []
    for each in together:
        preview = None
        if each.claims:
            preview = previewed(
                cluster,
                snapshot,
                each.claims,
                node_names=_nodes(each, node),
                relax=relax,
                quirks=quirks,
                seconds=end - time.monotonic(),
            )
        found.append((each, preview))
    return found


def _nodes(together: Together, node: str) -> tuple[str, ...] | None:
    """The node asked for, if the claims that are allocated leave it."""
    if not node:
        return together.node_names
    left = together.node_names
    return (node,) if left is None or node in left else ()
