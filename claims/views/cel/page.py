"""The CEL page and the fragment that follows what is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.generic import View

from allocator import snapshots
from claims.views.cel import examples
from claims.views.cel.question import Question
from claims.views.cel.results import Results
from dra.cel import DeviceTable
from dra.snapshot import Snapshot
from inventory.choices import DeviceState
from inventory.views.kit import InCluster
from web.doors import RequiresRole
from web.pages import Crumb

MOST_CHARACTERS: Final = 12_000
"""That can be typed: a little more than Kubernetes accepts, which is then said."""

MOST_NODES: Final = 300
"""Of a larger cluster the names of nodes are not offered."""


@dataclass(frozen=True, slots=True)
class ScopeChoices:
    """What the pickers offer; ``nodes`` is empty when there are too many."""

    classes: Sequence[str]
    drivers: Sequence[str]
    nodes: Sequence[str]
    states: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ExampleLink:
    label: str
    expression: str
    href: str


class CelPage(RequiresRole, InCluster, View):
    """Question and answer; with htmx the answer alone."""

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        question = Question.of(request.GET)
        snapshot = snapshots.current(self.cluster)
        results = Results(self.cluster, snapshot, question)
        fragment = is_fragment(request)
        context: dict[str, Any] = {
            "cluster": self.cluster,
            "question": question,
            "results": results,
            "fragment": fragment,
        }
        if not fragment:
            context |= self._page(question, snapshot, results.table)
        part = "#cel-results" if fragment else ""
        response = render(request, f"claims/cel.html{part}", context)
        patch_vary_headers(response, ("HX-Request", "HX-Target"))
        return response

    def _page(
        self, question: Question, snapshot: Snapshot, table: DeviceTable
    ) -> dict[str, Any]:
        return {
            "title": "CEL",
            "crumbs": [self.cluster_crumb(), Crumb("CEL")],
            "most_characters": MOST_CHARACTERS,
            "can_compare": True,
            "scope_choices": scope_choices(snapshot, question),
            "examples": example_links(snapshot, table, question),
        }


def is_fragment(request: HttpRequest) -> bool:
    """Whether only the answer is asked for."""
    htmx = getattr(request, "htmx", None)
    if not htmx or htmx.history_restore_request:
        return False
    return bool(htmx.target == "cel-answer")


def scope_choices(snapshot: Snapshot, question: Question) -> ScopeChoices:
    """What exists, and what is asked for even if it does not."""
    scope = question.scope
    nodes = sorted(snapshot.nodes) if len(snapshot.nodes) <= MOST_NODES else []
    return ScopeChoices(
        classes=_with(scope.device_class, snapshot.classes),
        drivers=_with(scope.driver, {key.driver for key in snapshot.pools}),
        nodes=nodes,
        states=DeviceState.choices,
    )


def _with(asked: str, names: Any) -> list[str]:
    return sorted({*names, asked} - {""})


def example_links(
    snapshot: Snapshot, table: DeviceTable, question: Question
) -> list[tuple[str, list[ExampleLink]]]:
    """Groups of expressions to start from, in the scope that is chosen."""
    return [
        (
            group.title,
            [
                ExampleLink(
                    example.label,
                    example.expression,
                    question.but(expression=example.expression, tab="").query,
                )
                for example in group.examples
            ],
        )
        for group in examples.examples(snapshot, table)
    ]
