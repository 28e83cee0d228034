"""The drafts of who asks: list, begin, read, save, discard. Nobody sees another's."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
)
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from claims.api.authoring_questions import TextField
from claims.models import Draft
from claims.services import drafts
from claims.services.drafts import Base, DraftChanged, DraftGone, DraftRefused
from inventory.api.base import CLUSTER_PARAMETER, MirrorList
from inventory.api.cel_questions import NameField, Strict
from inventory.models import Cluster
from web.api.permissions import ViewerAsks

IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The ETag of the draft as it was read.",
)


class BaseSerializer(Strict):
    """The object that is being edited, as it was when editing began."""

    kind = NameField()
    namespace = NameField()
    name = NameField()
    uid = NameField()
    resource_version = NameField()


class SavedDraftSerializer(serializers.ModelSerializer[Draft]):
    """A draft without its text."""

    cluster = serializers.SlugRelatedField[Cluster](slug_field="name", read_only=True)
    base = serializers.SerializerMethodField()

    class Meta:
        model = Draft
        fields = [
            "id",
            "cluster",
            "title",
            "origin",
            "selected",
            "revision",
            "base",
            "created_at",
            "updated_at",
        ]

    @extend_schema_field(BaseSerializer(allow_null=True))
    def get_base(self, draft: Draft) -> dict[str, str] | None:
        base = drafts.base_of(draft)
        if base is None:
            return None
        return {
            "kind": base.kind,
            "namespace": base.namespace,
            "name": base.name,
            "uid": base.uid,
            "resource_version": base.resource_version,
        }


class SavedDraftDetailSerializer(SavedDraftSerializer):
    """A draft with its text."""

    class Meta(SavedDraftSerializer.Meta):
        fields = [*SavedDraftSerializer.Meta.fields, "text"]


class NewDraftSerializer(Strict):
    """A draft to begin."""

    cluster = serializers.CharField(max_length=63)
    text = TextField(required=False, default="", help_text="At most 256 KiB.")
    title = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200
    )
    origin = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=400
    )
    selected = serializers.IntegerField(required=False, default=0, min_value=0)
    base = BaseSerializer(required=False, allow_null=True, default=None)


class SaveDraftSerializer(Strict):
    """What is left out stays as it is."""

    text = TextField(help_text="At most 256 KiB.")
    title = serializers.CharField(
        required=False, default=None, allow_blank=True, allow_null=True, max_length=200
    )
    selected = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=0
    )


class DraftList(MirrorList):
    """Your drafts, last changed first, without their texts."""

    queryset = Draft.objects.none()
    serializer_class = SavedDraftSerializer
    permission_classes = [ViewerAsks]
    cursor_ordering = ("-updated_at", "pk")
    follows_seq = False

    def get_queryset(self) -> QuerySet[Draft]:
        if getattr(self, "swagger_fake_view", False):
            return Draft.objects.none()
        return drafts.drafts_of(self.request.user, self.cluster).defer("text")

    @extend_schema(parameters=[CLUSTER_PARAMETER])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)

    @extend_schema(
        request=NewDraftSerializer,
        responses={
            201: SavedDraftDetailSerializer,
            409: OpenApiResponse(description="You have too many drafts."),
        },
    )
    def post(self, request: Request) -> Response:
        """Begin one. With 50 in a cluster the one left alone longest makes room."""
        asked = NewDraftSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        cluster = Cluster.objects.filter(name=data["cluster"]).first()
        if cluster is None:
            raise ValidationError(
                {"cluster": f"There is no cluster named {data['cluster']!r}."}
            )
        outcome = drafts.new_draft(
            request.user,
            cluster,
            data["text"],
            title=data["title"],
            origin=data["origin"],
            selected=data["selected"],
            base=Base(**data["base"]) if data["base"] else None,
        )
        if isinstance(outcome, DraftRefused):
            return _refused(outcome)
        draft = outcome.draft
        address = reverse("api-draft", kwargs={"pk": draft.pk}, request=request)
        return _draft(draft, status=201, Location=address)


class DraftDetail(generics.GenericAPIView[Draft]):
    """One of your drafts with its text; its revision is the ETag."""

    queryset = Draft.objects.none()
    serializer_class = SavedDraftDetailSerializer
    permission_classes = [ViewerAsks]

    @extend_schema(operation_id="drafts_retrieve")
    def get(self, request: Request, pk: UUID) -> Response:
        draft = drafts.draft_of(request.user, pk)
        if draft is None:
            raise Http404(DraftGone().reason)
        return _draft(draft)

    @extend_schema(
        operation_id="drafts_save",
        parameters=[IF_MATCH],
        request=SaveDraftSerializer,
        responses={
            200: SavedDraftDetailSerializer,
            404: OpenApiResponse(description="There is no such draft of yours."),
            412: OpenApiResponse(
                description="It was saved from elsewhere since; draft is the stored one."
            ),
            428: OpenApiResponse(description="If-Match is missing."),
        },
    )
    def put(self, request: Request, pk: UUID) -> Response:
        """Save over the revision that If-Match names."""
        revision = _if_match(request)
        if revision is None:
            return _problem(
                428,
                "Precondition required",
                "Say in If-Match which revision you read (the ETag of the draft).",
            )
        asked = SaveDraftSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        outcome = drafts.save_draft(
            request.user,
            pk,
            data["text"],
            revision=revision,
            title=data["title"],
            selected=data["selected"],
        )
        if isinstance(outcome, DraftRefused):
            return _refused(outcome)
        if isinstance(outcome, DraftGone):
            raise Http404(outcome.reason)
        if isinstance(outcome, DraftChanged):
            return _changed(outcome)
        return _draft(outcome.draft)

    @extend_schema(
        operation_id="drafts_discard",
        parameters=[IF_MATCH],
        request=None,
        responses={
            204: None,
            404: OpenApiResponse(description="There is no such draft of yours."),
            412: OpenApiResponse(description="It was saved from elsewhere since."),
        },
    )
    def delete(self, request: Request, pk: UUID) -> Response:
        """Discard it; with If-Match only that revision."""
        if drafts.discard(request.user, pk, revision=_if_match(request)):
            return Response(status=204)
        draft = drafts.draft_of(request.user, pk)
        if draft is None:
            raise Http404(DraftGone().reason)
        return _changed(DraftChanged(draft))


def _draft(draft: Draft, *, status: int = 200, **headers: str) -> Response:
    return Response(
        SavedDraftDetailSerializer(draft).data,
        status=status,
        headers={"ETag": f'"{draft.revision}"', **headers},
    )


def _if_match(request: Request) -> int | None:
    """The revision of If-Match. None: there is no such header, or it takes any (``*``)."""
    said = request.headers.get("If-Match", "").strip()
    if said in ("", "*"):
        return None
    text = said.removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdecimal() and len(text) < 18):
        raise ValidationError(
            {"If-Match": 'Must be one ETag as it came with the draft, like "3".'}
        )
    return int(text)


def _refused(outcome: DraftRefused) -> Response:
    if outcome.field:
        raise ValidationError({outcome.field: outcome.reason})
    return _problem(409, "Conflict", outcome.reason)


def _changed(outcome: DraftChanged) -> Response:
    stored = SavedDraftDetailSerializer(outcome.draft).data
    return _problem(412, "The draft was changed", outcome.reason, draft=stored)


def _problem(status: int, title: str, detail: str, **more: Any) -> Response:
    return Response(
        {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": detail,
            **more,
        },
        status=status,
        content_type="application/problem+json",
    )
