"""Changes after which a draft would fit, as steps on the documents that say it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from claims.authoring import form
from claims.authoring.manifests import Document
from claims.authoring.previewing import Preview
from dra.allocation.request import with_defaults
from dra.objects import ResourceClaim, write

_WRITABLE: Final = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2")
"""Versions in whose layout the engine's changes can be written."""
_WORDS: Final = {"ResourceClaim": "claim", "ResourceClaimTemplate": "template"}


@dataclass(frozen=True, slots=True)
class Change:
    """A change after which it would fit. ``step`` makes it; empty where nobody here can.

    ``where`` names the object that changes where it is not the one that is shown.
    """

    sentence: str
    node: str
    concerns: str
    step: str
    claim: str
    """``namespace/name`` of a claim to wait for."""
    where: str = ""


def changes_of(
    preview: Preview,
    claims: Sequence[ResourceClaim],
    documents: Sequence[Document | None],
    shown: int,
) -> Iterator[Change]:
    """The relaxations of a preview of ``claims``, each with the document it comes from:
    None where no text says what it asks. ``shown`` is the index of the document that
    the form shows."""
    for relaxation in preview.explanation.relaxations:
        document, step, where = documents[relaxation.claim], "", ""
        claim = claims[relaxation.claim]
        if relaxation.spec is not None and document is not None:
            before = write(with_defaults(claim).spec)
            step = _step(document.value, before, relaxation.spec)
        if document is not None and document.index != shown:
            step = step and f"in {document.index} {step}"
            where = f"{_WORDS.get(document.kind, 'document')} {document.name}"
        elif document is None and relaxation.spec is not None:
            where = f"claim {claim.metadata.name}, which is not part of this text"
        yield Change(
            sentence=relaxation.sentence,
            node=relaxation.node,
            concerns=relaxation.request,
            step=step,
            claim=relaxation.before if relaxation.code == "wait" else "",
            where="" if relaxation.spec is None else where,
        )


def _step(value: Any, before: Any, after: Any) -> str:
    """The smallest change of the document; empty in a layout that cannot say it."""
    kind = form.kind_of(value)
    if kind is None or value.get("apiVersion") not in _WRITABLE:
        return ""
    at = kind.devices[:-1]
    mine = value
    for step in at:
        mine = mine.get(step) or {}
    new = form.rebased(mine, before, after)
    return f"sets spec {json.dumps(form.differences(mine, new, at))}"
