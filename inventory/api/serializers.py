"""What the endpoints of the inventory answer. Lists are brief, details add ``raw``."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from inventory.models import (
    Cluster,
    Device,
    DeviceClass,
    DeviceTaintRule,
    Node,
    Pool,
    ResourceSlice,
    WatchState,
)

OBJECT = [
    "cluster",
    "name",
    "uid",
    "resource_version",
    "created_at",
    "deleting",
    "seq",
    "problem",
]


class WatchStateSerializer(serializers.ModelSerializer[WatchState]):
    class Meta:
        model = WatchState
        fields = [
            "kind",
            "api_version",
            "state",
            "error",
            "resource_version",
            "seq",
            "object_count",
            "problem_count",
            "listed_at",
            "event_at",
            "alive_at",
            "relists",
        ]


class ClusterSerializer(serializers.ModelSerializer[Cluster]):
    watches = WatchStateSerializer(many=True, read_only=True)

    class Meta:
        model = Cluster
        fields = [
            "name",
            "source",
            "read_only",
            "version",
            "seq",
            "error",
            "checked_at",
            "left_at",
            "watches",
        ]
        extra_kwargs = {
            "left_at": {
                "help_text": "Since when clusters.yaml does not name it: nothing of it "
                "is watched or written, and it is deleted in the end. Null normally."
            }
        }


class MirroredSerializer(serializers.ModelSerializer[Any]):
    cluster = serializers.SlugRelatedField[Cluster](slug_field="name", read_only=True)


class RawMixin(serializers.Serializer[Any]):
    raw = serializers.SerializerMethodField(
        help_text="The object in v1 form as mirrored."
    )

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_raw(self, row: Any) -> Any:
        return row.raw


class NodeSerializer(MirroredSerializer):
    class Meta:
        model = Node
        fields = [*OBJECT, "ready", "unschedulable", "zone", "instance_type"]


class NodeDetailSerializer(RawMixin, NodeSerializer):
    class Meta(NodeSerializer.Meta):
        fields = [*NodeSerializer.Meta.fields, "raw"]


class PoolSerializer(MirroredSerializer):
    class Meta:
        model = Pool
        fields = [
            "cluster",
            "driver",
            "name",
            "node_name",
            "generation",
            "slices_wanted",
            "slices_present",
            "slices_older",
            "device_count",
            "counter_set_count",
            "complete",
            "valid",
            "problem",
            "seq",
        ]


class SliceSerializer(MirroredSerializer):
    class Meta:
        model = ResourceSlice
        fields = [
            *OBJECT,
            "driver",
            "pool_name",
            "generation",
            "slice_count",
            "node_name",
            "all_nodes",
            "device_count",
            "counter_set_count",
        ]


class SliceDetailSerializer(RawMixin, SliceSerializer):
    class Meta(SliceSerializer.Meta):
        fields = [*SliceSerializer.Meta.fields, "raw"]


class DeviceSerializer(MirroredSerializer):
    slice = serializers.SlugRelatedField[ResourceSlice](
        slug_field="name", read_only=True
    )

    class Meta:
        model = Device
        fields = [
            "cluster",
            "driver",
            "pool",
            "name",
            "slice",
            "node_name",
            "state",
            "holder_count",
            "shareable",
            "tainted",
            "attributes",
            "capacity",
            "counters",
            "taints",
            "seq",
        ]


class ClassSerializer(MirroredSerializer):
    class Meta:
        model = DeviceClass
        fields = [*OBJECT, "extended_resource_name"]


class ClassDetailSerializer(RawMixin, ClassSerializer):
    class Meta(ClassSerializer.Meta):
        fields = [*ClassSerializer.Meta.fields, "raw"]


class TaintRuleSerializer(MirroredSerializer):
    class Meta:
        model = DeviceTaintRule
        fields = [*OBJECT, "driver", "pool", "device", "effect"]


class TaintRuleDetailSerializer(RawMixin, TaintRuleSerializer):
    class Meta(TaintRuleSerializer.Meta):
        fields = [*TaintRuleSerializer.Meta.fields, "raw"]
