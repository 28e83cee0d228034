"""What the preview of a draft looks like: the JSON, and its description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import msgspec
from rest_framework import serializers

from claims.api.authoring_answers import (
    CheckedDocumentSerializer,
    TextProblemSerializer,
    document_json,
    problem_json,
)
from claims.api.authoring_questions import Draft
from claims.api.explanation_answers import (
    DifferenceSerializer,
    ExampleDeviceSerializer,
    LossSerializer,
    NodeGroupSerializer,
    RelaxationSerializer,
    RequestReasonSerializer,
    device_json,
    loss_json,
    relaxation_json,
    request_json,
)
from claims.authoring.previewing import Preview
from claims.authoring.requests import RequestPreview
from claims.authoring.rounding import Rounding
from claims.authoring.together import CheckedDocument, Together
from claims.authoring.workloads import Workload
from dra.allocation.explaining import Given
from dra.allocation.explaining.explanation import Verdict

Json = dict[str, Any]


def previews_json(
    cluster: str,
    seq: int,
    draft: Draft,
    documents: Sequence[CheckedDocument],
    previews: Sequence[tuple[Together, Preview | None]],
    more: int,
) -> Json:
    """The body that :class:`PreviewedSerializer` describes."""
    return {
        "cluster": cluster,
        "seq": seq,
        "problem": problem_json(draft.problem),
        "documents": [document_json(each, draft.text) for each in documents],
        "previews": [_preview(*each) for each in previews],
        "more": more,
    }


def _preview(together: Together, preview: Preview | None) -> Json:
    found = preview.explanation if preview else None
    names = [claim.metadata.name for claim in together.claims]
    nodes = together.node_names
    return {
        "workload": _workload(together.workload),
        "documents": list(together.documents),
        "claims": names,
        "only_nodes": None if nodes is None else list(nodes),
        "problem": together.problem,
        "verdict": found.verdict if found else "refused",
        "sentence": preview.sentence if preview else together.problem,
        "complete": found.complete if found else True,
        "node": found.node if found else "",
        "fitting": found.fitting if found else 0,
        "nodes": found.nodes if found else 0,
        "devices": [_given(each, names) for each in found.given] if found else [],
        "requests": [_request(each) for each in preview.requests] if preview else [],
        "groups": msgspec.to_builtins(found.groups) if found else [],
        "difference": msgspec.to_builtins(found.difference) if found else None,
        "relaxations": [relaxation_json(each, names) for each in found.relaxations]
        if found
        else [],
    }


def _workload(workload: Workload | None) -> Json | None:
    if workload is None:
        return None
    return {
        "kind": workload.kind,
        "namespace": workload.namespace,
        "name": workload.name,
        "role": workload.role,
        "document": workload.document,
        "path": workload.path,
        "copies": workload.copies,
        "sentence": workload.sentence,
        "allocated": [claim.metadata.name for claim in workload.allocated],
        "remarks": [
            {"field": each.path, "message": each.message, "error": each.is_error}
            for each in workload.remarks
        ],
    }


def _given(given: Given, names: Sequence[str]) -> Json:
    return {
        "claim": names[given.claim],
        "request": given.request,
        "device": device_json(given.device),
        "admin": given.admin,
        "consumed": given.consumed,
    }


def _request(request: RequestPreview) -> Json:
    return {
        "claim": request.claim_name,
        "request": request.request,
        "path": request.path,
        "class_name": request.class_name,
        "wanted": request.wanted,
        "everything": request.everything,
        "sentence": request.sentence,
        "problem": request.problem,
        "matching": request.matching,
        "free": request.free,
        "failing": request.failing,
        "terms": [loss_json(loss) for loss in request.terms],
        "errors": [loss_json(loss) for loss in request.errors],
        "capacity": [_rounding(each) for each in request.roundings],
        "reason": request_json(request.reason) if request.reason else None,
    }


def _rounding(rounding: Rounding) -> Json:
    return {
        "name": rounding.capacity,
        "asked": rounding.asked,
        "consumes": rounding.consumes,
        "total": rounding.total,
        "sentence": rounding.words,
        "devices": rounding.devices,
        "example": device_json(rounding.example),
    }


# --- the description ---


class GivenSerializer(serializers.Serializer[Any]):
    """A device on the first node where it fits."""

    claim = serializers.CharField()
    request = serializers.CharField()
    device = ExampleDeviceSerializer()
    admin = serializers.BooleanField()
    consumed = serializers.DictField(
        child=serializers.CharField(),
        help_text="What a share takes, by capacity; empty: had alone.",
    )


class RoundingSerializer(serializers.Serializer[Any]):
    """One capacity on devices that treat the request alike."""

    name = serializers.CharField()
    asked = serializers.CharField(help_text="Empty: the request does not name it.")
    consumes = serializers.CharField(help_text="Empty: these cannot serve it.")
    total = serializers.CharField(help_text="What one of them has.")
    sentence = serializers.CharField()
    devices = serializers.IntegerField(help_text="How many that match.")
    example = ExampleDeviceSerializer()


class RequestPreviewSerializer(serializers.Serializer[Any]):
    """One request, or one alternative of it, seen alone."""

    claim = serializers.CharField()
    request = serializers.CharField()
    path = serializers.CharField(help_text="Below the spec of the claim.")
    class_name = serializers.CharField()
    wanted = serializers.IntegerField(help_text="Devices; 0 with everything.")
    everything = serializers.BooleanField(help_text="All that match on a node.")
    sentence = serializers.CharField()
    problem = serializers.CharField(help_text="Why it cannot be asked; else empty.")
    matching = serializers.IntegerField(
        allow_null=True, help_text="Devices that pass all selectors, in use or not."
    )
    free = serializers.IntegerField(
        allow_null=True, help_text="Devices that can be had now."
    )
    failing = serializers.IntegerField(
        allow_null=True, help_text="Devices on which a selector has no answer."
    )
    terms = LossSerializer(many=True, help_text="What excludes the most devices.")
    capacity = RoundingSerializer(many=True)
    reason = RequestReasonSerializer(allow_null=True, help_text="The whole funnel.")

    def get_fields(self) -> dict[str, Any]:
        # A serializer has errors of its own.
        return super().get_fields() | {"errors": LossSerializer(many=True)}


class RemarkSerializer(serializers.Serializer[Any]):
    """Something that is wrong with how a pod uses its claims, or odd."""

    field = serializers.CharField(help_text="A path in the document.")
    message = serializers.CharField()
    error = serializers.BooleanField(help_text="The pod can never start.")


class WorkloadSerializer(serializers.Serializer[Any]):
    """What starts pods that need the claims together."""

    kind = serializers.CharField()
    namespace = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField(help_text="Which of its pods; empty: all.")
    document = serializers.IntegerField(help_text="The index of its document.")
    path = serializers.CharField(help_text="Where its pod stands in that.")
    copies = serializers.IntegerField(
        allow_null=True, help_text="How many such pods; null: one on each node."
    )
    sentence = serializers.CharField()
    allocated = serializers.ListField(
        child=serializers.CharField(),
        help_text="Its claims that hold devices already; they decide about nodes.",
    )
    remarks = RemarkSerializer(many=True)


class PreviewOfClaimsSerializer(serializers.Serializer[Any]):
    """Claims that have to fit on one node together."""

    workload = WorkloadSerializer(
        allow_null=True, help_text="Null: no pod of the text uses the claim."
    )
    documents = serializers.ListField(child=serializers.IntegerField())
    claims = serializers.ListField(child=serializers.CharField())
    only_nodes = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Nodes that are left by what else the pod needs; null: all.",
    )
    problem = serializers.CharField(help_text="What cannot be asked; else empty.")
    verdict = serializers.ChoiceField(choices=list(get_args(Verdict.__value__)))
    sentence = serializers.CharField()
    complete = serializers.BooleanField(
        help_text="False: the time was over before everything was found out."
    )
    node = serializers.CharField(help_text="The first node where it fits.")
    fitting = serializers.IntegerField(help_text="How many nodes it fits on.")
    nodes = serializers.IntegerField(help_text="How many were tried.")
    devices = GivenSerializer(many=True)
    requests = RequestPreviewSerializer(many=True)
    groups = NodeGroupSerializer(many=True)
    difference = DifferenceSerializer(allow_null=True)
    relaxations = RelaxationSerializer(many=True)


class PreviewedSerializer(serializers.Serializer[Any]):
    cluster = serializers.CharField()
    seq = serializers.IntegerField(help_text="The state of the cluster.")
    problem = TextProblemSerializer(allow_null=True)
    documents = CheckedDocumentSerializer(many=True)
    previews = PreviewOfClaimsSerializer(many=True)
    more = serializers.IntegerField(
        help_text="How many claims or pods more there are that were not asked about."
    )
