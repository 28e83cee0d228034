"""A repair: where it stands, and its steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from allocator.findings import queries
from allocator.models import Finding
from allocator.repairs import asking
from allocator.repairs.api import serializers
from allocator.repairs.looking import picture_of
from web.api.permissions import role_of_request
from web.api.problems import Conflict
from web.doors import Role

_REFUSED = OpenApiResponse(
    description="It cannot be done now, in words: a claim has changed, a step is missing "
    "or under way. Nothing was written."
)
ASKED = {202: serializers.RepairSerializer, 409: _REFUSED}
NOTED = {200: serializers.RepairSerializer, 409: _REFUSED}


class _OfFinding(generics.GenericAPIView[Finding]):
    queryset = Finding.objects.none()
    serializer_class: Any = serializers.RepairSerializer

    def get_queryset(self) -> QuerySet[Finding]:
        return queries.findings()

    def answer(self, finding: Finding, code: int = status.HTTP_200_OK) -> Response:
        found = picture_of(finding)
        if found is None:
            raise Http404("This finding is not about a device that is booked twice.")
        return Response(serializers.RepairSerializer(found).data, status=code)


class RepairDetail(_OfFinding):
    """Where the repair of a device that is booked twice stands."""

    @extend_schema(responses=serializers.RepairSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Who holds the device now, what keeps others off it, and what was done."""
        del request, pk
        return self.answer(self.get_object())


class _Step(_OfFinding, ABC):
    """One step; ``admin``: which takes that role."""

    admin = False
    code: int = status.HTTP_202_ACCEPTED

    def take(self, request: Request) -> Response:
        finding = self.get_object()
        given: dict[str, Any] = {}
        if self.serializer_class is not serializers.RepairSerializer:
            sent = self.get_serializer(data=request.data)
            sent.is_valid(raise_exception=True)
            given = sent.validated_data
        asks_more = any(value for name, value in given.items() if "although" in name)
        if (self.admin or asks_more) and role_of_request(request) != Role.ADMIN:
            raise PermissionDenied("This step takes the role “admin”.")
        try:
            self.act(finding, request.user, given)
        except asking.RepairRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return self.answer(finding, self.code)

    @abstractmethod
    def act(self, finding: Finding, user: Any, given: dict[str, Any]) -> None:
        """Do it, with what was sent. Raises RepairRefused."""


class Quarantine(_Step):
    """Keep others off the device."""

    serializer_class = serializers.QuarantineSerializer

    @extend_schema(responses=ASKED)
    def post(self, request: Request, pk: int) -> Response:
        """A worker puts it on; again: it lasts until then."""
        del pk
        return self.take(request)

    def act(self, finding: Finding, user: Any, given: dict[str, Any]) -> None:
        asking.quarantine(finding, user, wish=given["wish"], hours=given["hours"])


class Keep(_Step):
    """Decide which claim keeps the device."""

    serializer_class = serializers.KeepSerializer
    code = status.HTTP_200_OK

    @extend_schema(responses=NOTED)
    def post(self, request: Request, pk: int) -> Response:
        """Changes nothing in the cluster."""
        del pk
        return self.take(request)

    def act(self, finding: Finding, user: Any, given: dict[str, Any]) -> None:
        asking.keep(finding, user, given["namespace"], given["claim_name"])


class GiveWay(_Step):
    """Release a claim that gives way."""

    serializer_class = serializers.GiveWaySerializer
    admin = True

    @extend_schema(responses=ASKED)
    def post(self, request: Request, pk: int) -> Response:
        """A run takes its allocation back. Role admin."""
        del pk
        return self.take(request)

    def act(self, finding: Finding, user: Any, given: dict[str, Any]) -> None:
        asking.release(
            finding,
            user,
            given["namespace"],
            given["claim_name"],
            seen_version=given["resource_version"],
            although_used=given["although_used"],
        )


class Rewrite(_Step):
    """Write the allocation of the claim that keeps the device anew."""

    serializer_class = serializers.RewriteSerializer
    admin = True

    @extend_schema(responses=ASKED)
    def post(self, request: Request, pk: int) -> Response:
        """A run takes it away and puts it back as it is. Role admin."""
        del pk
        return self.take(request)

    def act(self, finding: Finding, user: Any, given: dict[str, Any]) -> None:
        asking.rewrite(finding, user, seen_version=given["resource_version"])


class PutBack(_Step):
    """Put back what a rewriting took away and could not put back."""

    admin = True

    @extend_schema(request=None, responses=ASKED)
    def post(self, request: Request, pk: int) -> Response:
        """A run gives the claim what it held before, if nobody else has it. Role admin."""
        del pk
        return self.take(request)

    def act(self, finding: Finding, user: Any, given: dict[str, Any]) -> None:
        del given
        asking.put_back(finding, user)


class Restarted(_Step):
    """Every replica of every scheduler was restarted by hand."""

    code = status.HTTP_200_OK

    @extend_schema(request=None, responses=NOTED)
    def post(self, request: Request, pk: int) -> Response:
        """Changes nothing in the cluster."""
        del pk
        return self.take(request)

    def act(self, finding: Finding, user: Any, given: dict[str, Any]) -> None:
        del given
        asking.restarted(finding, user)


class Wait(_Step):
    """The quarantine stays until the claim that keeps the device has ended."""

    code = status.HTTP_200_OK

    @extend_schema(request=None, responses=NOTED)
    def post(self, request: Request, pk: int) -> Response:
        """Changes nothing in the cluster."""
        del pk
        return self.take(request)

    def act(self, finding: Finding, user: Any, given: dict[str, Any]) -> None:
        del given
        asking.wait(finding, user)


class Lift(_Step):
    """Let others have the device again."""

    serializer_class = serializers.LiftSerializer

    @extend_schema(responses=ASKED)
    def post(self, request: Request, pk: int) -> Response:
        """A worker takes the quarantine off, which ends the repair."""
        del pk
        return self.take(request)

    def act(self, finding: Finding, user: Any, given: dict[str, Any]) -> None:
        asking.lift(finding, user, although_forgotten=given["although_forgotten"])
