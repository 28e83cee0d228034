"""What the run endpoints take and answer."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from allocator.choices import NodePolicy
from allocator.models import AllocationRule, AllocationRun, RunStep, RunTransition
from allocator.services import MOST_CLAIMS
from inventory.models import Cluster


class TransitionSerializer(serializers.ModelSerializer[RunTransition]):
    class Meta:
        model = RunTransition
        fields = ["at", "from_state", "to_state", "actor", "reason"]


class RunStepSerializer(serializers.ModelSerializer[RunStep]):
    """A request, noted right before it was sent."""

    class Meta:
        model = RunStep
        fields = ["at", "attempt", "step", "request"]


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
            "kind",
            "state",
            "dry_run",
            "policy",
            "wanted_node",
            "node_name",
            "attempts",
            "reason",
            "waits_for",
            "batch",
            "retry_of",
            "rule",
            "created_by",
            "created_at",
            "finished_at",
        ]


class RunDetailSerializer(RunSerializer):
    transitions = TransitionSerializer(many=True, read_only=True)
    steps = RunStepSerializer(many=True, read_only=True)
    plan = serializers.JSONField(
        read_only=True, help_text="The planned AllocationResult, in Kubernetes' JSON."
    )
    before = serializers.JSONField(
        read_only=True, help_text="Finalizers and status of the claim when planned."
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
            "before",
            "patch",
            "stop_asked",
            "committed",
            "transitions",
            "steps",
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
        help_text="Only this node; empty: of those where it fits, as policy says.",
    )
    policy = serializers.ChoiceField(
        NodePolicy.choices,
        required=False,
        default=NodePolicy.FIRST,
        help_text="Which of several nodes on which the claim fits.",
    )
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Plan and show, write nothing."
    )


class StartReleaseSerializer(serializers.Serializer[AllocationRun]):
    """A claim whose allocation is to be taken back."""

    cluster = serializers.CharField(max_length=63)
    namespace = serializers.CharField(max_length=63)
    claim_name = serializers.CharField(max_length=253)
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Show the requests, send none."
    )
    override = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Although pods have reserved it, or another claim holds its device: "
        "the devices of pods that run are then given to others. Role admin.",
    )


class RetrySerializer(serializers.Serializer[AllocationRun]):
    write = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Of a dry run: make happen what it has shown.",
    )


class ClaimNameSerializer(serializers.Serializer[AllocationRun]):
    namespace = serializers.CharField(max_length=63)
    claim_name = serializers.CharField(max_length=253)


class StartBatchSerializer(serializers.Serializer[AllocationRun]):
    """Pending claims to allocate, planned together in this order."""

    cluster = serializers.CharField(max_length=63)
    claims = ClaimNameSerializer(  # type: ignore[call-arg]  # max_length is the list's
        many=True, allow_empty=False, max_length=MOST_CLAIMS
    )
    policy = serializers.ChoiceField(
        NodePolicy.choices, required=False, default=NodePolicy.FIRST
    )
    dry_run = serializers.BooleanField(required=False, default=False)


class LeftOutSerializer(ClaimNameSerializer):
    reason = serializers.CharField()


class BatchSerializer(serializers.Serializer[Any]):
    """A batch; follow its runs at ``runs/?batch=<id>``."""

    id = serializers.UUIDField()
    runs = RunSerializer(many=True)
    left_out = LeftOutSerializer(many=True)


class RuleSerializer(serializers.ModelSerializer[AllocationRule]):
    """Whether the claims of a namespace are allocated as they come."""

    cluster = serializers.SlugRelatedField[Cluster](slug_field="name", read_only=True)
    changed_by = serializers.SlugRelatedField[AllocationRule](
        slug_field="username", read_only=True
    )

    class Meta:
        model = AllocationRule
        fields = [
            "id",
            "cluster",
            "namespace",
            "policy",
            "enabled",
            "changed_by",
            "changed_at",
        ]


class SetRuleSerializer(serializers.Serializer[AllocationRule]):
    cluster = serializers.CharField(max_length=63)
    namespace = serializers.RegexField(
        r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
        max_length=63,
    )
    policy = serializers.ChoiceField(
        NodePolicy.choices, required=False, default=NodePolicy.FIRST
    )
    enabled = serializers.BooleanField()
