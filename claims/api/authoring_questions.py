"""What the endpoints about drafts take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from claims.authoring.manifests import Document, Problem, read
from claims.authoring.manifests.reading import MAX_BYTES
from claims.authoring.together import of_one_object
from cluster.objects.bodies import can_be_sent
from dra.allocation.quirks import Mode
from inventory.api.cel_questions import NameField, Strict

MODES: Final[tuple[Mode, ...]] = ("none", "1.36")
MAX_DEPTH: Final = 100
"""Levels of an object; those of Kubernetes have about twenty."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What was sent: ``text`` is empty for an object that came without one."""

    documents: Sequence[Document]
    text: str = ""
    problem: Problem | None = None


@extend_schema_field(OpenApiTypes.OBJECT)
class ObjectField(serializers.Field[Any, Any, Any, Any]):
    """Any JSON value of bounded depth: what is wrong with it is part of the answer."""

    default_error_messages = {
        "deep": f"More than {MAX_DEPTH} levels deep.",
        "unsayable": "It holds a text or number that no JSON can.",
    }

    def to_internal_value(self, data: Any) -> Any:
        if _deeper_than(data, MAX_DEPTH):
            self.fail("deep")
        if not can_be_sent(data):
            self.fail("unsayable")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field(OpenApiTypes.STR)
class TextField(serializers.Field[str, Any, str, Any]):
    """Any text: what is wrong with it is part of the answer."""

    default_error_messages = {"invalid": "A text is expected."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data

    def to_representation(self, value: str) -> str:
        return value


class DraftSerializer(Strict):
    """An object, or a manifest with any number of them."""

    object = ObjectField(
        required=False,
        help_text="One object as JSON: a claim, a template, a class or a slice.",
    )
    manifest = TextField(
        required=False,
        help_text=f"YAML with one or several documents; at most {MAX_BYTES // 1024} KiB.",
    )
    namespace = NameField(
        help_text='Where objects go that name no namespace; empty: "default".'
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("object" in attrs) is ("manifest" in attrs):
            raise serializers.ValidationError(
                {"object": "Give either an object or a manifest."}
            )
        return attrs

    def draft(self) -> Draft:
        """The documents of validated data."""
        data = self.validated_data
        if "manifest" not in data:
            return Draft(of_one_object(data["object"]))
        found = read(data["manifest"])
        return Draft(found.documents, found.text, found.problem)


class PreviewSerializer(DraftSerializer):
    """The same, and how to ask about it."""

    node = NameField(help_text="Only this node; empty: all that take pods.")
    relax = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Also look for single changes that would make it fit.",
    )
    quirks = serializers.ChoiceField(
        choices=MODES,
        required=False,
        default="none",
        help_text="As documented (none), or as the scheduler of Kubernetes 1.36 "
        "answers, known faults included.",
    )


def _deeper_than(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True
