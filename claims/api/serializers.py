"""What the endpoints of claims answer."""

from __future__ import annotations

from rest_framework import serializers

from claims.models import (
    AllocatedDevice,
    ClaimConsumer,
    ClaimRequest,
    Pod,
    PodClaim,
    PodResource,
    ResourceClaim,
    ResourceClaimTemplate,
)
from inventory.api.serializers import OBJECT, MirroredSerializer, RawMixin

NAMESPACED = ["cluster", "namespace", *OBJECT[1:]]


class ClaimRequestSerializer(serializers.ModelSerializer[ClaimRequest]):
    class Meta:
        model = ClaimRequest
        fields = ["name", "subrequest", "class_name", "mode", "count", "admin_access"]


class AllocatedDeviceSerializer(serializers.ModelSerializer[AllocatedDevice]):
    class Meta:
        model = AllocatedDevice
        fields = [
            "request",
            "driver",
            "pool",
            "device",
            "admin_access",
            "share_id",
            "consumed_capacity",
        ]


class ConsumerSerializer(serializers.ModelSerializer[ClaimConsumer]):
    class Meta:
        model = ClaimConsumer
        fields = ["api_group", "resource", "name", "uid"]


class ClaimSerializer(MirroredSerializer):
    requests = ClaimRequestSerializer(many=True, read_only=True)
    devices = AllocatedDeviceSerializer(many=True, read_only=True)
    consumers = ConsumerSerializer(many=True, read_only=True)

    class Meta:
        model = ResourceClaim
        fields = [
            *NAMESPACED,
            "state",
            "requests_text",
            "node_name",
            "admin_access",
            "owner_kind",
            "owner_name",
            "template_name",
            "allocated_at",
            "requests",
            "devices",
            "consumers",
        ]


class ClaimDetailSerializer(RawMixin, ClaimSerializer):
    class Meta(ClaimSerializer.Meta):
        fields = [*ClaimSerializer.Meta.fields, "raw"]


class TemplateSerializer(MirroredSerializer):
    requests = ClaimRequestSerializer(many=True, read_only=True)

    class Meta:
        model = ResourceClaimTemplate
        fields = [*NAMESPACED, "requests_text", "requests"]


class TemplateDetailSerializer(RawMixin, TemplateSerializer):
    class Meta(TemplateSerializer.Meta):
        fields = [*TemplateSerializer.Meta.fields, "raw"]


class PodClaimSerializer(serializers.ModelSerializer[PodClaim]):
    class Meta:
        model = PodClaim
        fields = ["entry", "claim_name", "template_name"]


class PodResourceSerializer(serializers.ModelSerializer[PodResource]):
    """An extended resource that the pod asks for, and how many of it."""

    class Meta:
        model = PodResource
        fields = ["name", "amount"]


class PodSerializer(MirroredSerializer):
    claims = PodClaimSerializer(many=True, read_only=True)
    resources = PodResourceSerializer(many=True, read_only=True)

    class Meta:
        model = Pod
        fields = [
            *NAMESPACED,
            "phase",
            "node_name",
            "scheduling_message",
            "claims",
            "resources",
        ]


class PodDetailSerializer(RawMixin, PodSerializer):
    class Meta(PodSerializer.Meta):
        fields = [*PodSerializer.Meta.fields, "raw"]
