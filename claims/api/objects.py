"""Creating, changing and deleting claims, templates and classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from claims.api import objects_answers as answers
from claims.api import views
from claims.api.authoring_questions import Draft, DraftSerializer
from claims.authoring.manifests import Document
from claims.services import objects
from claims.services.batches import create_all, namespace_of, repeated
from cluster.objects import Expected
from cluster.objects.bodies import can_be_sent
from inventory.api.cel_questions import NameField, Strict
from inventory.api.views import ClassDetail
from inventory.models import Cluster
from web.api.permissions import ViewerReads, role_of_request
from web.doors import Role, RoleMissing
from web.namespaces import NamespaceMissing

Json = dict[str, Any]

_REFUSALS = {
    403: OpenApiResponse(description="Not allowed, here or in the cluster."),
    404: OpenApiResponse(description="There is no such cluster or object."),
    409: OpenApiResponse(
        description="The name is taken, somebody else changed the object, or the "
        "cluster is read-only here."
    ),
    422: OpenApiResponse(description="The API server refuses the object."),
    502: OpenApiResponse(description="Sent, and it is not known what became of it."),
    503: OpenApiResponse(description="The API server is away; nothing was written."),
}


class CreateSerializer(DraftSerializer):
    """Objects to create."""

    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Ask the API server, write nothing."
    )


class UpdateSerializer(Strict):
    """The object as it shall be, and which one it was when it was read."""

    object = serializers.JSONField(
        help_text="The whole object. What it leaves out is removed, its status excepted."
    )
    uid = NameField(help_text="Empty: metadata.uid of the object.")
    resource_version = NameField(
        help_text="Empty: metadata.resourceVersion of the object."
    )
    dry_run = serializers.BooleanField(required=False, default=False)


class DeleteSerializer(Strict):
    """Parameters in the address."""

    uid = NameField()
    resource_version = NameField()
    dry_run = serializers.BooleanField(required=False, default=False)


class _Written(ViewerReads):
    """Reading is a viewer's matter; writing takes the role of the kind."""

    def needed(self, request: Request) -> Role:
        read = super().needed(request)
        return read if read is Role.VIEWER else self.role

    role: ClassVar[Role] = Role.AUTHOR


class _WrittenByAdmins(_Written):
    role = Role.ADMIN


