"""What the preview of a class looks like: the JSON, and its description."""

from __future__ import annotations

import dataclasses
from typing import Any

from rest_framework import serializers

from claims.api.explanation_answers import (
    ExampleDeviceSerializer,
    LossSerializer,
    device_json,
    loss_json,
)
from claims.authoring.class_previews import ClassPreview, Counts, SelectorPreview
from claims.authoring.class_users import ClassChange

Json = dict[str, Any]


def class_preview_json(preview: ClassPreview | None) -> Json | None:
    """The body that :class:`ClassPreviewSerializer` describes."""
    if preview is None:
        return None
    return {
        "sentence": preview.sentence,
        "consequence": preview.consequence,
        "devices": preview.devices,
        "counts": _counts(preview.counts),
        "selectors": [_selector(each) for each in preview.selectors],
        "change": _change(preview.change),
    }


def _counts(counts: Counts | None) -> Json | None:
    return None if counts is None else dataclasses.asdict(counts)


def _selector(selector: SelectorPreview) -> Json:
    return {
        "path": selector.path,
        "problem": selector.problem,
        "counts": _counts(selector.counts),
        "terms": [loss_json(loss) for loss in selector.terms],
        "errors": [loss_json(loss) for loss in selector.errors],
    }


def _change(change: ClassChange | None) -> Json | None:
    if change is None:
        return None
    return {
        "claims": change.users.claims,
        "waiting": change.users.waiting,
        "templates": change.users.templates,
        "held": len(change.users.held),
        "gained": change.gained,
        "lost": change.lost,
        "held_lost": change.held_lost,
        "claims_lost": change.claims_lost,
        "examples": [
            {
                "namespace": each.claim[0],
                "claim": each.claim[1],
                "device": device_json(each.device),
            }
            for each in change.examples
        ],
    }


# --- the description ---


class MatchCountsSerializer(serializers.Serializer[Any]):
    """Devices of the cluster."""

    matching = serializers.IntegerField()
    free = serializers.IntegerField()
    in_use = serializers.IntegerField(help_text="Wholly or by shares.")
    other = serializers.IntegerField(
        help_text="Tainted, or in a pool that cannot be used."
    )
    failing = serializers.IntegerField(
        help_text="Devices on which a selector has no answer; none of the others."
    )


class SelectorPreviewSerializer(serializers.Serializer[Any]):
    """One selector of a class on all devices, by itself."""

    path = serializers.CharField()
    problem = serializers.CharField(help_text="Why it cannot be asked; else empty.")
    counts = MatchCountsSerializer(allow_null=True)
    terms = LossSerializer(many=True, help_text="What excludes the most devices.")

    def get_fields(self) -> dict[str, Any]:
        # A serializer has errors of its own.
        return super().get_fields() | {"errors": LossSerializer(many=True)}


class HeldDeviceSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField()
    claim = serializers.CharField()
    device = ExampleDeviceSerializer()


class ClassChangeSerializer(serializers.Serializer[Any]):
    """What becomes of those that use the class that is there now."""

    claims = serializers.IntegerField(help_text="That ask for the class.")
    waiting = serializers.IntegerField(help_text="Those without devices.")
    templates = serializers.IntegerField()
    held = serializers.IntegerField(help_text="Devices held through the class.")
    gained = serializers.IntegerField(help_text="Devices that match only then.")
    lost = serializers.IntegerField(help_text="Devices that match only now.")
    held_lost = serializers.IntegerField(help_text="Those of them that are held.")
    claims_lost = serializers.IntegerField(help_text="The claims that hold those.")
    examples = HeldDeviceSerializer(many=True)


class ClassPreviewSerializer(serializers.Serializer[Any]):
    """What a class would match."""

    sentence = serializers.CharField()
    consequence = serializers.CharField(
        help_text="What changes for claims that use it; empty: not known."
    )
    devices = serializers.IntegerField(help_text="Of the cluster.")
    counts = MatchCountsSerializer(
        allow_null=True, help_text="Null: a selector cannot be asked."
    )
    selectors = SelectorPreviewSerializer(many=True)
    change = ClassChangeSerializer(
        allow_null=True, help_text="Null: there is no such class, or no counts."
    )
