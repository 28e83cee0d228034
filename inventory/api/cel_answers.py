"""What the CEL endpoints answer: the JSON, and its description for openapi.yaml.

Terms and steps nest as deep as the expression does, deeper than serializers can go.
So the JSON is made by plain functions, and the serializers only describe it; a test
holds one against the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.helpers import lazy_serializer
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dra.cel import Issue
from dra.cel.advice import Warning  # noqa: A004 - the word for it
from dra.cel.cost import Range
from dra.cel.explain import ErrorGroup, Explanation, Term
from dra.cel.trace import Step
from dra.names import DeviceID
from inventory.selecting import Answer, DeviceAnswer, DeviceTrace

Json = dict[str, Any]
_HERE = "inventory.api.cel_answers"


def evaluated(answer: Answer) -> Json:
    """The body that :class:`EvaluatedSerializer` describes."""
    found = answer.explanation
    return {
        "expression": answer.expression,
        "valid": answer.valid,
        "errors": [issue_json(issue) for issue in answer.issues],
        "hints": [_warning(hint) for hint in answer.hints],
        "cost": cost_json(answer.cost, answer.cost_limit),
        "counts": None if found is None else _counts(found),
        "terms": None if found is None else _term(found.term),
        "warnings": [_warning(warning) for warning in answer.warnings],
        "devices": {
            outcome: [_device(device) for device in answer.samples.get(outcome, ())]
            for outcome in ("true", "false", "error")
        },
        "seq": answer.seq,
        "incomplete": answer.incomplete,
    }


def explained(answer: DeviceTrace) -> Json:
    """The body that :class:`ExplainedSerializer` describes."""
    traced = answer.trace
    return {
        "expression": answer.expression,
        "device": answer.device._asdict(),
        "valid": answer.valid,
        "errors": [issue_json(issue) for issue in answer.issues],
        "cost": cost_json(answer.cost, answer.cost_limit),
        "result": traced.result if traced else None,
        "error": traced.error if traced else "",
        "steps": _step(traced.root) if traced else None,
        "seq": answer.seq,
    }


def issue_json(issue: Issue) -> Json:
    return {
        "message": issue.message,
        "line": issue.line,
        "column": issue.column,
        "start": issue.start,
        "end": issue.end,
    }


def _warning(warning: Warning) -> Json:
    return {
        "code": warning.code,
        "message": warning.message,
        "start": warning.start,
        "end": warning.end,
        "devices": warning.devices,
        "total": warning.total,
        "example": warning.example._asdict() if warning.example else None,
        "suggestion": warning.suggestion,
    }


def cost_json(cost: Range | None, limit: int) -> Json | None:
    if cost is None:
        return None
    return {
        "low": cost.low,
        "high": cost.high,
        "limit": limit,
        "too_expensive": cost.high > limit,
    }


def _counts(found: Explanation) -> Json:
    return {
        "devices": found.devices,
        "true": found.matched,
        "false": found.false,
        "error": found.error,
    }


def _errors(groups: Iterable[ErrorGroup]) -> list[Json]:
    return [
        {"message": g.message, "count": g.count, "example": g.example._asdict()}
        for g in groups
    ]


def _term(term: Term) -> Json:
    return {
        "kind": term.kind,
        "text": term.text,
        "start": term.start,
        "end": term.end,
        "true": term.true,
        "false": term.false,
        "error": term.error,
        "excludes_alone": term.excludes_alone,
        "admits_alone": term.admits_alone,
        "messages": term.messages,
        "errors": _errors(term.errors),
        "terms": [_term(part) for part in term.terms],
    }


def _device(device: DeviceAnswer) -> Json:
    key: DeviceID = device.id
    return key._asdict() | {
        "node": device.node,
        "error": device.error,
        "why": device.why,
    }


def _step(step: Step) -> Json:
    return {
        "text": step.text,
        "start": step.start,
        "end": step.end,
        "state": step.state,
        "value": step.value,
        "type": step.type,
        "error": step.error,
        "times": step.times,
        "steps": [_step(part) for part in step.steps],
    }


# --- the description ---


class DeviceIDSerializer(serializers.Serializer[Any]):
    driver = serializers.CharField()
    pool = serializers.CharField()
    device = serializers.CharField()


class IssueSerializer(serializers.Serializer[Any]):
    """One problem of an expression. Places are null where it has none."""

    message = serializers.CharField(help_text="In the API server's words.")
    line = serializers.IntegerField(allow_null=True, help_text="From 1.")
    column = serializers.IntegerField(
        allow_null=True, help_text="From 1, in code points."
    )
    start = serializers.IntegerField(
        allow_null=True, help_text="Code points from the start of the expression."
    )
    end = serializers.IntegerField(allow_null=True)


class WarningSerializer(serializers.Serializer[Any]):
    """Something to know about an expression."""

    code = serializers.CharField()
    message = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    devices = serializers.IntegerField(help_text="How many are concerned.")
    total = serializers.IntegerField(help_text="Of how many.")
    example = DeviceIDSerializer(allow_null=True)
    suggestion = serializers.CharField(
        help_text="What to write from start to end; empty: nothing is suggested."
    )


class CostSerializer(serializers.Serializer[Any]):
    """The estimate of one run, in CEL units."""

    low = serializers.IntegerField()
    high = serializers.IntegerField()
    limit = serializers.IntegerField(help_text="The API server's.")
    too_expensive = serializers.BooleanField()


class CountsSerializer(serializers.Serializer[Any]):
    devices = serializers.IntegerField()
    true = serializers.IntegerField()
    false = serializers.IntegerField()
    error = serializers.IntegerField(help_text="Devices without an answer.")


class ErrorGroupSerializer(serializers.Serializer[Any]):
    message = serializers.CharField()
    count = serializers.IntegerField()
    example = DeviceIDSerializer()


class TermSerializer(serializers.Serializer[Any]):
    """A part of the expression that is a condition, with its outcomes."""

    kind = serializers.ChoiceField(choices=["and", "or", "not", "conditional", "leaf"])
    text = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    true = serializers.IntegerField()
    false = serializers.IntegerField()
    error = serializers.IntegerField()
    excludes_alone = serializers.IntegerField(
        help_text="Devices that do not match and would if only this were otherwise."
    )
    admits_alone = serializers.IntegerField(
        help_text="Devices that match and would not if only this were otherwise."
    )
    messages = serializers.IntegerField(help_text="How many different errors.")
    terms = serializers.SerializerMethodField()

    def get_fields(self) -> dict[str, Any]:
        # A serializer has errors of its own.
        return super().get_fields() | {"errors": ErrorGroupSerializer(many=True)}

    @extend_schema_field(lazy_serializer(f"{_HERE}.TermSerializer")(many=True))
    def get_terms(self, term: Any) -> Any:
        return term["terms"]


class DeviceAnswerSerializer(DeviceIDSerializer):
    node = serializers.CharField(help_text="The node that owns it; may be empty.")
    error = serializers.CharField(help_text="Why there is no answer.")
    why = serializers.CharField(
        help_text="The first term that is false, or fails; empty: all of it."
    )


class SamplesSerializer(serializers.Serializer[Any]):
    """The first devices of each outcome: by driver, pool, slice and position."""

    true = DeviceAnswerSerializer(many=True)
    false = DeviceAnswerSerializer(many=True)
    error = DeviceAnswerSerializer(many=True)


class EvaluatedSerializer(serializers.Serializer[Any]):
    expression = serializers.CharField()
    valid = serializers.BooleanField(
        help_text="Whether the API server would accept it."
    )
    hints = WarningSerializer(many=True, help_text="How it was probably meant.")
    cost = CostSerializer(allow_null=True, help_text="Null: it does not compile.")
    counts = CountsSerializer(allow_null=True)
    terms = TermSerializer(allow_null=True, help_text="The whole, with its parts.")
    warnings = WarningSerializer(many=True)
    devices = SamplesSerializer()
    seq = serializers.IntegerField(help_text="The state of the cluster.")
    incomplete = serializers.CharField(
        help_text="Where the time was over: how far it got. Else empty."
    )

    def get_fields(self) -> dict[str, Any]:
        return super().get_fields() | {"errors": IssueSerializer(many=True)}


class StepSerializer(serializers.Serializer[Any]):
    """A part of the expression, and what it is on the device."""

    text = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    state = serializers.ChoiceField(choices=["value", "error", "not evaluated"])
    value = serializers.CharField(help_text="As people read it, shortened.")
    type = serializers.CharField(help_text="The name of its CEL type.")
    error = serializers.CharField()
    times = serializers.IntegerField(help_text="How often it ran.")
    steps = serializers.SerializerMethodField()

    @extend_schema_field(lazy_serializer(f"{_HERE}.StepSerializer")(many=True))
    def get_steps(self, step: Any) -> Any:
        return step["steps"]


class ExplainedSerializer(serializers.Serializer[Any]):
    expression = serializers.CharField()
    device = DeviceIDSerializer()
    valid = serializers.BooleanField()
    cost = CostSerializer(allow_null=True)
    result = serializers.BooleanField(
        allow_null=True, help_text="Null: there is no answer, see error."
    )
    error = serializers.CharField()
    steps = StepSerializer(allow_null=True, help_text="The whole, with its parts.")
    seq = serializers.IntegerField()

    def get_fields(self) -> dict[str, Any]:
        return super().get_fields() | {"errors": IssueSerializer(many=True)}
