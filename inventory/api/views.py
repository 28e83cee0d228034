"""Lists and details of clusters, nodes, pools, slices, classes and taint rules."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import generics

from inventory import filtersets, models
from inventory.api import serializers
from inventory.api.base import CLUSTER_PARAMETER, MirrorDetail, MirrorList


class ClusterList(generics.ListAPIView[models.Cluster]):
    """Clusters and the state of each watch."""

    queryset = models.Cluster.objects.prefetch_related("watches")
    serializer_class = serializers.ClusterSerializer


class ClusterDetail(generics.RetrieveAPIView[models.Cluster]):
    """One cluster and the state of each watch."""

    queryset = models.Cluster.objects.prefetch_related("watches")
    serializer_class = serializers.ClusterSerializer
    lookup_field = "name"


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
