"""What the check of a draft looks like: the JSON, and its description.

The JSON is made by plain functions and the serializers only describe it; a test holds
one against the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rest_framework import serializers

from claims.api.authoring_questions import Draft
from claims.api.class_previews import ClassPreviewSerializer, class_preview_json
from claims.authoring.checking import Problem as FieldProblem
from claims.authoring.manifests import Problem, place_of
from claims.authoring.together import CheckedDocument
from dra.cel.cost import LIMIT
from dra.validation.advice import Advice
from inventory.api.cel_answers import (
    CostSerializer,
    IssueSerializer,
    cost_json,
    issue_json,
)

Json = dict[str, Any]

MOST_PLACED: Final = 50
"""Causes of a document whose line in the text is looked for."""


def checked_json(
    cluster: str, seq: int, draft: Draft, documents: Sequence[CheckedDocument]
) -> Json:
    """The body that :class:`ValidatedSerializer` describes."""
    return {
        "cluster": cluster,
        "seq": seq,
        "accepted": draft.problem is None
        and all(each.checked.accepted is not False for each in documents),
        "problem": problem_json(draft.problem),
        "documents": [document_json(each, draft.text) for each in documents],
    }


def problem_json(problem: Problem | None) -> Json | None:
    if problem is None:
        return None
    return {
        "message": problem.message,
        "line": problem.line,
        "column": problem.column,
    }


def document_json(each: CheckedDocument, text: str) -> Json:
    """The body that :class:`CheckedDocumentSerializer` describes."""
    document, checked = each.document, each.checked
    return {
        "index": document.index,
        "kind": document.kind,
        "namespace": document.namespace,
        "name": document.name,
        "first_line": document.first_line,
        "last_line": document.last_line,
        "problem": problem_json(document.problem),
        "accepted": checked.accepted,
        "sentence": checked.sentence,
        "causes": [
            _cause(problem, text, document.index, placed=number < MOST_PLACED)
            for number, problem in enumerate(checked.problems)
        ],
        "warnings": list(checked.warnings),
        "dropped": list(checked.dropped),
        "defaulted": dict(checked.defaulted),
        "advice": [_advice(advice) for advice in checked.advice],
        "converted": checked.converted,
        "incomplete": checked.incomplete,
        "class_preview": class_preview_json(each.class_preview),
    }


def _cause(problem: FieldProblem, text: str, index: int, *, placed: bool) -> Json:
    place = place_of(text, index, problem.field) if text and placed else None
    return {
        "field": problem.field,
        "reason": problem.reason,
        "message": problem.message,
        "line": place.line if place else 0,
        "column": place.column if place else 0,
        "issues": [issue_json(issue) for issue in problem.issues],
        "cost": cost_json(problem.cost, LIMIT),
    }


def _advice(advice: Advice) -> Json:
    return {
        "code": advice.code,
        "field": advice.field,
        "message": advice.message,
        "suggestion": advice.suggestion,
        "start": advice.start,
        "end": advice.end,
    }


# --- the description ---


class TextProblemSerializer(serializers.Serializer[Any]):
    """Why a text, or a part of it, cannot be read."""

    message = serializers.CharField()
    line = serializers.IntegerField(help_text="From 1; 0: the whole text.")
    column = serializers.IntegerField(help_text="From 1, in code points.")


class CauseSerializer(serializers.Serializer[Any]):
    """One error."""

    field = serializers.CharField(help_text="A path; empty: the whole object.")
    reason = serializers.CharField(help_text="As FieldValueInvalid.")
    message = serializers.CharField()
    line = serializers.IntegerField(
        help_text="Where the field, or what it would be in, stands in the manifest; "
        "0 without one."
    )
    column = serializers.IntegerField()
    issues = IssueSerializer(
        many=True, help_text="Places in the expression, where the field is one."
    )
    cost = CostSerializer(allow_null=True, help_text="Of the expression.")


class AdviceSerializer(serializers.Serializer[Any]):
    """What the API server lets pass and somebody should know."""

    code = serializers.CharField()
    field = serializers.CharField()
    message = serializers.CharField()
    suggestion = serializers.CharField(
        help_text="To put in the place of the part from start to end, or of the value."
    )
    start = serializers.IntegerField(help_text="Code points; 0 and 0: all of it.")
    end = serializers.IntegerField()


class CheckedDocumentSerializer(serializers.Serializer[Any]):
    """What the API server would say to one document."""

    index = serializers.IntegerField()
    kind = serializers.CharField()
    namespace = serializers.CharField(help_text="As in the document.")
    name = serializers.CharField()
    first_line = serializers.IntegerField(help_text="0: it came without a text.")
    last_line = serializers.IntegerField()
    problem = TextProblemSerializer(allow_null=True)
    accepted = serializers.BooleanField(
        allow_null=True, help_text="Null: objects of this kind are not checked here."
    )
    sentence = serializers.CharField()
    causes = CauseSerializer(many=True)
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="The API server's own."
    )
    dropped = serializers.ListField(
        child=serializers.CharField(),
        help_text="Fields that would not be kept: their feature is off.",
    )
    defaulted = serializers.DictField(
        help_text="What would be added, by path; empty when refused."
    )
    advice = AdviceSerializer(many=True)
    converted = serializers.DictField(
        allow_null=True,
        help_text="The object put right, where it has an older version's layout.",
    )
    incomplete = serializers.CharField(
        help_text="Where the time was over before all advice was found. Else empty."
    )
    class_preview = ClassPreviewSerializer(
        allow_null=True,
        help_text="What a DeviceClass would match; null for the others.",
    )


class ValidatedSerializer(serializers.Serializer[Any]):
    cluster = serializers.CharField()
    seq = serializers.IntegerField(help_text="The state of the cluster.")
    accepted = serializers.BooleanField(
        help_text="Whether the text can be read and no document would be refused."
    )
    problem = TextProblemSerializer(allow_null=True)
    documents = CheckedDocumentSerializer(many=True)
