"""What happened: in a cluster between two times, and to one object."""

from __future__ import annotations

import html
from datetime import UTC, timedelta
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.html import strip_tags
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inventory.choices import Happened
from inventory.history.differences import differences
from inventory.history.happenings import DEVICE, RULE, between, first_list
from inventory.history.moments import earlier, moment
from inventory.history.timelines import Place, timeline
from inventory.history.words import sentence
from inventory.models import Cluster
from inventory.models_history import Happening
from web.api.paging import CursorPages
from web.api.permissions import ViewerReads

DEFAULT: Final = timedelta(hours=1)
MOST: Final = 500
PAGE: Final = 100
KINDS: Final = ("ResourceClaim", DEVICE, "Node", "DeviceClass", RULE)

_FROM = OpenApiParameter(
    "from", OpenApiTypes.DATETIME, description="One hour before `to`."
)
_TO = OpenApiParameter("to", OpenApiTypes.DATETIME, description="Now.")


class HappeningSerializer(serializers.Serializer[Happening]):
    """One thing that happened to one object, when the watch heard of it."""

    at = serializers.DateTimeField()
    kind = serializers.ChoiceField([(kind, kind) for kind in KINDS])
    namespace = serializers.CharField()
    name = serializers.CharField(help_text="Of a device `driver/pool/device`.")
    uid = serializers.CharField(help_text="Empty for devices.")
    happened = serializers.ChoiceField(Happened.choices, source="what")
    words = serializers.SerializerMethodField(help_text="The same as a sentence.")
    detail = serializers.DictField(
        help_text="Devices, node, users, taints, old and new values: what there is "
        "depends on `happened`. Long lists are cut; `count` is how many there were."
    )

    def get_words(self, row: Happening) -> str:
        return html.unescape(strip_tags(sentence(self.context["cluster"], row)))


class SpanQuestion(serializers.Serializer[Any]):
    """From when until when."""

    to = serializers.DateTimeField(required=False)
    kind = serializers.ChoiceField(KINDS, required=False)
    happened = serializers.ChoiceField(Happened.choices, required=False, source="what")
    namespace = serializers.CharField(max_length=63, required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # "from" is a word of the language.
        begin = serializers.DateTimeField(required=False)
        return {**super().get_fields(), "from": begin}


class ChangePages(CursorPages):
    """Many things may happen at one moment: a page goes on within it."""

    offset_cutoff = 1_000_000


def asked(request: Request) -> dict[str, Any]:
    """The parameters, with ``from`` and ``to`` filled in. Raises ValidationError."""
    question = SpanQuestion(data=request.query_params)
    question.is_valid(raise_exception=True)
    values: dict[str, Any] = dict(question.validated_data)
    values.setdefault("to", timezone.now())
    values.setdefault("from", earlier(values["to"], DEFAULT))
    if values["from"] >= values["to"]:
        raise ValidationError({"from": "It must be before “to”."})
    return values


@extend_schema_view(
    get=extend_schema(
        operation_id="cluster_changes",
        parameters=[
            _FROM,
            _TO,
            OpenApiParameter("kind", OpenApiTypes.STR, enum=KINDS),
            OpenApiParameter("happened", OpenApiTypes.STR, enum=Happened.values),
            OpenApiParameter("namespace", OpenApiTypes.STR, description="Of claims."),
        ],
    )
)
class ClusterChanges(generics.ListAPIView[Happening]):
    """What changed in a cluster between two times, the newest first."""

    permission_classes = [ViewerReads]
    serializer_class = HappeningSerializer
    pagination_class = ChangePages
    queryset = Happening.objects.none()
    cursor_ordering = ("-at", "-pk")

    def get_queryset(self) -> QuerySet[Happening]:
        cluster = get_object_or_404(Cluster, name=self.kwargs["name"])
        values = asked(self.request)
        rows = between(cluster.pk, values["from"], values["to"]).exclude(name="")
        narrow = {
            key: values[key] for key in ("kind", "what", "namespace") if key in values
        }
        return rows.filter(**narrow)

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "cluster": self.kwargs["name"]}


class ChangeCountSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField()
    kind = serializers.CharField()
    objects = serializers.IntegerField(
        help_text="To how many it happened. What came and went again is in neither."
    )


class ChangeCountsSerializer(serializers.Serializer[Any]):
    """How many objects changed, by topic; topics without any are left out."""

    cluster = serializers.CharField()
    to = serializers.DateTimeField()
    begun = serializers.DateTimeField(
        allow_null=True, help_text="Since when claims are recorded."
    )
    counts = ChangeCountSerializer(many=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), "from": serializers.DateTimeField()}


