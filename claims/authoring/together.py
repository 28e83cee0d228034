"""The documents of a draft with what is said of each, and which are asked about together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from claims.authoring.checking import Checked, checked, gates_of
from claims.authoring.class_previews import ClassPreview, class_preview
from claims.authoring.manifests import Document
from claims.authoring.reading import KINDS, claim_of
from claims.authoring.workloads import Workload, workloads
from dra.cel.selection import Stop
from dra.errors import ObjectError
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot
from inventory.models import Cluster
from inventory.queries.served import newest_served

_BROUGHT: Final = frozenset({"DeviceClass", "Namespace"})
"""Kinds of objects that claims of the same text refer to."""


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """A document, and what the API server would say to it; of a class also what it
    would match."""

    document: Document
    checked: Checked
    class_preview: ClassPreview | None = None


@dataclass(frozen=True, slots=True)
class Together:
    """Claims that have to fit on one node together: those of a pod, or one alone.

    ``documents`` are the indexes of those that they come from. ``node_names`` are the
    nodes that are left by what else the pod needs, None: all that take pods. ``problem``
    is a sentence where there is nothing to ask. ``workload`` is what starts such pods,
    None for a claim or template that no pod of the text uses.
    """

    documents: tuple[int, ...]
    claims: tuple[ResourceClaim, ...]
    node_names: tuple[str, ...] | None = None
    problem: str = ""
    workload: Workload | None = None


def with_brought(snapshot: Snapshot, documents: Sequence[Document]) -> Snapshot:
    """The cluster as it will be when the text has been applied: with the classes and
    namespaces that it brings along."""
    brought = [
        _with_labels_there(snapshot, d) if d.kind == "Namespace" else d.value
        for d in documents
        if d.problem is None and d.kind in _BROUGHT
    ]
    return snapshot.edit(add=brought) if brought else snapshot


def _with_labels_there(snapshot: Snapshot, document: Document) -> Any:
    """A namespace with the labels that somebody else gave it: applying a text takes
    away only what an earlier version of it had."""
    there = snapshot.namespaces.get(document.name)
    meta = document.value.get("metadata")
    if there is None or not there.metadata.labels or not isinstance(meta, dict):
        return document.value
    own = meta.get("labels") or {}
    if not isinstance(own, dict):
        return document.value
    labels = {**there.metadata.labels, **own}
    return {**document.value, "metadata": {**meta, "labels": labels}}


def checked_documents(
    cluster: Cluster,
    snapshot: Snapshot,
    documents: Sequence[Document],
    *,
    namespace: str = "",
    stop: Stop,
) -> tuple[CheckedDocument, ...]:
    """What is said of each document; of one that is no object only that.

    ``snapshot`` is the cluster as it is, without what the documents bring along.
    """
    world = with_brought(snapshot, documents)
    features = cluster.features
    versions = newest_served(cluster, [document.value for document in documents])
    return tuple(
        CheckedDocument(
            document,
            checked(
                cluster,
                world,
                document.value,
                namespace=namespace,
                served=served,
                stop=stop,
            ),
            class_preview(snapshot, document.value, features, stop=stop),
        )
        for document, served in zip(documents, versions, strict=True)
    )


def of_one_object(value: Any) -> tuple[Document, ...]:
    """An object that came without a text, as the only document of one."""
    fields = value if isinstance(value, dict) else {}
    meta = fields.get("metadata")
    names = meta if isinstance(meta, dict) else {}

    def text(found: Any) -> str:
        return found if isinstance(found, str) else ""

    return (
        Document(
            index=0,
            value=value,
            kind=text(fields.get("kind")),
            api_version=text(fields.get("apiVersion")),
            namespace=text(names.get("namespace")),
            name=text(names.get("name")),
            first_line=0,
            last_line=0,
        ),
    )


def asked_together(
    cluster: Cluster,
    snapshot: Snapshot,
    documents: Sequence[Document],
    *,
    namespace: str = "",
) -> tuple[Together, ...]:
    """What to ask about, in the order of the text: what each kind of pod needs, and each
    claim and template that no pod of the text uses."""
    found = [
        _of_pod(workload)
        for workload in workloads(
            documents,
            snapshot,
            namespace=namespace,
            extended_resources=gates_of(cluster).extended_resource,
        )
        if workload.asks_devices or workload.remarks
    ]
    used = {index for each in found for index in each.documents}
    found += [
        _alone(document, namespace)
        for document in documents
        if document.problem is None
        and document.kind in KINDS
        and document.index not in used
    ]
    return tuple(sorted(found, key=lambda each: each.documents))


def _of_pod(workload: Workload) -> Together:
    claims, problem = workload.claims, ""
    if workload.absent:
        claims = ()
        names = ", ".join(workload.absent)
        problem = f"It cannot be asked: there is no claim for {names}."
    elif not claims and workload.allocated:
        problem = "All of its claims are allocated already."
    elif not claims:
        problem = "It needs no claim."
    return Together(workload.documents, claims, workload.node_names, problem, workload)


def _alone(document: Document, namespace: str) -> Together:
    try:
        claim = claim_of(document.value, namespace=namespace)
    except ObjectError as error:
        at = f"{error.path}: " if error.path else ""
        return Together(
            (document.index,), (), problem=f"It cannot be read: {at}{error.reason}."
        )
    if not claim.spec.devices.requests:
        return Together((document.index,), (), problem="It asks for no device.")
    return Together((document.index,), (claim,))
