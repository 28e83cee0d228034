"""What writing objects answers: the JSON, its description, and the codes of failures.

A success is plain JSON; everything else is a problem (:mod:`web.api.problems`) with the
field paths of what is wrong and, where there are any, the documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rest_framework import serializers
from rest_framework.response import Response

from claims.authoring.manifests import Document
from claims.services.batches import Batch
from claims.services.objects import ReadOnly
from cluster.objects import (
    AlreadyExists,
    Cause,
    Changed,
    Deleted,
    Forbidden,
    Gone,
    Invalid,
    NotServed,
    Outcome,
    Throttled,
    Unavailable,
    Unknown,
    Updated,
)

Json = dict[str, Any]

_CODES: Final[dict[type, tuple[int, str]]] = {
    Invalid: (422, "The API server refuses the object"),
    AlreadyExists: (409, "The name is taken"),
    Changed: (409, "Somebody else was first"),
    ReadOnly: (409, "The cluster is read-only here"),
    NotServed: (409, "The cluster does not serve this kind"),
    Forbidden: (403, "Not allowed in the cluster"),
    Gone: (404, "Not found"),
    Throttled: (503, "The API server is overloaded"),
    Unavailable: (503, "The API server cannot be reached"),
    Unknown: (502, "The outcome is not known"),
}
"""Status and title by outcome; 400 of an API server counts as 422 too."""
_NOT_TRIED: Final = "Not tried, because one before it failed."


@dataclass(frozen=True, slots=True)
class _Said:
    """One document with what became of it."""

    document: Document
    outcome: Outcome | ReadOnly | None


# --- answers --------------------------------------------------------------------


def created(batch: Batch, documents: Sequence[Document], *, single: bool) -> Response:
    """The answer to a create. ``single``: it came as an object, so paths begin there."""
    said = [
        _Said(document, outcome)
        for document, outcome in zip(documents, batch.outcomes, strict=True)
    ]
    body = [_document_json(each) for each in said]
    if batch.failed is None:
        sentence = _success(batch)
        return Response(
            {"dry_run": batch.trial, "sentence": sentence, "documents": body},
            status=200 if batch.trial else 201,
        )
    failed = batch.outcomes[batch.failed]
    detail = failed.reason if failed is not None else _NOT_TRIED
    if not single:
        detail = f"Document {batch.failed}: {detail} {_left_behind(batch)}"
    errors = [
        {"field": _path(cause, None if single else index), **_words(cause)}
        for index, each in enumerate(said)
        for cause in _causes(each.outcome)
    ]
    return problem(failed, detail, errors=errors, documents=body)


def written(outcome: Outcome | ReadOnly) -> Response:
    """The answer to a change or a deletion of one object."""
    if isinstance(outcome, Updated | Deleted):
        body: Json = {
            "dry_run": outcome.dry_run,
            "sentence": outcome.reason,
            "object": outcome.object,
        }
        if isinstance(outcome, Deleted):
            body["waits_for"] = list(outcome.waits_for)
        else:
            body["changed"] = outcome.changed
        return Response(body)
    errors = [{"field": _path(c, None), **_words(c)} for c in _causes(outcome)]
    more: Json = {}
    if isinstance(outcome, Changed | Unknown):
        more["current"] = outcome.current
    return problem(outcome, outcome.reason, errors=errors, **more)


def problem(
    outcome: Outcome | ReadOnly | None,
    detail: str,
    *,
    errors: Sequence[Json],
    **more: Any,
) -> Response:
    status, title = _CODES.get(type(outcome), (409, "Conflict"))
    body: Json = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code_of(outcome),
        "errors": list(errors),
        **more,
    }
    if isinstance(outcome, Forbidden) and outcome.missing:
        body |= {"missing": outcome.missing, "grant": outcome.grant}
    headers = {}
    if isinstance(outcome, Throttled):
        headers["Retry-After"] = str(max(1, round(outcome.retry_after or 1)))
    return Response(
        body,
        status=status,
        headers=headers,
        content_type="application/problem+json",
    )


def code_of(outcome: Outcome | ReadOnly | None) -> str:
    """``already exists``, ``created``, …: the outcome's name in small words."""
    if outcome is None:
        return "not tried"
    name = type(outcome).__name__
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def _document_json(said: _Said) -> Json:
    """The body that :class:`WrittenDocumentSerializer` describes."""
    document, outcome = said.document, said.outcome
    stored = getattr(outcome, "object", None)
    meta = stored["metadata"] if isinstance(stored, dict) else {}
    return {
        "index": document.index,
        "line": document.first_line or None,
        "kind": document.kind,
        "namespace": str(meta.get("namespace") or document.namespace),
        "name": str(meta.get("name") or document.name),
        "outcome": code_of(outcome),
        "sentence": _NOT_TRIED if outcome is None else outcome.reason,
        "causes": [{"field": c.field, **_words(c)} for c in _causes(outcome)],
        "object": stored,
    }