class ChangeCounts(APIView):
    """What changed in a cluster between two times, in counts."""

    permission_classes = [ViewerReads]

    @extend_schema(
        operation_id="cluster_change_counts",
        parameters=[_FROM, _TO],
        responses=ChangeCountsSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        """The numbers of the page “What changed”."""
        cluster = get_object_or_404(Cluster, name=name)
        values = asked(request)
        found = differences(cluster.pk, values["from"], values["to"], listed=0)
        answer = {
            "cluster": cluster.name,
            "from": values["from"],
            "to": values["to"],
            "begun": first_list(cluster.pk, "ResourceClaim"),
            "counts": [
                {"topic": one.topic.title, "kind": one.topic.kind, "objects": one.count}
                for one in found
            ],
        }
        return Response(ChangeCountsSerializer(answer).data)


class ObjectHistorySerializer(serializers.Serializer[Any]):
    """The life of one object, the newest first."""

    cluster = serializers.CharField()
    kind = serializers.CharField()
    namespace = serializers.CharField()
    name = serializers.CharField()
    begun = serializers.DateTimeField(
        allow_null=True, help_text="Since when its kind is recorded."
    )
    next = serializers.URLField(allow_null=True, help_text="What happened before that.")
    results = HappeningSerializer(many=True)


class _ObjectHistory(APIView):
    """An object that is gone has its history too; one that never was, an empty one."""

    permission_classes = [ViewerReads]
    kind: ClassVar[str]
    watched: ClassVar[str] = ""

    def answer(
        self, request: Request, cluster: str, name: str, namespace: str = ""
    ) -> Response:
        here = get_object_or_404(Cluster, name=cluster)
        limit = _limit(request.query_params.get("limit", ""))
        before = _place(request.query_params.get("cursor", ""))
        if "\0" in name + namespace:
            raise ValidationError({"name": "A name holds no such character."})
        rows = timeline(
            here.pk, self.kind, name, namespace, most=limit + 1, before=before
        )
        more = None
        if len(rows) > limit:
            last = rows[limit - 1]
            cursor = f"{last.at.astimezone(UTC).isoformat()}_{last.pk}"
            query = urlencode({"limit": limit, "cursor": cursor})
            more = request.build_absolute_uri(f"{request.path}?{query}")
        answer = {
            "cluster": here.name,
            "kind": self.kind,
            "namespace": namespace,
            "name": name,
            "begun": first_list(here.pk, self.watched or self.kind),
            "next": more,
            "results": rows[:limit],
        }
        context = {"cluster": here.name}
        return Response(ObjectHistorySerializer(answer, context=context).data)


def _limit(text: str) -> int:
    if not text:
        return PAGE
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= MOST):
        raise ValidationError({"limit": f"Must be 1 to {MOST}."})
    return int(text)


def _place(text: str) -> Place | None:
    if not text:
        return None
    when, _, pk = text.partition("_")
    at = moment(when)
    if at is None or not (pk.isascii() and pk.isdecimal()):
        raise ValidationError({"cursor": "Take it from “next” of an answer."})
    return Place(at, min(int(pk[:19]), 2**63 - 1))


_PARAMETERS: Final = [
    OpenApiParameter(
        "limit", OpenApiTypes.INT, description=f"1 to {MOST}, else {PAGE}."
    ),
    OpenApiParameter(
        "cursor", OpenApiTypes.STR, description="From `next` of an answer."
    ),
]


class ClaimHistory(_ObjectHistory):
    """What happened to a claim."""

    kind = "ResourceClaim"

    @extend_schema(
        operation_id="claim_history",
        parameters=_PARAMETERS,
        responses=ObjectHistorySerializer,
    )
    def get(
        self, request: Request, cluster: str, namespace: str, name: str
    ) -> Response:
        """Created, allocated, reserved, in use, released, deleted: when, and with what."""
        return self.answer(request, cluster, name, namespace)


class DeviceHistory(_ObjectHistory):
    """What happened to a device."""

    kind = DEVICE
    watched = "ResourceSlice"

    @extend_schema(
        operation_id="device_history",
        parameters=_PARAMETERS,
        responses=ObjectHistorySerializer,
    )
    def get(
        self, request: Request, cluster: str, driver: str, pool: str, name: str
    ) -> Response:
        """Published, held, let go, tainted, changed, vanished: when, and by whom.

        What a taint rule does that hits many devices is told of each.
        """
        return self.answer(request, cluster, f"{driver}/{pool}/{name}")


class NodeHistory(_ObjectHistory):
    """What happened to a node."""

    kind = "Node"

    @extend_schema(
        operation_id="node_history",
        parameters=_PARAMETERS,
        responses=ObjectHistorySerializer,
    )
    def get(self, request: Request, cluster: str, name: str) -> Response:
        """Joined, left, cordoned, uncordoned, ready, not ready."""
        return self.answer(request, cluster, name)


class ClassHistory(_ObjectHistory):
    """What happened to a class."""

    kind = "DeviceClass"

    @extend_schema(
        operation_id="class_history",
        parameters=_PARAMETERS,
        responses=ObjectHistorySerializer,
    )
    def get(self, request: Request, cluster: str, name: str) -> Response:
        """Created, changed, deleted."""
        return self.answer(request, cluster, name)


class TaintRuleHistory(_ObjectHistory):
    """What happened to a taint rule."""

    kind = RULE

    @extend_schema(
        operation_id="taint_rule_history",
        parameters=_PARAMETERS,
        responses=ObjectHistorySerializer,
    )
    def get(self, request: Request, cluster: str, name: str) -> Response:
        """Created, changed, deleted, and how many devices it tainted where many."""
        return self.answer(request, cluster, name)
