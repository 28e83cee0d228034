"""Why a claim waits: a part of its page that comes after it, and a page of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.urls import reverse

from allocator import snapshots
from claims import explaining
from claims.authoring.checking import gates_of
from claims.choices import ClaimState
from claims.explaining import Ask, Explained, NotWaiting, Subject
from claims.explaining.answering import PATIENCE, SECONDS
from claims.queries import claims as queries
from claims.views.claims import Claim
from claims.views.verdicts import LOOKS
from claims.views.why.changes import changes
from claims.views.why.funnel import Chain, Funnels
from dra.allocation.explaining import Explanation, NodeGroup, NodeRequest
from dra.objects import ExactRequest, ResourceClaim, SubRequest
from dra.snapshot import Snapshot
from inventory.views.kit import InCluster
from web.pages import Crumb, Heading, cells

GROUPS_SHOWN: Final = 6
NAMES_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a page that holds the answer, and where it comes from."""

    id: str
    url: str


@dataclass(frozen=True, slots=True)
class RequestOnNode:
    name: str
    bar: str
    words: str


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes with the same answer: the first names, and those behind a click."""

    id: str
    nodes: int
    fits: bool
    sentence: str
    names: Sequence[str]
    hidden: Sequence[str]
    unnamed: int
    requests: Sequence[RequestOnNode]


class Reasons(InCluster):
    """Mixin of a page that shows an answer of ``claims.explaining``, all in it linked."""

    def explained(self, ask: Ask, *key: str) -> dict[str, Any]:
        """``why`` for the templates. Raises NotWaiting and KeyError as ``ask`` does."""
        snapshot = snapshots.current(self.cluster)
        gate = gates_of(self.cluster).extended_resource
        subject = ask(snapshot, *key, extended_resources=gate)
        found = explaining.explained(self.cluster, snapshot, subject, patient=True)
        return self._shown(snapshot, found)

    def _shown(self, snapshot: Snapshot, answer: Explained) -> dict[str, Any]:
        found = answer.explanation
        # An older answer is about the claims as they were then.
        subject = answer.subject
        chains = list(chains_of(snapshot, subject))
        holders = {
            loss.name
            for request in found.requests
            for stage in request.stages
            for loss in stage.losses
            if loss.what == "claim"
        }
        pods = queries.pod_names_of(self.cluster, holders)
        groups = [group_of(place, group) for place, group in enumerate(found.groups)]
        return {
            "found": found,
            "look": LOOKS[found.verdict],
            "together": subject.sentence,
            "doubts": snapshot.doubts[:3],
            "funnels": Funnels(self.cluster.name, found, chains, pods).all(),
            "changes": changes(self.cluster.name, found.relaxations, subject.claims),
            "groups": groups[:GROUPS_SHOWN],
            "more_groups": groups[GROUPS_SHOWN:],
            "no_change": is_final(found),
            "at": answer.at,
            "seconds": f"{SECONDS:g}",
            "again_in": None
            if answer.current
            else max(2, math.ceil(answer.seconds * PATIENCE)),
        }


class ClaimWhy(Reasons, Claim):
    """Why one claim waits."""

    template_name = "claims/why.html"
    fragments = ("claim-why",)

    def heading(self) -> Heading:
        found = super().heading()
        claim = self.object
        here = reverse("claim", args=[self.cluster.name, claim.namespace, claim.name])
        crumbs = (*found.crumbs[:-1], Crumb(str(claim), here), Crumb("Why it waits"))
        return replace(found, crumbs=crumbs)

    def extra(self) -> dict[str, Any]:
        claim = self.object
        context: dict[str, Any] = {
            "cluster": self.cluster,
            "claim": claim,
            "is_part": bool(getattr(self.request, "htmx", None)),
            "part": Part(
                "claim-why", self.url("claim-why", claim.namespace, claim.name)
            ),
        }
        if claim.state != ClaimState.PENDING or claim.problem:
            return context
        try:
            why = self.explained(explaining.subject_of, claim.namespace, claim.name)
        except (NotWaiting, KeyError):
            return context
        pods = queries.pods_of_claim(claim)[:50]
        said = [pod for pod in pods if pod.scheduling_message]
        return context | {"why": why, "said": said}


def is_final(found: Explanation) -> bool:
    """Changes were looked for, all that are tried, and none helps."""
    return (
        found.verdict in ("full", "hopeless")
        and found.complete
        and not found.relaxations
    )


def chains_of(snapshot: Snapshot, subject: Subject) -> Iterator[Chain]:
    """The selectors of each request and alternative, in the engine's order."""
    for claim in subject.claims:
        for part in _parts(claim):
            device_class = snapshot.classes.get(part.device_class_name)
            yield Chain(
                of_class=_expressions(device_class.spec.selectors)
                if device_class
                else (),
                own=_expressions(part.selectors),
            )


def _parts(claim: ResourceClaim) -> Iterator[ExactRequest | SubRequest]:
    for request in claim.spec.devices.requests or ():
        if request.exactly is not None:
            yield request.exactly
        yield from request.first_available or ()


def _expressions(selectors: Sequence[Any] | None) -> list[str]:
    return [s.cel.expression for s in selectors or () if s.cel is not None]


def _given(request: NodeRequest) -> str:
    if not request.wanted or request.most > request.wanted:
        return f"{request.most:,}, wants {request.wanted:,}"
    return f"{request.most:,} of {request.wanted:,}"


def group_of(place: int, group: NodeGroup) -> Group:
    names = group.names
    return Group(
        id=f"why-nodes-{place}",
        nodes=group.nodes,
        fits=group.fits,
        sentence=group.sentence,
        names=names[:NAMES_SHOWN],
        hidden=names[NAMES_SHOWN:],
        unnamed=group.nodes - len(names),
        requests=[
            RequestOnNode(
                name=request.request,
                bar=cells.bar(
                    [
                        cells.Part("in-use", request.in_use, "in use"),
                        cells.Part("tainted", request.tainted, "tainted"),
                        cells.Part("blocked", request.full, "without room"),
                        cells.Part("free", request.free, "free"),
                    ],
                    max(request.matching, 1),
                ),
                words=_given(request),
            )
            for request in group.requests
        ],
    )
