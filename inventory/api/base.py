"""What the read-only endpoints over mirrored tables share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from inventory.models import Cluster
from web.api.permissions import ViewerAsks

CLUSTER_PARAMETER = OpenApiParameter(
    "cluster", OpenApiTypes.STR, description="Only objects of the cluster of this name."
)


class ClusterQuestion(generics.GenericAPIView[Cluster]):
    """A question about one cluster that changes nothing. POST, as what is asked may be
    long."""

    queryset = Cluster.objects.all()
    lookup_field = "name"
    permission_classes = [ViewerAsks]


class MirrorList(generics.ListAPIView[Any]):
    """A list over all clusters, or of ``?cluster=<name>`` alone.

    With ``cluster`` the answer carries an ETag made of the cluster's seq: asking
    again with If-None-Match costs one look at one row while nothing has changed.
    """

    follows_seq = True

    def get_queryset(self) -> QuerySet[Any]:
        queryset = super().get_queryset()
        cluster = self.cluster
        return queryset.filter(cluster=cluster) if cluster else queryset

    @cached_property
    def cluster(self) -> Cluster | None:
        """The one that is asked for by name."""
        name = self.request.query_params.get("cluster", "")
        if not name:
            return None
        try:
            return Cluster.objects.get(name=name)
        except Cluster.DoesNotExist:
            raise ValidationError(
                {"cluster": f"There is no cluster named {name!r}."}
            ) from None

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        cluster = self.cluster if self.follows_seq else None
        if cluster is None:
            return super().list(request, *args, **kwargs)
        etag = f'W/"{cluster.pk}-{cluster.seq}"'
        if request.headers.get("If-None-Match") == etag:
            return Response(status=304, headers={"ETag": etag})
        response = super().list(request, *args, **kwargs)
        response["ETag"] = etag
        return response


class MirrorDetail(generics.RetrieveAPIView[Any]):
    """One object by the parts of its name in the address."""

    key_fields: Mapping[str, str] = {"cluster": "cluster__name", "name": "name"}

    def get_object(self) -> Model:
        wanted = {field: self.kwargs[part] for part, field in self.key_fields.items()}
        found: Model = get_object_or_404(self.get_queryset(), **wanted)
        self.check_object_permissions(self.request, found)
        return found
