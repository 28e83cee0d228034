"""Changes with which a claim would fit, as YAML and as a difference."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse

from dra.allocation.explaining import Relaxation
from dra.allocation.request import with_defaults
from dra.extended_resources import CLAIM_ANNOTATION
from dra.objects import ResourceClaim, write
from web.highlight import to_yaml


@dataclass(frozen=True, slots=True)
class DiffLine:
    """``kind`` is added, removed or same."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """``concerns`` names request and claim where that is not clear."""

    id: str
    sentence: str
    concerns: str
    node: str
    href: str
    """Page of the claim to wait for."""
    diff: Sequence[DiffLine]
    yaml: str


def changes(
    cluster: str, relaxations: Sequence[Relaxation], claims: Sequence[ResourceClaim]
) -> list[Change]:
    """In the order of an explanation of ``claims``, the least ones first."""
    return [
        _change(cluster, place, relaxation, claims)
        for place, relaxation in enumerate(relaxations)
    ]


def _change(
    cluster: str, place: int, relaxation: Relaxation, claims: Sequence[ResourceClaim]
) -> Change:
    claim = claims[relaxation.claim]
    href = ""
    if relaxation.code == "wait":
        href = reverse("claim", args=[cluster, *relaxation.before.split("/", 1)])
    concerns = [f"request {relaxation.request}"] if relaxation.request else []
    if len(claims) > 1 and relaxation.spec is not None:
        concerns.append(f"claim {claim.metadata.name}")
    before = to_yaml(_manifest(claim, write(with_defaults(claim).spec)))
    after = before
    # The scheduler's own claim follows the pod: there is no text of it to change.
    made = CLAIM_ANNOTATION in (claim.metadata.annotations or {})
    if relaxation.spec is not None and not made:
        after = to_yaml(_manifest(claim, relaxation.spec))
    return Change(
        id=f"why-change-{place}",
        sentence=relaxation.sentence,
        concerns=", ".join(concerns),
        node=relaxation.node,
        href=href,
        diff=list(_diff(before, after)) if after != before else [],
        yaml=after,
    )


def _manifest(claim: ResourceClaim, spec: object) -> dict[str, object]:
    meta = {"name": claim.metadata.name, "namespace": claim.metadata.namespace}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": meta,
        "spec": spec,
    }


def _diff(before: str, after: str) -> Iterator[DiffLine]:
    kinds = {"+": "added", "-": "removed"}
    for line in difflib.ndiff(before.splitlines(), after.splitlines()):
        if not line.startswith("?"):
            yield DiffLine(kinds.get(line[0], "same"), line[2:])
