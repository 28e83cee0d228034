"""What is wrong with an expression, or may be: in words, with repairs, for the editor."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from claims.views.cel.question import Question
from claims.views.cel.tables import device_href
from dra.cel.advice import Warning  # noqa: A004 - the word for it
from inventory.selecting import Answer, Compiled

type Json = dict[str, Any]

_SEVERE: Final = frozenset({"broken-device", "fails", "missing", "too-costly"})
"""Codes of warnings about claims that are not scheduled, or not accepted."""

_PICTURE: Final = " | "

# In a script element nothing may end it, or look like the beginning of a comment.
_ESCAPES: Final = {ord(">"): "\\u003E", ord("<"): "\\u003C", ord("&"): "\\u0026"}


@dataclass(frozen=True, slots=True)
class Remark:
    """``applied`` is the whole expression with ``suggestion`` in its place."""

    tone: str
    icon: str
    message: str
    example: str = ""
    example_name: str = ""
    example_href: str = ""
    suggestion: str = ""
    applied: str = ""
    apply_href: str = ""


def remarks_of(answer: Answer, question: Question, cluster: str) -> list[Remark]:
    """Hints for a text that is refused, else warnings; the most important first."""
    return [
        _remark(warning, answer, question, cluster)
        for warning in (*answer.hints, *answer.warnings)
    ]


def _remark(
    warning: Warning, answer: Answer, question: Question, cluster: str
) -> Remark:
    tone = "bad" if warning.code in _SEVERE else "warn"
    if not answer.valid:
        tone = "info"
    applied = ""
    if warning.suggestion:
        text = answer.expression
        applied = f"{text[: warning.start]}{warning.suggestion}{text[warning.end :]}"
    example = warning.example
    return Remark(
        tone=tone,
        icon="info" if tone == "info" else "alert",
        message=warning.message,
        example=str(example) if example else "",
        example_name=example.device if example else "",
        example_href=device_href(cluster, example) if example else "",
        suggestion=warning.suggestion,
        applied=applied,
        apply_href=question.but(expression=applied).query if applied else "",
    )


@dataclass(frozen=True, slots=True)
class Problem:
    """What is refused; ``picture`` is the line with a caret, where it has a place."""

    message: str
    picture: str = ""


def refusal_of(found: Compiled) -> list[Problem]:
    """Why it is refused, in the words of Kubernetes; empty where it is not."""
    if found.error is None:
        return [Problem(issue.message) for issue in found.issues]
    problems: list[list[list[str]]] = []
    for line in str(found.error).split("\n"):
        in_picture = line.startswith(_PICTURE)
        if not in_picture:
            problems.append([[], []])
        problems[-1][in_picture].append(line)
    return [Problem(*("\n".join(lines) for lines in problem)) for problem in problems]


def diagnostics(field: str, found: Iterable[Json]) -> SafeString:
    """What the editor of ``field`` underlines, as JSON in the page."""
    text = json.dumps(list(found), ensure_ascii=True)
    return format_html(
        '<script type="application/json" nonce="" data-cel-diagnostics="{}">{}</script>',
        field,
        mark_safe(text.translate(_ESCAPES)),  # noqa: S308  # nothing in it is HTML
    )


def diagnoses(answer: Answer) -> Iterator[Json]:
    """Problems and warnings with their places, in code points."""
    for issue in answer.issues:
        if issue.start is not None:
            end = issue.start + 1 if issue.end is None else issue.end
            yield _diagnosis(issue.start, end, "error", issue.message)
    for warning in answer.warnings:
        yield _diagnosis(warning.start, warning.end, "warning", warning.message)


def _diagnosis(start: int, end: int, severity: str, message: str) -> Json:
    return {"start": start, "end": end, "severity": severity, "message": message}
