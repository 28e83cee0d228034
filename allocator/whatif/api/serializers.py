"""What the what-if endpoints take and answer."""

from __future__ import annotations

from typing import Any, NoReturn

from django.contrib.auth.models import User
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from allocator.models import SavedScenario, WhatIfRun
from allocator.whatif.wording import reason_of
from dra.whatif import Scenario, ScenarioError, of_scenario, read_scenario
from inventory.api.cel_questions import Strict
from inventory.models import Cluster


def refused(error: ScenarioError, field: str) -> NoReturn:
    """A 400 with the field's path: ``scenario.edits[0].nodes[2]``."""
    joined = f"{field}.{error.path}" if field and error.path else field or error.path
    raise ValidationError(
        {joined: [ErrorDetail(reason_of(error), "invalid")]}
    ) from error


@extend_schema_field(OpenApiTypes.OBJECT)
class ScenarioField(serializers.Field[Scenario, Any, dict[str, Any], Any]):
    """A scenario as ``python -m dra what-if`` reads it; docs/api.md has examples."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            return read_scenario(data)
        except ScenarioError as error:
            # The path is told by the view: nested details would be cut at its dots.
            return error

    def to_representation(self, value: Any) -> dict[str, Any]:
        return dict(value)


class AskSerializer(Strict):
    """Either a scenario or the id of one that is kept."""

    scenario = ScenarioField(required=False)
    saved = serializers.UUIDField(
        required=False, help_text="A kept scenario of this cluster, instead."
    )
    title = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200
    )


class WhatIfSerializer(serializers.ModelSerializer[WhatIfRun]):
    """A what-if without its answer."""

    cluster = serializers.SlugRelatedField[Cluster](slug_field="name", read_only=True)
    user = serializers.SlugRelatedField[User](slug_field="username", read_only=True)

    class Meta:
        model = WhatIfRun
        fields = [
            "id",
            "cluster",
            "user",
            "title",
            "state",
            "fits",
            "complete",
            "sentence",
            "reason",
            "step",
            "done",
            "total",
            "scenario_hash",
            "snapshot_seq",
            "snapshot_at",
            "seconds",
            "saved",
            "previous",
            "created_at",
            "finished_at",
        ]

    scenario_hash = serializers.CharField(source="digest", read_only=True)
    saved = serializers.UUIDField(source="scenario_id", read_only=True, allow_null=True)


class WhatIfDetailSerializer(WhatIfSerializer):
    """A what-if with its scenario and its answer."""

    scenario = serializers.JSONField(source="document", read_only=True)
    result = serializers.JSONField(
        read_only=True,
        allow_null=True,
        help_text="While the run is open: what was found so far. `leftOut` "
        "says what lists were cut.",
    )

    class Meta(WhatIfSerializer.Meta):
        fields = [*WhatIfSerializer.Meta.fields, "scenario", "result"]


class ComparisonSerializer(serializers.Serializer[Any]):
    """Two answers beside each other."""

    first = serializers.UUIDField()
    second = serializers.UUIDField()
    sentence = serializers.CharField()
    same = serializers.BooleanField()
    items = serializers.ListField(child=serializers.DictField())
    only_first = serializers.ListField(child=serializers.CharField())
    only_second = serializers.ListField(child=serializers.CharField())
    free = serializers.ListField(child=serializers.DictField())


class ScenarioSerializer(serializers.ModelSerializer[SavedScenario]):
    """A kept scenario."""

    cluster = serializers.SlugRelatedField[Cluster](slug_field="name", read_only=True)
    user = serializers.SlugRelatedField[User](slug_field="username", read_only=True)
    scenario = serializers.JSONField(source="document", read_only=True)
    sentences = serializers.SerializerMethodField()

    class Meta:
        model = SavedScenario
        fields = [
            "id",
            "cluster",
            "user",
            "name",
            "shared",
            "revision",
            "sentences",
            "scenario",
            "created_at",
            "updated_at",
        ]

    def get_sentences(self, saved: SavedScenario) -> list[str]:
        return of_scenario(read_scenario(saved.document))[:100]


class NewScenarioSerializer(Strict):
    """A scenario to keep."""

    cluster = serializers.CharField(max_length=63)
    name = serializers.CharField(max_length=200)
    scenario = ScenarioField()
    shared = serializers.BooleanField(required=False, default=False)


class ChangeScenarioSerializer(Strict):
    """What is left out stays as it is."""

    name = serializers.CharField(max_length=200, required=False)
    scenario = ScenarioField(required=False)
    shared = serializers.BooleanField(required=False)


class ShapeSerializer(Strict):
    """What one pod brings."""

    name = serializers.CharField(max_length=100)
    claims = serializers.ListField(
        child=serializers.JSONField(), help_text="Specs of ResourceClaims."
    )


class ShapesSerializer(Strict):
    """The whole list; an empty one brings back one device of each class."""

    shapes = ShapeSerializer(many=True)


class HeadroomAnswerSerializer(serializers.Serializer[Any]):
    """How many more of one shape fit. `capped`: at least so many."""

    name = serializers.CharField()
    digest = serializers.CharField(help_text="Names the shape's line over time.")
    fits = serializers.IntegerField()
    nodes = serializers.IntegerField()
    verdict = serializers.CharField()
    capped = serializers.BooleanField()
    sentence = serializers.CharField()
    reason = serializers.CharField()
    claims = serializers.ListField(child=serializers.JSONField())


class HeadroomSerializer(serializers.Serializer[Any]):
    """How many more of each shape fit now."""

    cluster = serializers.CharField()
    seq = serializers.IntegerField()
    at = serializers.DateTimeField()
    own = serializers.BooleanField(
        help_text="Whether somebody has made the list of shapes."
    )
    shapes = HeadroomAnswerSerializer(many=True)


class SampleSerializer(serializers.Serializer[Any]):
    """One look, or the mean of those within `span` seconds from `at`."""

    at = serializers.DateTimeField()
    span = serializers.IntegerField()
    fits = serializers.FloatField()
    least = serializers.IntegerField()
    most = serializers.IntegerField()
    capped = serializers.BooleanField()


class HistorySerializer(serializers.Serializer[Any]):
    """The line of one shape."""

    name = serializers.CharField()
    digest = serializers.CharField()
    samples = SampleSerializer(many=True)
