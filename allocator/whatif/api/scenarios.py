"""Scenarios that are kept: list, keep, read, change, copy, discard."""

from __future__ import annotations

from typing import Any, NoReturn
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from allocator.models import SavedScenario
from allocator.whatif.api.serializers import (
    ChangeScenarioSerializer,
    NewScenarioSerializer,
    ScenarioSerializer,
    refused,
)
from allocator.whatif.api.views import user_of
from allocator.whatif.saved import (
    ScenarioChanged,
    ScenarioRefused,
    change_scenario,
    copy_scenario,
    discard_scenario,
    keep_scenario,
    scenario_for,
    scenarios_for,
)
from dra.whatif import Scenario, ScenarioError
from inventory.api.base import CLUSTER_PARAMETER, MirrorList
from inventory.models import Cluster
from web.api.permissions import ViewerAsks
from web.api.problems import Conflict

IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The ETag of the scenario as it was read; without it, the newest.",
)


class ScenarioList(MirrorList):
    """Your scenarios and those that others share, by name."""

    queryset = SavedScenario.objects.none()
    serializer_class = ScenarioSerializer
    permission_classes = [ViewerAsks]
    cursor_ordering = ("name", "pk")
    follows_seq = False

    def get_queryset(self) -> QuerySet[SavedScenario]:
        if getattr(self, "swagger_fake_view", False):
            return SavedScenario.objects.none()
        return scenarios_for(user_of(self.request), self.cluster)

    @extend_schema(parameters=[CLUSTER_PARAMETER])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)

    @extend_schema(
        request=NewScenarioSerializer,
        responses={
            201: ScenarioSerializer,
            409: OpenApiResponse(description="You keep too many."),
        },
    )
    def post(self, request: Request) -> Response:
        """Keep a scenario under a name."""
        asked = NewScenarioSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        cluster = Cluster.objects.filter(name=data["cluster"]).first()
        if cluster is None:
            text = f"There is no cluster named {data['cluster']!r}."
            raise ValidationError({"cluster": text})
        try:
            saved = keep_scenario(
                cluster=cluster,
                user=user_of(request),
                name=data["name"],
                scenario=_scenario(data),
                shared=data["shared"],
            )
        except ScenarioRefused as refusal:
            _raise(refusal)
        return _answer(saved, request, status=201)


class OneScenario(generics.GenericAPIView[SavedScenario]):
    """One scenario that you may read; its revision is the ETag."""

    queryset = SavedScenario.objects.none()
    serializer_class = ScenarioSerializer
    permission_classes = [ViewerAsks]

    def saved(self, request: Request, pk: UUID) -> SavedScenario:
        found = scenario_for(user_of(request), pk)
        if found is None:
            raise Http404("There is no such scenario that you may read.")
        return found


class ScenarioDetail(OneScenario):
    @extend_schema(operation_id="scenarios_retrieve")
    def get(self, request: Request, pk: UUID) -> Response:
        return _answer(self.saved(request, pk), request)

    @extend_schema(
        operation_id="scenarios_change",
        parameters=[IF_MATCH],
        request=ChangeScenarioSerializer,
        responses={
            200: ScenarioSerializer,
            403: OpenApiResponse(description="It belongs to somebody else."),
            409: OpenApiResponse(description="It was changed since it was read."),
        },
    )
    def put(self, request: Request, pk: UUID) -> Response:
        """Change your own over the revision that If-Match names."""
        saved = self.saved(request, pk)
        asked = ChangeScenarioSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        try:
            saved = change_scenario(
                saved=saved,
                user=user_of(request),
                revision=_revision(request, saved),
                name=data.get("name"),
                scenario=_scenario(data) if "scenario" in data else None,
                shared=data.get("shared"),
            )
        except ScenarioRefused as refusal:
            _raise(refusal, saved, request)
        return _answer(saved, request)

    @extend_schema(
        operation_id="scenarios_discard",
        request=None,
        responses={
            204: None,
            403: OpenApiResponse(description="It belongs to somebody else."),
        },
    )
    def delete(self, request: Request, pk: UUID) -> Response:
        """Discard your own; its what-ifs stay."""
        saved = self.saved(request, pk)
        try:
            discard_scenario(saved=saved, user=user_of(request))
        except ScenarioRefused as refusal:
            _raise(refusal, saved, request)
        return Response(status=204)


class ScenarioCopy(OneScenario):
    @extend_schema(
        operation_id="scenarios_copy",
        request=None,
        responses={201: ScenarioSerializer},
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """The same as your own, not shared."""
        try:
            made = copy_scenario(saved=self.saved(request, pk), user=user_of(request))
        except ScenarioRefused as refusal:
            _raise(refusal)
        return _answer(made, request, status=201)


def _scenario(data: dict[str, Any]) -> Scenario:
    found = data["scenario"]
    if isinstance(found, ScenarioError):
        refused(found, "scenario")
    assert isinstance(found, Scenario)
    return found


def _revision(request: Request, saved: SavedScenario) -> int:
    said = request.headers.get("If-Match", "").strip()
    if said in ("", "*"):
        return saved.revision
    text = said.removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdecimal() and len(text) < 18):
        reason = 'Must be one ETag as it came with the scenario, like "3".'
        raise ValidationError({"If-Match": reason})
    return int(text)


def _raise(
    refusal: ScenarioRefused,
    saved: SavedScenario | None = None,
    request: Request | None = None,
) -> NoReturn:
    if refusal.field:
        raise ValidationError({refusal.field: str(refusal)}) from refusal
    others = saved is not None and request is not None
    if others and not isinstance(refusal, ScenarioChanged):
        raise PermissionDenied(str(refusal)) from refusal
    raise Conflict(str(refusal)) from refusal


def _answer(saved: SavedScenario, request: Request, *, status: int = 200) -> Response:
    headers = {"ETag": f'"{saved.revision}"'}
    if status == 201:
        headers["Location"] = reverse(
            "api-scenario", kwargs={"pk": saved.pk}, request=request
        )
    return Response(ScenarioSerializer(saved).data, status=status, headers=headers)
