"""Lists and details of clusters, nodes, pools, slices, classes and taint rules."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from inventory import filtersets, models
from inventory.api import serializers
from inventory.api.base import CLUSTER_PARAMETER, MirrorDetail, MirrorList
from inventory.services import leaving
from web.api.permissions import ViewerReads
from web.api.problems import Conflict
from web.doors import Role


class ClusterList(generics.ListAPIView[models.Cluster]):
    """Clusters and the state of each watch."""

    queryset = models.Cluster.objects.prefetch_related("watches")
    serializer_class = serializers.ClusterSerializer


class _AdminDeletes(ViewerReads):
    """Reading is a viewer's matter; deleting takes the role admin."""

    def needed(self, request: Request) -> Role:
        read = super().needed(request)
        return read if read is Role.VIEWER else Role.ADMIN


class ClusterDetail(generics.RetrieveAPIView[models.Cluster]):
    """One cluster and the state of each watch."""

    queryset = models.Cluster.objects.prefetch_related("watches")
    serializer_class = serializers.ClusterSerializer
    lookup_field = "name"
    permission_classes = [_AdminDeletes]

    @extend_schema(
        responses={
            202: OpenApiResponse(
                serializers.ClusterSerializer,
                description="It is being deleted, which may take minutes.",
            ),
            409: OpenApiResponse(description="clusters.yaml names it."),
        }
    )
    def delete(self, request: Request, *_: Any, **__: Any) -> Response:
        """Forget a cluster that clusters.yaml names no more, with all that is kept of it."""
        cluster = self.get_object()
        try:
            leaving.ask_deletion(cluster, request.user.get_username())
        except leaving.StillNamedError as refused:
            raise Conflict(str(refused)) from refused
        body = self.get_serializer(cluster).data
        return Response(body, status=status.HTTP_202_ACCEPTED)


@extend_schema(parameters=[CLUSTER_PARAMETER])
class NodeList(MirrorList):
    """Nodes."""

    queryset = models.Node.objects.defer("raw").select_related("cluster")
    serializer_class = serializers.NodeSerializer
    filterset_class = filtersets.NodeFilter


class NodeDetail(MirrorDetail):
    """One node, the mirrored object included."""

    queryset = models.Node.objects.select_related("cluster")
    serializer_class = serializers.NodeDetailSerializer


@extend_schema(parameters=[CLUSTER_PARAMETER])
class PoolList(MirrorList):
    """Pools: complete or not, and why not."""

    queryset = models.Pool.objects.select_related("cluster")
    serializer_class = serializers.PoolSerializer
    filterset_class = filtersets.PoolFilter


class PoolDetail(MirrorDetail):
    """One pool."""

    queryset = models.Pool.objects.select_related("cluster")
    serializer_class = serializers.PoolSerializer
    key_fields = {"cluster": "cluster__name", "driver": "driver", "name": "name"}


@extend_schema(parameters=[CLUSTER_PARAMETER])
class SliceList(MirrorList):
    """ResourceSlices."""

    queryset = models.ResourceSlice.objects.defer("raw").select_related("cluster")
    serializer_class = serializers.SliceSerializer
    filterset_class = filtersets.SliceFilter


class SliceDetail(MirrorDetail):
    """One ResourceSlice, the mirrored object included."""

    queryset = models.ResourceSlice.objects.select_related("cluster")
    serializer_class = serializers.SliceDetailSerializer


@extend_schema(parameters=[CLUSTER_PARAMETER])
class ClassList(MirrorList):
    """DeviceClasses."""

    queryset = models.DeviceClass.objects.defer("raw").select_related("cluster")
    serializer_class = serializers.ClassSerializer
    filterset_class = filtersets.ClassFilter


class ClassDetail(MirrorDetail):
    """One DeviceClass, the mirrored object included."""

    queryset = models.DeviceClass.objects.select_related("cluster")
    serializer_class = serializers.ClassDetailSerializer


@extend_schema(parameters=[CLUSTER_PARAMETER])
class TaintRuleList(MirrorList):
    """DeviceTaintRules, where the cluster serves them."""

    queryset = models.DeviceTaintRule.objects.defer("raw").select_related("cluster")
    serializer_class = serializers.TaintRuleSerializer
    filterset_class = filtersets.TaintRuleFilter


class TaintRuleDetail(MirrorDetail):
    """One DeviceTaintRule, the mirrored object included."""

    queryset = models.DeviceTaintRule.objects.select_related("cluster")
    serializer_class = serializers.TaintRuleDetailSerializer
