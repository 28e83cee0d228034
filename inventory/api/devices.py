"""Devices: the list, which a CEL expression may narrow, and one of them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response

from allocator import snapshots
from inventory import filtersets, models
from inventory.api import serializers
from inventory.api.base import CLUSTER_PARAMETER, MirrorDetail, MirrorList
from inventory.selecting import Matches, Reached, features_of, matches, reached
from web.api.paging import CursorPages

_SAID = {
    "type": ["object", "null"],
    "description": "What the CEL filter did on all devices of the cluster, other "
    "filters aside; null without one.",
    "required": ["devices", "matched", "failed", "error"],
    "properties": {
        "devices": {"type": "integer", "description": "How many were asked."},
        "matched": {"type": "integer"},
        "failed": {
            "type": "integer",
            "description": "On how many the expression has no answer: the scheduler "
            "would give up on reaching one.",
        },
        "error": {"type": "string", "description": "The most frequent reason."},
    },
}


class DevicePages(CursorPages):
    """Pages of devices; ``cel`` says what the expression did on the whole cluster."""

    def paginate_queryset(
        self, queryset: Any, request: Request, view: Any = None
    ) -> list[Any] | None:
        self._found: Matches | None = view.matches
        return super().paginate_queryset(queryset, request, view)

    def get_paginated_response(self, data: Any) -> Response:
        response = super().get_paginated_response(data)
        response.data["cel"] = None if self._found is None else _said(self._found)
        return response

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        paged = super().get_paginated_response_schema(schema)
        paged["required"].append("cel")
        paged["properties"]["cel"] = _SAID
        return paged


def _said(found: Matches) -> dict[str, Any]:
    return {
        "devices": len(found.table),
        "matched": found.matched,
        "failed": found.failed,
        "error": found.error,
    }


class DeviceBackend(DjangoFilterBackend):
    """Lends the filters the view's ways to ask the snapshot of the cluster."""

    def get_filterset_kwargs(
        self, request: Request, queryset: QuerySet[Any], view: Any
    ) -> dict[str, Any]:
        found: dict[str, Any] = super().get_filterset_kwargs(request, queryset, view)
        if not view.cluster:
            return found
        return found | {"ask": view.ask, "reach": view.reach}


CEL_PARAMETER = OpenApiParameter(
    "cel",
    OpenApiTypes.STR,
    description="A CEL expression: only devices on which it is true. Needs `cluster`.",
)
REACHES_PARAMETER = OpenApiParameter(
    "reaches",
    OpenApiTypes.STR,
    description=f"The name of a node. {filtersets.REACHED_DEVICES} Needs `cluster`.",
)


@extend_schema(parameters=[CLUSTER_PARAMETER, CEL_PARAMETER, REACHES_PARAMETER])
class DeviceList(MirrorList):
    """Devices of all slices with their state."""

    queryset = models.Device.objects.select_related("cluster", "slice").defer(
        "slice__raw", "facts"
    )
    serializer_class = serializers.DeviceSerializer
    filterset_class = filtersets.DeviceFilter
    filter_backends = [DeviceBackend]
    pagination_class = DevicePages
    matches: Matches | None = None

    def ask(self, expression: str) -> tuple[models.Cluster, Matches]:
        """Evaluate ``expression`` on the cluster; what came of it stays in ``matches``."""
        assert self.cluster is not None
        snapshot = snapshots.current(self.cluster)
        features = features_of(self.cluster)
        self.matches = matches(snapshot, expression, features=features)
        return self.cluster, self.matches

    def reach(self, node_name: str) -> tuple[models.Cluster, Reached]:
        """What the node reaches. Raises NoSuchNode."""
        assert self.cluster is not None
        snapshot = snapshots.current(self.cluster)
        return self.cluster, reached(self.cluster, snapshot, node_name)


class DeviceDetail(MirrorDetail):
    """One device: the newest of this driver, pool and name."""

    queryset = models.Device.objects.select_related("cluster", "slice").defer(
        "slice__raw", "facts"
    )
    serializer_class = serializers.DeviceSerializer
    key_fields = {
        "cluster": "cluster__name",
        "driver": "driver",
        "pool": "pool",
        "name": "name",
    }

    def get_object(self) -> models.Device:
        # While a pool is republished two generations may name the same device.
        wanted = {field: self.kwargs[part] for part, field in self.key_fields.items()}
        # An invalid pool may publish a name twice; as on the page the first one counts.
        rows = self.get_queryset().filter(**wanted)
        newest = rows.order_by("-slice__generation", "pk")
        found: models.Device = generics.get_object_or_404(newest[:1])
        return found
