"""From a draft into the cluster: dry run first, then one object after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.urls import reverse

from claims.authoring.checking import NAMESPACE
from claims.authoring.editing import Editing
from claims.authoring.manifests import Document
from claims.models import Draft
from claims.services import batches, drafts, objects
from claims.services.objects import ReadOnly
from cluster.objects import (
    KINDS,
    AlreadyExists,
    Changed,
    Created,
    Expected,
    Gone,
    Invalid,
    Outcome,
    Updated,
)
from inventory.models import Cluster
from web.doors import AnyUser, role_of

PAGES: Final = {
    "ResourceClaim": "claim",
    "ResourceClaimTemplate": "template",
    "DeviceClass": "class",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A way on from an outcome: a step of the editor, or an address."""

    label: str
    step: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one document. ``causes`` are errors at its fields, by path."""

    index: int
    label: str
    done: bool
    reason: str
    stored: Any = None
    causes: Sequence[tuple[str, str]] = ()
    grant: str = ""
    choices: Sequence[Choice] = ()

    @property
    def tone(self) -> str:
        return "ok" if self.done else "bad"


@dataclass(frozen=True, slots=True)
class Results:
    """``complete``: everything that can be written from here went well."""

    each: Sequence[Result]
    complete: bool
    left: Sequence[str] = ()
    dry_run: bool = False

    @property
    def sentence(self) -> str:
        if not self.each:
            return "There is nothing here that can be created: no claim, template or class."
        if self.complete and self.dry_run:
            return "Dry run: the API server would take it. Nothing was written."
        if self.complete:
            return "Written to the cluster."
        first = next(each for each in self.each if not each.done)
        return f"{first.label}: {first.reason}"


def written(
    cluster: Cluster, user: AnyUser, draft: Draft, editing: Editing, *, dry_run: bool
) -> Results:
    """Write the draft's objects, all of them tried with a dry run before.

    Raises as :func:`~claims.services.objects.check_may_write` does. Stops at the first that is refused; what
    was written before it stays and is among the results.
    """
    documents = [d for d in editing.manifest.objects if d.kind in KINDS]
    left = [
        f"{d.kind} {d.name}".strip()
        for d in editing.manifest.objects
        if d.kind not in KINDS
    ]
    held = role_of(user)
    for document in documents:
        where = namespace_of(document)
        objects.check_may_write(cluster, user, held, document.kind, where)
    if twice := batches.repeated([document.value for document in documents]):
        one = _twice(*(documents[at] for at in twice))
        return Results([one], complete=False, left=left, dry_run=True)
    tried = list(_each(cluster, user, draft, documents, dry_run=True))
    complete = len(tried) == len(documents) and all(each.done for each in tried)
    if dry_run or not complete or not documents:
        return Results(tried, complete and bool(documents), left, dry_run=True)
    found = list(_each(cluster, user, draft, documents, dry_run=False))
    complete = len(found) == len(documents) and all(each.done for each in found)
    return Results(found, complete, left)


def _twice(second: Document, first: Document) -> Result:
    return Result(
        index=second.index,
        label=f"{second.kind} {second.name}",
        done=False,
        reason=f"It is in this text twice, first in line {first.first_line}. Give one of "
        "them another name, or remove it.",
    )


def causes_for(editing: Editing, results: Results | None) -> list[tuple[str, str]]:
    """What the API server said of fields of the document that is shown."""
    return [
        cause
        for each in (results.each if results else ())
        if each.index == editing.index
        for cause in each.causes
    ]


def why_not_written(cluster: Cluster, user: AnyUser, document: Document | None) -> str:
    """Why the user may not write the document, in a sentence; empty where they may."""
    kind = document.kind if document else ""
    namespace = namespace_of(document) if document else NAMESPACE
    return objects.why_not(cluster, user, role_of(user), kind, namespace)


def _each(
    cluster: Cluster,
    user: AnyUser,
    draft: Draft,
    documents: Sequence[Document],
    *,
    dry_run: bool,
) -> Iterator[Result]:
    base = drafts.base_of(draft)
    for document in documents:
        outcome: Outcome | ReadOnly
        if base is not None and is_base(document, base):
            outcome = objects.update(
                cluster,
                user,
                document.value,
                Expected(base.uid, base.resource_version),
                name=base.name,
                namespace=base.namespace,
                dry_run=dry_run,
            )
        else:
            outcome = objects.create(
                cluster,
                user,
                document.value,
                namespace=namespace_of(document),
                dry_run=dry_run,
            )
        result = _result(cluster, document, outcome)
        yield result
        if not result.done:
            return


def namespace_of(document: Document) -> str:
    """Where a document goes that names no namespace: where kubectl would put it."""
    if document.kind == "DeviceClass":
        return ""
    return document.namespace or NAMESPACE


def is_base(document: Document, base: drafts.Base) -> bool:
    """Whether writing the document would replace the object that the draft edits."""
    here = (document.kind, namespace_of(document), document.name)
    return here == (base.kind, base.namespace, base.name)


def _result(
    cluster: Cluster, document: Document, outcome: Outcome | ReadOnly
) -> Result:
    causes: list[tuple[str, str]] = []
    if isinstance(outcome, Invalid):
        causes = [(cause.field, cause.message) for cause in outcome.causes]
    return Result(
        index=document.index,
        label=f"{document.kind} {document.name or 'without a name'}",
        done=isinstance(outcome, Created | Updated),
        reason=_reason(outcome),
        stored=getattr(outcome, "object", None),
        causes=causes,
        grant=getattr(outcome, "grant", ""),
        choices=list(_choices(cluster, outcome)),
    )


def _reason(outcome: Outcome | ReadOnly) -> str:
    """In a draft, an object that is gone is no end: the text is still here."""
    if isinstance(outcome, Gone):
        return (
            "It was deleted from the cluster meanwhile. Your text is kept: create the "
            "object anew, or discard the draft."
        )
    return outcome.reason


def _choices(cluster: Cluster, outcome: Outcome | ReadOnly) -> Iterator[Choice]:
    match outcome:
        case AlreadyExists():
            yield Choice("Look at the one that is there", href=_page(cluster, outcome))
            yield Choice("Choose another name", step="rename")
        case Changed():
            yield Choice("Look at what it is now", href=_page(cluster, outcome))
            if outcome.current is not None and not outcome.replaced:
                yield Choice("Keep my version: save over it", step="onto-newest")
        case Gone():
            yield Choice("Create it anew", step="anew")


def _page(cluster: Cluster, what: AlreadyExists | Changed | Gone) -> str:
    return page_of(cluster, what.kind, what.namespace, what.name)


def page_of(cluster: Cluster, kind: str, namespace: str, name: str) -> str:
    """The address of the object's page."""
    key = [namespace, name] if namespace else [name]
    return reverse(PAGES[kind], args=[cluster.name, *key])