def _success(batch: Batch) -> str:
    count = len(batch.outcomes)
    if count == 1 and (only := batch.outcomes[0]) is not None:
        return only.reason
    if batch.trial:
        return f"The API server would create all {count}; nothing was written."
    return f"Created all {count}."


def _left_behind(batch: Batch) -> str:
    if batch.trial:
        return "Nothing was written."
    if not batch.created:
        return "Nothing was created."
    names = ", ".join(_name(one.object) for one in batch.created)
    return f"Created before it, and there now: {names}."


def _name(obj: Json) -> str:
    meta = obj["metadata"]
    where = f"{meta['namespace']}/" if meta.get("namespace") else ""
    return f"{obj['kind']} {where}{meta['name']}"


def _causes(outcome: Outcome | ReadOnly | None) -> Sequence[Cause]:
    return outcome.causes if isinstance(outcome, Invalid) else ()


def _words(cause: Cause) -> Json:
    return {"code": cause.reason or "invalid", "message": cause.message}


def _path(cause: Cause, index: int | None) -> str:
    start = "object" if index is None else f"documents[{index}]"
    return f"{start}.{cause.field}" if cause.field else start


# --- their description --------------------------------------------------------------


class WriteCauseSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="The path in the object, in v1 form.")
    code = serializers.CharField(help_text="In Kubernetes' words: FieldValueInvalid, …")
    message = serializers.CharField()


class WrittenDocumentSerializer(serializers.Serializer[Any]):
    """What became of one document."""

    index = serializers.IntegerField()
    line = serializers.IntegerField(
        allow_null=True, help_text="Its first line in the manifest."
    )
    kind = serializers.CharField()
    namespace = serializers.CharField()
    name = serializers.CharField()
    outcome = serializers.CharField(
        help_text="created, invalid, already exists, forbidden, …, or not tried."
    )
    sentence = serializers.CharField()
    causes = WriteCauseSerializer(many=True)
    object = serializers.JSONField(
        allow_null=True, help_text="As it is stored, in v1 form; null for a failure."
    )


class CreatedSerializer(serializers.Serializer[Any]):
    """Every document was created, or would be."""

    dry_run = serializers.BooleanField()
    sentence = serializers.CharField()
    documents = WrittenDocumentSerializer(many=True)


class UpdatedSerializer(serializers.Serializer[Any]):
    dry_run = serializers.BooleanField()
    sentence = serializers.CharField()
    object = serializers.JSONField(help_text="As it is stored now, in v1 form.")
    changed = serializers.BooleanField(
        help_text="False: it was as sent already, and no version was made."
    )


class DeletedSerializer(serializers.Serializer[Any]):
    dry_run = serializers.BooleanField()
    sentence = serializers.CharField()
    object = serializers.JSONField(help_text="Its last state, in v1 form.")
    waits_for = serializers.ListField(
        child=serializers.CharField(),
        help_text="Finalizers that hold it still; empty: it is gone.",
    )
