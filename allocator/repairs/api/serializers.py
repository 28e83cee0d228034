"""What the endpoints of a repair take and answer."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from allocator.choices import RepairAction
from allocator.repairs.asking import DEFAULT_HOURS, MOST_HOURS, WISHES
from allocator.repairs.guide import guide_of, history_of
from allocator.repairs.picture import Holder, Picture, Stranded, User

PROGRESS = ("done", "next", "later", "under way")


class UserSerializer(serializers.Serializer[User]):
    """Who has a claim reserved."""

    kind = serializers.SerializerMethodField()
    name = serializers.CharField()
    phase = serializers.SerializerMethodField(help_text="Of a pod; empty for others.")
    since = serializers.DateTimeField(
        allow_null=True, help_text="When the pod was started on its node."
    )

    @extend_schema_field(serializers.ChoiceField(["pod", "pin", "other"]))
    def get_kind(self, user: User) -> str:
        if user.pin:
            return "pin"
        return "pod" if user.is_pod else "other"

    def get_phase(self, user: User) -> str:
        return user.pod.phase if user.pod is not None else ""


class HolderSerializer(serializers.Serializer[Holder]):
    """A claim that holds the device now."""

    namespace = serializers.CharField(source="claim.namespace")
    claim_name = serializers.CharField(source="claim.name")
    resource_version = serializers.CharField(
        source="claim.resource_version",
        help_text="Name it where the claim is released or written anew: with another one "
        "nothing is written.",
    )
    allocated_at = serializers.DateTimeField(
        source="claim.allocated_at", allow_null=True
    )
    node_name = serializers.CharField(source="claim.node_name")
    other_devices = serializers.IntegerField(source="others")
    users = UserSerializer(many=True)
    waiting = serializers.SerializerMethodField(
        help_text="Pods that name it and have not reserved it."
    )
    unsafe = serializers.ListField(
        child=serializers.CharField(),
        help_text="Why its allocation must not be written anew now; empty: it may be.",
    )

    def get_waiting(self, holder: Holder) -> list[str]:
        return [pod.name for pod in holder.waiting]


class StrandedSerializer(serializers.Serializer[Stranded]):
    """A claim whose allocation a rewriting took away and could not put back."""

    namespace = serializers.CharField(source="claim.namespace")
    claim_name = serializers.CharField(source="claim.name")
    users = UserSerializer(
        many=True, help_text="Those who had it reserved and are still there."
    )
    deleting = serializers.BooleanField(help_text="Then it cannot be put back.")
    run = serializers.UUIDField(
        source="step.run_id", help_text="The run that took it away."
    )


class StandingSerializer(serializers.Serializer[Any]):
    """What keeps others off the device now."""

    means = serializers.ChoiceField(["rule", "node-taint", "cordon"])
    names = serializers.ListField(
        child=serializers.CharField(), help_text="The rules, or the node."
    )
    until = serializers.DateTimeField(allow_null=True)
    sentence = serializers.CharField()


class GuideStepSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()
    progress = serializers.ChoiceField(PROGRESS)
    sentence = serializers.CharField()


class LineSerializer(serializers.Serializer[Any]):
    """Something that was done about it."""

    action = serializers.ChoiceField(RepairAction.choices, source="step.action")
    asked = serializers.CharField(help_text="In words.")
    state = serializers.CharField(help_text="Of its run, where it has one.")
    result = serializers.CharField()
    actor = serializers.CharField(source="step.actor")
    at = serializers.DateTimeField(source="step.at")
    finished_at = serializers.DateTimeField(allow_null=True)
    run = serializers.UUIDField(source="step.run_id", allow_null=True)
    missing = serializers.CharField(
        source="step.missing", help_text="The right that the portal's account lacks."
    )
    requests = serializers.JSONField(
        source="step.requests", help_text="What was sent; of a run, see there."
    )


class RepairSerializer(serializers.Serializer[Picture]):
    """A device that is booked twice as it is now, and where its repair stands."""

    device = serializers.SerializerMethodField(help_text="driver/pool/device")
    stage = serializers.IntegerField(
        help_text="The step that comes next, 1 to 4; 5: nothing is left to do."
    )
    busy = serializers.SerializerMethodField(help_text="Whether a step is under way.")
    forgotten = serializers.BooleanField(
        help_text="Whether a scheduler may take the device for free although it is held."
    )
    sentence = serializers.SerializerMethodField(
        help_text="What a scheduler forgets, or would forget."
    )
    holders = HolderSerializer(many=True)
    survivor = serializers.SerializerMethodField(
        help_text="namespace/name of the claim that keeps the device; empty: undecided."
    )
    stranded = StrandedSerializer(
        allow_null=True, help_text="To be put back, or its users to be ended."
    )
    quarantine = StandingSerializer(source="standing", allow_null=True)
    no_rules = serializers.CharField(
        help_text="Why no taint rule may be made; empty: one may."
    )
    steps = serializers.SerializerMethodField()
    history = serializers.SerializerMethodField(help_text="Newest first.")

    def get_device(self, found: Picture) -> str:
        return str(found.device)

    def get_busy(self, found: Picture) -> bool:
        return found.busy is not None

    def get_sentence(self, found: Picture) -> str:
        return found.lost_sentence()

    def get_survivor(self, found: Picture) -> str:
        return found.survivor.name if found.survivor is not None else ""

    @extend_schema_field(GuideStepSerializer(many=True))
    def get_steps(self, found: Picture) -> Any:
        return GuideStepSerializer(guide_of(found), many=True).data

    @extend_schema_field(LineSerializer(many=True))
    def get_history(self, found: Picture) -> Any:
        return LineSerializer(history_of(found), many=True).data


class QuarantineSerializer(serializers.Serializer[Any]):
    wish = serializers.ChoiceField(
        WISHES,
        required=False,
        default="auto",
        help_text="By a DeviceTaintRule, or by a taint of the device's node; auto: a rule "
        "where rules are known to be safe.",
    )
    hours = serializers.IntegerField(
        min_value=1,
        max_value=MOST_HOURS,
        required=False,
        default=DEFAULT_HOURS,
        help_text="After which the portal's clean-up takes it away.",
    )


class KeepSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField(max_length=63)
    claim_name = serializers.CharField(max_length=253)


class GiveWaySerializer(KeepSerializer):
    resource_version = serializers.CharField(max_length=64)
    although_used = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Although workloads have it reserved, which go on using the device.",
    )


class RewriteSerializer(serializers.Serializer[Any]):
    resource_version = serializers.CharField(max_length=64)


class LiftSerializer(serializers.Serializer[Any]):
    although_forgotten = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Although a scheduler may have forgotten the device. Role admin.",
    )
