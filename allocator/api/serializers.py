"""What the run endpoints take and answer."""

from __future__ import annotations

from rest_framework import serializers

from allocator.models import AllocationRun, RunTransition
from inventory.models import Cluster


class TransitionSerializer(serializers.ModelSerializer[RunTransition]):
    class Meta:
        model = RunTransition
        fields = ["at", "from_state", "to_state", "actor", "reason"]


class RunSerializer(serializers.ModelSerializer[AllocationRun]):
    cluster = serializers.SlugRelatedField[Cluster](slug_field="name", read_only=True)
    created_by = serializers.SlugRelatedField[AllocationRun](
        slug_field="username", read_only=True
    )

    class Meta:
        model = AllocationRun
        fields = [
            "id",
            "cluster",
            "namespace",
            "claim_name",
            "state",
            "dry_run",
            "wanted_node",
            "node_name",
            "attempts",
            "reason",
            "created_by",
            "created_at",
            "finished_at",
        ]


class RunDetailSerializer(RunSerializer):
    transitions = TransitionSerializer(many=True, read_only=True)
    plan = serializers.JSONField(
        read_only=True, help_text="The planned AllocationResult, in Kubernetes' JSON."
    )
    patch = serializers.JSONField(
        read_only=True, help_text="What was (or would be) sent to the claim's status."
    )

    class Meta(RunSerializer.Meta):
        fields = [
            *RunSerializer.Meta.fields,
            "claim_uid",
            "snapshot_seq",
            "written_resource_version",
            "plan",
            "patch",
            "transitions",
        ]


class StartRunSerializer(serializers.Serializer[AllocationRun]):
    """A pending claim to allocate."""

    cluster = serializers.CharField(max_length=63)
    namespace = serializers.CharField(max_length=63)
    claim_name = serializers.CharField(max_length=253)
    node = serializers.CharField(
        max_length=253,
        required=False,
        default="",
        allow_blank=True,
        help_text="Only this node; empty: the first node by name where it fits.",
    )
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Plan and show, write nothing."
    )
