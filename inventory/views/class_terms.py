"""What each term of a class's selectors does: a fragment, because it asks every device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View

from allocator import snapshots
from dra.allocation.classes import chain_of
from dra.cel.explain import Term
from dra.snapshot import Snapshot
from inventory import selecting
from inventory.models import Cluster
from inventory.views.cel_links import cel_href
from inventory.views.cel_terms import TermRow, outcome_bar, rows
from inventory.views.kit import InCluster
from web.doors import RequiresRole
from web.pages.cells import count

MOST_TERMS: Final = 20

MOST: Final = 8
"""Selectors whose terms are counted; a class has one or two."""


@dataclass(frozen=True, slots=True)
class SelectorTerms:
    """One selector of a class on all devices; ``problem`` where it has no counts."""

    expression: str
    cel_href: str
    problem: str = ""
    sentence: str = ""
    failing: str = ""
    bar: str = ""
    terms: Sequence[TermRow] = ()
    more_terms: int = 0
    remarks: int = 0


class ClassTerms(RequiresRole, InCluster, View):
    """The selectors of a class with the outcome of every term."""

    def get(self, request: HttpRequest, name: str, **_: str) -> HttpResponse:
        snapshot = snapshots.current(self.cluster)
        found = snapshot.classes.get(name)
        if found is None:
            raise Http404(f"The cluster has no readable class “{name}” (any more).")
        chain = chain_of(found)
        context = {
            "cluster": self.cluster,
            "name": name,
            "selectors": [
                _selector(self.cluster, snapshot, text) for text in chain[:MOST]
            ],
            "more": len(chain) - MOST,
        }
        return render(request, "inventory/class_terms.html", context)


def _term_href(cluster: str, expression: str, term: Term, of: str) -> str:
    return cel_href(cluster, expression, term=f"{term.start}-{term.end}-{of}")


def _selector(cluster: Cluster, snapshot: Snapshot, expression: str) -> SelectorTerms:
    features = selecting.features_of(cluster)
    answer = selecting.answer(snapshot, expression, features=features, first=0)
    href = cel_href(cluster.name, expression)
    explained = answer.explanation
    if explained is None:
        problem = answer.incomplete or answer.issues[0].message
        return SelectorTerms(expression, href, problem=problem)
    failing = ""
    if explained.errors:
        first = explained.errors[0]
        failing = (
            f"No answer on {count(explained.error, 'device')}: {first.message} "
            f"(first on {first.example}). A claim that comes to one of these cannot be "
            "scheduled."
        )
    address = partial(_term_href, cluster.name, expression)
    shown, more = rows(explained.term, address, most=MOST_TERMS)
    return SelectorTerms(
        expression=expression,
        cel_href=href,
        sentence=(
            f"True on {explained.matched:,}, false on {explained.false:,} of "
            f"{count(explained.devices, 'device')}."
        ),
        failing=failing,
        bar=outcome_bar(explained.matched, explained.false, explained.error, wide=True),
        terms=shown,
        more_terms=more,
        remarks=len(answer.warnings),
    )
