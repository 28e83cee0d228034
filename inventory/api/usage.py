"""Use over time: points for charts, bounded in number."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inventory.choices import UsageKind
from inventory.history.moments import earlier
from inventory.history.numbers import FIELDS, Key
from inventory.history.reading import MOST_POINTS, STEPS, Point, Usage, usage
from inventory.models import Cluster
from web.api.permissions import ViewerReads

DEFAULT: Final = timedelta(hours=24)
POINTS: Final = 300
"""About how many there are when no step is asked for."""


class UsageQuestion(serializers.Serializer[Any]):
    """The parameters."""

    cluster = serializers.SlugField()
    by = serializers.ChoiceField(UsageKind.choices, default=UsageKind.CLUSTER)
    name = serializers.CharField(max_length=253, default="")
    to = serializers.DateTimeField(required=False)
    step = serializers.ChoiceField(STEPS, required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # "from" is a word of the language.
        begin = serializers.DateTimeField(required=False)
        return {**super().get_fields(), "from": begin}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs["by"] == UsageKind.CLUSTER) == bool(attrs["name"]):
            raise ValidationError(
                {"name": "Name the class, driver, node or namespace; a cluster none."}
            )
        return attrs


class UsagePointSerializer(serializers.Serializer[Any]):
    """Averages of the step that begins at ``at``; null where nobody looked."""

    at = serializers.DateTimeField()
    covered = serializers.FloatField(
        help_text="Share of the step that is known, 0 to 1."
    )
    free = serializers.FloatField(allow_null=True)
    in_use = serializers.FloatField(
        allow_null=True, help_text="Of a namespace: devices that its claims hold."
    )
    shared = serializers.FloatField(allow_null=True)
    blocked = serializers.FloatField(allow_null=True)
    tainted = serializers.FloatField(allow_null=True)
    incomplete = serializers.FloatField(allow_null=True)
    invalid = serializers.FloatField(allow_null=True)
    pending = serializers.FloatField(
        allow_null=True,
        help_text="Claims without an allocation, of a namespace or the cluster.",
    )


class UsageSerializer(serializers.Serializer[Any]):
    """Use of one thing over time."""

    cluster = serializers.CharField()
    by = serializers.ChoiceField(UsageKind.choices)
    name = serializers.CharField()
    step = serializers.IntegerField(
        help_text="Seconds. Greater than asked for where only hours or days are kept."
    )
    points = UsagePointSerializer(many=True)


class UsageView(APIView):
    """Devices by state over time."""

    permission_classes = [ViewerReads]

    @extend_schema(
        operation_id="usage",
        parameters=[
            OpenApiParameter("cluster", OpenApiTypes.STR, required=True),
            OpenApiParameter(
                "by",
                OpenApiTypes.STR,
                enum=UsageKind.values,
                description="Whose use; the whole cluster's if not given.",
            ),
            OpenApiParameter(
                "name",
                OpenApiTypes.STR,
                description="Of the class, driver, node or namespace.",
            ),
            OpenApiParameter(
                "from", OpenApiTypes.DATETIME, description="24 hours before `to`."
            ),
            OpenApiParameter("to", OpenApiTypes.DATETIME, description="Now."),
            OpenApiParameter(
                "step",
                OpenApiTypes.INT,
                enum=STEPS,
                description=f"Seconds between points; at most {MOST_POINTS:,} of them. "
                f"Without it, a step that gives about {POINTS}.",
            ),
        ],
        responses=UsageSerializer,
    )
    def get(self, request: Request) -> Response:
        """Averages per step. What nobody saw is null, not zero."""
        asked = UsageQuestion(data=request.query_params)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        cluster = Cluster.objects.filter(name=values["cluster"]).first()
        if cluster is None:
            text = f"There is no cluster named {values['cluster']!r}."
            raise ValidationError({"cluster": text})
        key = Key(str(values["by"]), values["name"])
        until: datetime = values.get("to") or timezone.now()
        since: datetime = values.get("from") or earlier(until, DEFAULT)
        step = values.get("step") or step_for(since, until)
        return Response(_answer(cluster, _usage(cluster, key, since, until, int(step))))


def _usage(
    cluster: Cluster, key: Key, since: datetime, until: datetime, step: int
) -> Usage:
    if since >= until:
        raise ValidationError({"from": "It must be before “to”."})
    try:
        return usage(cluster, key, since, until, step)
    except ValueError as error:
        raise ValidationError({"step": f"It {error}."}) from None


def step_for(since: datetime, until: datetime) -> int:
    """The smallest step that gives about :data:`POINTS`, or the greatest there is."""
    seconds = (until - since).total_seconds()
    return next((step for step in STEPS if seconds / step <= POINTS), STEPS[-1])


def _answer(cluster: Cluster, found: Usage) -> dict[str, Any]:
    return {
        "cluster": cluster.name,
        "by": str(found.key.kind),
        "name": found.key.name,
        "step": found.step,
        "points": [_point(point) for point in found.points],
    }


def _point(point: Point) -> dict[str, Any]:
    values = point.averages or (None,) * len(FIELDS)
    named = {
        name: None if value is None else round(value, 3)
        for name, value in zip(FIELDS, values, strict=True)
    }
    return {"at": point.at, "covered": round(point.covered, 3), **named}
