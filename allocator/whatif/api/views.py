"""Ask what would be, follow long answers, cancel, ask again, compare."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from allocator.models import WhatIfRun
from allocator.whatif.api.serializers import (
    AskSerializer,
    ComparisonSerializer,
    WhatIfDetailSerializer,
    WhatIfSerializer,
    refused,
)
from allocator.whatif.comparing import compare
from allocator.whatif.running import (
    WhatIfRefused,
    ask_again,
    cancel_what_if,
    runs_of,
    start_what_if,
)
from allocator.whatif.saved import scenarios_for
from dra.whatif import ScenarioError, read_scenario
from inventory.api.base import CLUSTER_PARAMETER, MirrorList
from inventory.models import Cluster
from web.api.permissions import ViewerAsks, role_of_request
from web.api.problems import Conflict
from web.doors import Role

RUNS = WhatIfRun.objects.select_related("cluster", "user")
_FOLLOW = {
    200: WhatIfDetailSerializer,
    202: OpenApiResponse(
        WhatIfDetailSerializer, description="A worker goes on: follow Location."
    ),
    409: OpenApiResponse(description="Too many of yours are under way."),
}


def user_of(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


class WhatIfAsk(generics.GenericAPIView[Cluster]):
    """What would be if the cluster were changed so? Nothing is written to it."""

    queryset = Cluster.objects.all()
    lookup_field = "name"
    permission_classes = [ViewerAsks]
    serializer_class = AskSerializer

    @extend_schema(
        operation_id="clusters_what_if",
        request=AskSerializer,
        responses=_FOLLOW | {404: OpenApiResponse(description="No such cluster.")},
    )
    def post(self, request: Request, **_: Any) -> Response:
        """200 with the answer where that is quick, else 202 with where to follow it."""
        cluster = self.get_object()
        asked = AskSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data, user = asked.validated_data, user_of(request)
        saved = None
        if ("scenario" in data) == ("saved" in data):
            raise ValidationError({"scenario": "Give either scenario or saved."})
        if "saved" in data:
            mine = scenarios_for(user, cluster)
            saved = mine.filter(pk=data["saved"]).first()
            if saved is None:
                text = "There is no such scenario that you may read."
                raise ValidationError({"saved": text})
            scenario = read_scenario(saved.document)
        else:
            scenario = data["scenario"]
        if isinstance(scenario, ScenarioError):
            refused(scenario, "scenario")
        try:
            run = start_what_if(
                cluster=cluster,
                user=user,
                scenario=scenario,
                title=data["title"] or (saved.name if saved else ""),
                saved=saved,
            )
        except ScenarioError as error:
            refused(error, "saved" if saved else "scenario")
        except WhatIfRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return followed(run, request)


class WhatIfList(MirrorList):
    """Your what-ifs, newest first, without their answers."""

    queryset = WhatIfRun.objects.none()
    serializer_class = WhatIfSerializer
    cursor_ordering = ("-created_at", "pk")
    follows_seq = False

    def get_queryset(self) -> QuerySet[WhatIfRun]:
        if getattr(self, "swagger_fake_view", False):
            return WhatIfRun.objects.none()
        return runs_of(user_of(self.request), self.cluster)

    @extend_schema(parameters=[CLUSTER_PARAMETER])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)


class WhatIfDetail(generics.RetrieveAPIView[WhatIfRun]):
    """One what-if with its answer, or with how far it is."""

    queryset = RUNS
    serializer_class = WhatIfDetailSerializer


class WhatIfCancel(generics.GenericAPIView[WhatIfRun]):
    """Stop a what-if; what was found until then stays."""

    queryset = RUNS
    serializer_class = WhatIfDetailSerializer
    permission_classes = [ViewerAsks]

    @extend_schema(
        operation_id="what_if_cancel",
        request=None,
        responses={
            200: WhatIfDetailSerializer,
            409: OpenApiResponse(description="It is over."),
        },
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Of one's own; operators stop those of others too."""
        run = self.get_object()
        role = role_of_request(request)
        if run.user_id != request.user.pk and (role is None or role < Role.OPERATOR):
            raise PermissionDenied("Only who asked, or an operator, may cancel this.")
        try:
            run = cancel_what_if(run=run)
        except WhatIfRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return Response(self.get_serializer(run).data)


class WhatIfAgain(generics.GenericAPIView[WhatIfRun]):
    """The same scenario on the cluster as it is now."""

    queryset = RUNS.select_related("scenario")
    serializer_class = WhatIfDetailSerializer
    permission_classes = [ViewerAsks]

    @extend_schema(operation_id="what_if_again", request=None, responses=_FOLLOW)
    def post(self, request: Request, **_: Any) -> Response:
        """A new what-if; `previous` names the old one, to compare with."""
        try:
            run = ask_again(run=self.get_object(), user=user_of(request))
        except ScenarioError as error:
            refused(error, "scenario")
        except WhatIfRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return followed(run, request)


class WhatIfCompare(generics.GenericAPIView[WhatIfRun]):
    """Two answers of one cluster beside each other."""

    queryset = RUNS
    serializer_class = ComparisonSerializer

    @extend_schema(
        operation_id="what_if_compare",
        parameters=[
            OpenApiParameter(
                "other",
                OpenApiTypes.UUID,
                required=True,
                description="The id of the second, of the same cluster.",
            )
        ],
        responses={
            200: ComparisonSerializer,
            409: OpenApiResponse(description="One of them has no answer yet."),
        },
    )
    def get(self, request: Request, pk: UUID) -> Response:
        """In sentences first, then by item, claim and class."""
        other = self._other(request)
        first = get_object_or_404(RUNS, pk=pk)
        second = get_object_or_404(RUNS, pk=other, cluster=first.cluster)
        if first.result is None or second.result is None:
            raise Conflict("One of them has no answer yet: follow it until it is done.")
        found = compare(first.result, second.result)
        body = {
            "first": first.pk,
            "second": second.pk,
            "sentence": found.sentence,
            "same": found.same,
            "items": [
                {"sentence": i.sentence, "first": i.first, "second": i.second}
                for i in found.items
            ],
            "only_first": found.only_first,
            "only_second": found.only_second,
            "free": [
                {"class": name, "first": a, "second": b} for name, a, b in found.free
            ],
        }
        return Response(ComparisonSerializer(body).data)

    def _other(self, request: Request) -> UUID:
        try:
            return UUID(request.query_params.get("other", ""))
        except ValueError:
            text = "Must be the id of another what-if of the same cluster."
            raise ValidationError({"other": text}) from None


def followed(run: WhatIfRun, request: Request) -> Response:
    """200, or 202 with Location while a worker is on it."""
    body = WhatIfDetailSerializer(run, context={"request": request}).data
    address = reverse("api-what-if", kwargs={"pk": run.pk}, request=request)
    code = status.HTTP_202_ACCEPTED if run.is_open else status.HTTP_200_OK
    return Response(body, status=code, headers={"Location": address})
