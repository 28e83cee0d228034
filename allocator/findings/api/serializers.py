"""What the endpoints of findings take and answer."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from allocator.findings.acknowledging import LONGEST_REASON
from allocator.findings.places import ref_of
from allocator.findings.repairing import steps_of
from allocator.models import Finding
from inventory.models import Cluster


class FindingObjectSerializer(serializers.Serializer[Any]):
    """An object that a finding concerns."""

    kind = serializers.CharField(
        help_text="A Kubernetes kind, or Pool (named driver/pool) or Driver."
    )
    namespace = serializers.CharField(help_text="Empty for what has none.")
    name = serializers.CharField()


class RepairStepSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    command = serializers.CharField(
        help_text="A line for a terminal, words in capitals to be filled in; may be empty."
    )


class FindingSerializer(serializers.ModelSerializer[Finding]):
    cluster = serializers.SlugRelatedField[Cluster](slug_field="name", read_only=True)
    acknowledged_by = serializers.SlugRelatedField[Finding](
        slug_field="username", read_only=True
    )
    title = serializers.CharField(read_only=True)
    why = serializers.CharField(read_only=True, help_text="Why it matters.")
    repair = serializers.CharField(read_only=True, help_text="What to do.")
    device = serializers.CharField(
        read_only=True, help_text="driver/pool/device, where it is about one."
    )
    since = serializers.DateTimeField(read_only=True, help_text="First seen then.")
    evidence = serializers.DictField(
        child=serializers.CharField(), read_only=True, help_text="Facts by name."
    )

    class Meta:
        model = Finding
        fields = [
            "id",
            "cluster",
            "code",
            "severity",
            "title",
            "kind",
            "namespace",
            "name",
            "device",
            "detail",
            "sentence",
            "why",
            "repair",
            "evidence",
            "since",
            "last_seen",
            "ended_at",
            "acknowledged_at",
            "acknowledged_by",
            "acknowledged_reason",
        ]


class FindingDetailSerializer(FindingSerializer):
    concerned = serializers.SerializerMethodField(
        help_text="The objects on whose pages it is shown, the subject first."
    )
    steps = serializers.SerializerMethodField(help_text="The way to mend it, in order.")

    class Meta(FindingSerializer.Meta):
        fields = [*FindingSerializer.Meta.fields, "concerned", "steps"]

    @extend_schema_field(FindingObjectSerializer(many=True))
    def get_concerned(self, finding: Finding) -> list[dict[str, str]]:
        return [ref_of(one)._asdict() for one in finding.objects_concerned.all()]

    @extend_schema_field(RepairStepSerializer(many=True))
    def get_steps(self, finding: Finding) -> list[dict[str, str]]:
        nodes = [o.name for o in finding.objects_concerned.all() if o.kind == "Node"]
        return [
            {"text": step.text, "command": step.command}
            for step in steps_of(finding, nodes)
        ]


class AcknowledgeSerializer(serializers.Serializer[Any]):
    """Why it can stay as it is."""

    reason = serializers.CharField(max_length=LONGEST_REASON)
