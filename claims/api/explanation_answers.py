"""What the explanation of a claim or pod looks like: the JSON, and its description.

The JSON is made by plain functions and the serializers only describe it, as for the
answers about expressions; a test holds one against the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import msgspec
from rest_framework import serializers

from claims.explaining import Explained
from claims.models import Pod, ResourceClaim
from dra.allocation.explaining import Loss, Miss, Relaxation, RequestReason, Stage
from dra.allocation.explaining.explanation import Agreement, Verdict
from dra.names import DeviceID

Json = dict[str, Any]


def explanation_json(
    cluster: str, row: ResourceClaim | Pod, quirks: str, answer: Explained
) -> Json:
    """The body that :class:`ClaimExplanationSerializer` describes."""
    found, subject = answer.explanation, answer.subject
    names = subject.node_names
    return {
        "cluster": cluster,
        "namespace": row.namespace,
        "name": row.name,
        "quirks": quirks,
        "computed_at": answer.at.isoformat(),
        "asked": {
            "claims": [c.metadata.name for c in subject.claims],
            "pod": subject.pod,
            "allocated": [c.metadata.name for c in subject.allocated],
            "absent": list(subject.absent),
            "to_be_made": subject.to_be_made.metadata.name
            if subject.to_be_made
            else "",
            "plugin_nodes": list(subject.plugin_nodes),
            "nodes": None if names is None else list(names),
            "sentence": subject.sentence,
        },
        "verdict": found.verdict,
        "sentence": found.sentence,
        "seq": found.seq,
        "complete": found.complete,
        "node": found.node,
        "fitting": found.fitting,
        "nodes": found.nodes,
        "requests": [request_json(request) for request in found.requests],
        "groups": [msgspec.to_builtins(group) for group in found.groups],
        "relaxations": [
            relaxation_json(each, [c.metadata.name for c in subject.claims])
            for each in found.relaxations
        ],
        "difference": msgspec.to_builtins(found.difference),
    }


def request_json(request: RequestReason) -> Json:
    """The body that :class:`RequestReasonSerializer` describes."""
    return {
        "request": request.request,
        "class_name": request.class_name,
        "wanted": request.wanted,
        "everything": request.everything,
        "stages": [_stage(stage) for stage in request.stages],
        "agreements": [_agreement(each) for each in request.agreements],
        "misses": [_miss(miss) for miss in request.misses],
        "nodes": request.nodes,
        "best_node": request.best_node,
        "best": request.best,
    }


def _stage(stage: Stage) -> Json:
    return {
        "code": stage.code,
        "devices": stage.devices,
        "lost": stage.lost,
        "losses": [loss_json(loss) for loss in stage.losses],
        "more": stage.more,
    }


def loss_json(loss: Loss) -> Json:
    """The body that :class:`LossSerializer` describes."""
    return {
        "what": loss.what,
        "name": loss.name,
        "devices": loss.devices,
        "alone": loss.alone,
        "example": device_json(loss.example),
        "note": loss.note,
    }


def _agreement(agreement: Agreement) -> Json:
    body: Json = msgspec.to_builtins(agreement)
    return body | {"split": _values(agreement.split)}


def _miss(miss: Miss) -> Json:
    body: Json = msgspec.to_builtins(miss)
    return body | {
        "values": _values(miss.values),
        "example": device_json(miss.example),
    }


def relaxation_json(relaxation: Relaxation, claim_names: Sequence[str]) -> Json:
    """The body that :class:`RelaxationSerializer` describes."""
    body: Json = msgspec.to_builtins(relaxation)
    return body | {"claim": claim_names[relaxation.claim]}


def device_json(device: DeviceID | None) -> Json | None:
    return None if device is None else device._asdict()


def _values(values: Iterable[tuple[str, int]]) -> list[Json]:
    return [{"value": value, "devices": number} for value, number in values]


# --- the description ---


class AskedSerializer(serializers.Serializer[Any]):
    """What was asked about: the claim, or all that its pod waits for."""

    claims = serializers.ListField(
        child=serializers.CharField(), help_text="In the pod's order."
    )
    pod = serializers.CharField(help_text="Empty: no pod names the claim.")
    allocated = serializers.ListField(
        child=serializers.CharField(),
        help_text="Claims of the pod that hold devices already.",
    )
    absent = serializers.ListField(
        child=serializers.CharField(),
        help_text="Entries of the pod without a claim that can be read.",
    )
    to_be_made = serializers.CharField(
        help_text="The last of the claims, where the scheduler has still to make it of "
        "the pod's extended resources; else empty."
    )
    plugin_nodes = serializers.ListField(
        child=serializers.CharField(),
        help_text="Nodes left out because a device plugin serves an extended resource.",
    )
    nodes = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Nodes that the pod's own rules, taints and allocated claims leave; "
        "null: all that take pods.",
    )
    sentence = serializers.CharField()


class ExampleDeviceSerializer(serializers.Serializer[Any]):
    driver = serializers.CharField()
    pool = serializers.CharField()
    device = serializers.CharField()


class ValueCountSerializer(serializers.Serializer[Any]):
    value = serializers.CharField()
    devices = serializers.IntegerField()


class LossSerializer(serializers.Serializer[Any]):
    """Devices that one thing takes away."""

    what = serializers.ChoiceField(
        choices=[
            "pool",
            "term",
            "error",
            "claim",
            "taint",
            "capacity",
            "counter",
            "node",
        ]
    )
    name = serializers.CharField()
    devices = serializers.IntegerField()
    alone = serializers.IntegerField(
        allow_null=True, help_text="Devices that nothing else takes away, where known."
    )
    example = ExampleDeviceSerializer(allow_null=True)
    note = serializers.CharField()


class StageSerializer(serializers.Serializer[Any]):
    """One narrowing of the funnel."""

    code = serializers.CharField(
        help_text="published, reachable, usable, class, selectors, not in use, "
        "tolerated, capacity or counters."
    )
    devices = serializers.IntegerField(help_text="How many are left after it.")
    lost = serializers.IntegerField()
    losses = LossSerializer(many=True, help_text="The largest ones.")
    more = serializers.IntegerField(help_text="How many other losses there are.")


class AgreementSerializer(serializers.Serializer[Any]):
    """What a constraint leaves."""

    attribute = serializers.CharField()
    distinct = serializers.BooleanField(
        help_text="True: values have to differ; false: to be equal."
    )
    nodes_before = serializers.IntegerField(help_text="Nodes with enough free devices.")
    nodes = serializers.IntegerField(help_text="Nodes with enough that agree.")
    best_node = serializers.CharField()
    most = serializers.IntegerField(help_text="On the best node.")
    split = ValueCountSerializer(many=True, help_text="Its free devices by value.")
    without = serializers.IntegerField(help_text="Those without the attribute.")


class MissSerializer(serializers.Serializer[Any]):
    """Free devices that only one term of a selector excludes."""

    selector = serializers.IntegerField(help_text="Which selector, from 0.")
    of_class = serializers.BooleanField()
    term = serializers.CharField()
    devices = serializers.IntegerField()
    values = ValueCountSerializer(many=True, help_text="What they publish instead.")
    example = ExampleDeviceSerializer()


class RequestReasonSerializer(serializers.Serializer[Any]):
    """One request, or one alternative of it, seen alone."""

    request = serializers.CharField()
    class_name = serializers.CharField()
    wanted = serializers.IntegerField(help_text="Devices; 0 with everything.")
    everything = serializers.BooleanField(help_text="All that match on a node.")
    stages = StageSerializer(many=True)
    agreements = AgreementSerializer(many=True)
    misses = MissSerializer(many=True)
    nodes = serializers.IntegerField(help_text="Nodes that can serve it.")
    best_node = serializers.CharField()
    best = serializers.IntegerField(help_text="Devices that the best node can give.")


class NodeRequestSerializer(serializers.Serializer[Any]):
    """One request on one node: devices by what can be done with them."""

    request = serializers.CharField()
    wanted = serializers.IntegerField()
    matching = serializers.IntegerField()
    failing = serializers.IntegerField(help_text="Selectors have no answer on them.")
    in_use = serializers.IntegerField()
    tainted = serializers.IntegerField()
    full = serializers.IntegerField(help_text="Without capacity or counters left.")
    free = serializers.IntegerField()
    most = serializers.IntegerField(help_text="As many can be had together.")


class NodeGroupSerializer(serializers.Serializer[Any]):
    """Nodes with the same reason."""

    nodes = serializers.IntegerField()
    names = serializers.ListField(
        child=serializers.CharField(), help_text="The first ones."
    )
    fits = serializers.BooleanField()
    sentence = serializers.CharField()
    requests = NodeRequestSerializer(many=True)


class RelaxationSerializer(serializers.Serializer[Any]):
    """A single change with which it fits, proved by placing it."""

    code = serializers.CharField(
        help_text="drop term, loosen term, drop selector, drop constraint, fewer, "
        "tolerate, other class or wait."
    )
    claim = serializers.CharField(help_text="The claim's name.")
    request = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    node = serializers.CharField(help_text="The first node where it fits then.")
    sentence = serializers.CharField()
    spec = serializers.DictField(
        allow_null=True, help_text="The claim's spec after it; null for wait."
    )


class DifferenceSerializer(serializers.Serializer[Any]):
    """Where the scheduler of Kubernetes 1.36 and the documentation part."""

    scheduler_fits = serializers.BooleanField()
    documented_fits = serializers.BooleanField()
    quirks = serializers.ListField(
        child=serializers.CharField(), help_text="The known faults that matter."
    )
    sentence = serializers.CharField()


class ClaimExplanationSerializer(serializers.Serializer[Any]):
    cluster = serializers.CharField()
    namespace = serializers.CharField()
    name = serializers.CharField()
    quirks = serializers.CharField(help_text="The mode that was asked for.")
    computed_at = serializers.DateTimeField()
    asked = AskedSerializer()
    verdict = serializers.ChoiceField(
        choices=list(get_args(Verdict.__value__)),
        help_text="full: it would fit if no claim held anything. hopeless: not even "
        "then. undecided: the time was over first. refused: the claim is wrong.",
    )
    sentence = serializers.CharField()
    seq = serializers.IntegerField(help_text="The state of the cluster.")
    complete = serializers.BooleanField(
        help_text="False: the time was over before everything was found out."
    )
    node = serializers.CharField(help_text="The first node where it fits.")
    fitting = serializers.IntegerField(help_text="How many nodes it fits on.")
    nodes = serializers.IntegerField(help_text="How many were tried.")
    requests = RequestReasonSerializer(many=True)
    groups = NodeGroupSerializer(many=True)
    relaxations = RelaxationSerializer(many=True)
    difference = DifferenceSerializer(allow_null=True)
