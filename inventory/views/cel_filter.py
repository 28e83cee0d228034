"""What stands under the CEL field of the device list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dra.cel import Issue
from inventory.filtersets import MAX_ISSUES
from inventory.models import Cluster
from inventory.selecting import Matches
from inventory.views.cel_links import cel_href

_LINE_SHOWN: Final = 160
_KEPT: Final = {"driver": "driver", "node_name": "node", "pool": "pool"}
"""Filters of the list that the CEL page knows too, by its names."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and the line with the place marked; no line: no place."""

    sentence: str
    before: str = ""
    marked: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """``sentence`` counts what matches in the cluster, ``failure`` what has no answer."""

    sentence: str
    failure: str
    problems: Sequence[Problem]
    href: str
    """The page that explains the expression."""


def said(cluster: Cluster, found: Matches, query: Mapping[str, str]) -> Said:
    """``query`` are the parameters of the list."""
    kept = {theirs: query.get(ours, "") for ours, theirs in _KEPT.items()}
    href = cel_href(cluster.name, found.compiled.expression, **kept)
    if found.selection is None:
        return Said("", "", _problems(found), href)
    total = len(found.table)
    verb = "matches" if found.matched == 1 else "match"
    sentence = f"{found.matched:,} of {_devices(total)} {verb}"
    failure = ""
    if found.failed:
        failure = f"on {_devices(found.failed)} it has no answer: {found.error}"
    return Said(sentence, failure, (), href)


def _devices(count: int) -> str:
    return "1 device" if count == 1 else f"{count:,} devices"


def _problems(found: Matches) -> list[Problem]:
    if found.incomplete:
        return [Problem(found.incomplete)]
    text = found.compiled.expression
    return [_problem(text, issue) for issue in found.compiled.issues[:MAX_ISSUES]]


def _problem(text: str, issue: Issue) -> Problem:
    if issue.line is None or issue.start is None or issue.end is None:
        return Problem(issue.message)
    first = text.rfind("\n", 0, issue.start) + 1
    last = text.find("\n", issue.start)
    last = len(text) if last < 0 else last
    end = max(issue.start, min(issue.end, last))
    return Problem(
        f"Line {issue.line}, column {issue.column}: {issue.message}",
        _end_of(text[first : issue.start]),
        text[issue.start : end] or " ",
        _start_of(text[end:last]),
    )


def _end_of(text: str) -> str:
    return text if len(text) <= _LINE_SHOWN else f"…{text[-_LINE_SHOWN:]}"


def _start_of(text: str) -> str:
    return text if len(text) <= _LINE_SHOWN else f"{text[:_LINE_SHOWN]}…"