class ObjectsCreate(generics.GenericAPIView[Cluster]):
    """Creates claims, templates and classes in one cluster."""

    queryset = Cluster.objects.all()
    lookup_field = "name"
    serializer_class = CreateSerializer
    permission_classes = [_Written]

    @extend_schema(
        operation_id="clusters_claims_create",
        request=CreateSerializer,
        responses={
            200: answers.CreatedSerializer,
            201: answers.CreatedSerializer,
            **_REFUSALS,
        },
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Several documents are tried first and created in their order, or none is."""
        cluster = self.get_object()
        asked = CreateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data, draft = asked.validated_data, asked.draft()
        documents = _readable(draft)
        namespace = data["namespace"] or "default"
        for document in documents:
            where = namespace_of(document.value, namespace)
            _check_may_write(request, cluster, document.kind, where)
        _check_named_once(documents, namespace)
        batch = create_all(
            cluster,
            request.user,
            [document.value for document in documents],
            namespace=namespace,
            dry_run=data["dry_run"],
        )
        return answers.created(batch, documents, single="object" in data)


def _readable(draft: Draft) -> Sequence[Document]:
    """The documents, if there are any and all are objects. Raises ValidationError."""
    field = "manifest" if draft.text else "object"
    problems = [draft.problem] if draft.problem else []
    problems += [d.problem for d in draft.documents if d.problem is not None]
    if problems:
        said = [
            f"Line {p.line}, column {p.column}: {p.message}" if p.line else p.message
            for p in dict.fromkeys(problems)
        ]
        raise ValidationError({field: said})
    if not draft.documents:
        raise ValidationError({"manifest": "There is no object in this text."})
    for document in draft.documents:
        _check_object(document.value, field)
    return draft.documents


def _check_named_once(documents: Sequence[Document], namespace: str) -> None:
    again = repeated([document.value for document in documents], namespace)
    if again is None:
        return
    second, first = documents[again[0]], documents[again[1]]
    raise ValidationError(
        {
            "manifest": f"Line {second.first_line}: {second.kind} {second.name} is there "
            f"twice, first in line {first.first_line}; nothing was written."
        }
    )


def _check_object(value: object, field: str) -> None:
    if not isinstance(value, dict):
        raise ValidationError({field: "An object is a mapping of keys to values."})
    if not can_be_sent(value):
        raise ValidationError({field: "It holds a text or number that no JSON can."})


def _check_may_write(
    request: Request, cluster: Cluster, kind: str, namespace: str
) -> None:
    held = role_of_request(request)
    try:
        objects.check_may_write(cluster, request.user, held, kind, namespace)
    except RoleMissing as refused:
        raise PermissionDenied(
            f"To write a {kind} takes the role {refused.needed.value}: ask an "
            "administrator to add you to that group."
        ) from refused
    except NamespaceMissing as refused:
        raise PermissionDenied(str(refused)) from refused


type _Method = Callable[..., Response]


def _documented(kind: str) -> tuple[Callable[[_Method], _Method], ...]:
    """Decorators of PUT and DELETE."""
    words = {"ResourceClaim": "claims", "ResourceClaimTemplate": "templates"}
    name = words.get(kind, "classes")

    def text(field: str, why: str) -> OpenApiParameter:
        return OpenApiParameter(field, OpenApiTypes.STR, required=True, description=why)

    put = extend_schema(
        operation_id=f"{name}_replace",
        request=UpdateSerializer,
        responses={200: answers.UpdatedSerializer, **_REFUSALS},
    )
    delete = extend_schema(
        operation_id=f"{name}_delete",
        parameters=[
            text("uid", "metadata.uid of the object that was read."),
            text("resource_version", "metadata.resourceVersion that was read."),
            OpenApiParameter("dry_run", OpenApiTypes.BOOL),
        ],
        responses={200: answers.DeletedSerializer, **_REFUSALS},
    )
    return put, delete


class _Writes(generics.GenericAPIView[Any]):
    """PUT and DELETE of one object, left of its detail view."""

    kind: ClassVar[str]

    @property
    def cluster(self) -> Cluster:
        return generics.get_object_or_404(Cluster, name=self.kwargs["cluster"])

    def _check(self) -> None:
        namespace = self.kwargs.get("namespace", "")
        _check_may_write(self.request, self.cluster, self.kind, namespace)

    def _replace(self) -> Response:
        self._check()
        asked = UpdateSerializer(data=self.request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        value = data["object"]
        _check_object(value, "object")
        if value.get("kind") != self.kind:
            raise ValidationError(
                {"object": {"kind": f"At this address it is a {self.kind}."}}
            )
        return answers.written(
            objects.update(
                self.cluster,
                self.request.user,
                value,
                _expected(data, value.get("metadata")),
                dry_run=data["dry_run"],
                **self._key(),
            )
        )

    def _remove(self) -> Response:
        self._check()
        asked = DeleteSerializer(data=self.request.query_params.dict())
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        return answers.written(
            objects.delete(
                self.cluster,
                self.request.user,
                self.kind,
                _expected(data, None),
                dry_run=data["dry_run"],
                **self._key(),
            )
        )

    def _key(self) -> dict[str, str]:
        return {
            "namespace": self.kwargs.get("namespace", ""),
            "name": self.kwargs["name"],
        }


def _expected(data: Json, meta: object) -> Expected:
    """Without both, the service refuses with the fields that are missing."""
    said = meta if isinstance(meta, dict) else {}
    return Expected(
        data["uid"] or str(said.get("uid") or ""),
        data["resource_version"] or str(said.get("resourceVersion") or ""),
    )


_put, _delete = _documented("ResourceClaim")


class ClaimObject(_Writes, views.ClaimDetail):
    """One claim, the mirrored object included."""

    kind = "ResourceClaim"
    permission_classes = [_Written]

    @_put
    def put(self, request: Request, **_: Any) -> Response:
        """Replace it: labels, annotations, finalizers. The spec of a claim stays."""
        return self._replace()

    @_delete
    def delete(self, request: Request, **_: Any) -> Response:
        """Delete it. While it is reserved it waits for its last consumer."""
        return self._remove()


_put, _delete = _documented("ResourceClaimTemplate")


class TemplateObject(_Writes, views.TemplateDetail):
    """One claim template, the mirrored object included."""

    kind = "ResourceClaimTemplate"
    permission_classes = [_Written]

    @_put
    def put(self, request: Request, **_: Any) -> Response:
        """Replace it: labels and annotations. The spec of a template stays."""
        return self._replace()

    @_delete
    def delete(self, request: Request, **_: Any) -> Response:
        """Delete it. Claims that were made from it stay."""
        return self._remove()


_put, _delete = _documented("DeviceClass")


class ClassObject(_Writes, ClassDetail):
    """One device class, the mirrored object included."""

    kind = "DeviceClass"
    permission_classes = [_WrittenByAdmins]

    @_put
    def put(self, request: Request, **_: Any) -> Response:
        """Replace it. Claims that are allocated keep their devices."""
        return self._replace()

    @_delete
    def delete(self, request: Request, **_: Any) -> Response:
        """Delete it. Claims that name it cannot be allocated any more."""
        return self._remove()
