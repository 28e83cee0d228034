"""What the pods of a text need together: their claims, from the text and the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from claims.authoring.manifests import Document
from claims.authoring.pod_claims import (
    TEMPLATE,
    PodClaim,
    Remark,
    Surroundings,
    key_of,
    pod_claims,
)
from claims.authoring.pod_remarks import joined, remarks_of
from claims.authoring.pod_templates import PodTemplate, mapping, pod_templates
from cluster.convert import to_v1
from dra.errors import ObjectError
from dra.extended_resources import (
    ExtendedClaim,
    ServedBy,
    claim_for,
    classes_by_resource,
    plugin_nodes,
)
from dra.objects import DeviceClass, ResourceClaim, read
from dra.pod_nodes import nodes_of
from dra.snapshot import Snapshot

DEFAULT_NAMESPACE: Final = "default"
_NEWEST: Final = "9999-12-31T23:59:59Z"


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of pod that a document would start, or a pod group.

    ``document`` is the index of that document, ``path`` where the pod's spec and
    metadata stand in it (empty: at its top). ``copies`` run at once, ``None``: one on each
    node. ``entries`` are its claims in order, ``extended`` what becomes of its extended
    resources. ``plugin_nodes`` serve some of those by a device plugin; there the pod asks
    DRA for less. ``remarks`` are all that is wrong or odd, with paths of the document.
    ``node_names`` are the nodes left by claims that hold devices already, by what the pod
    requires of a node and by ``plugin_nodes``; ``None``: all that take pods.
    """

    kind: str
    name: str
    namespace: str
    document: int
    path: str
    copies: int | None
    role: str
    entries: tuple[PodClaim, ...]
    extended: ExtendedClaim | None
    plugin_nodes: tuple[str, ...]
    remarks: tuple[Remark, ...]
    node_names: tuple[str, ...] | None

    @property
    def claims(self) -> tuple[ResourceClaim, ...]:
        """Claims of one pod that wait for devices, in its order: what to ask about."""
        found = [c for _, c in self._used() if c.status.allocation is None]
        if self.extended and self.extended.claim:
            found.append(self.extended.claim)
        return tuple(found)

    @property
    def origins(self) -> tuple[int | None, ...]:
        """The document that says what each of ``claims`` asks; None: it is the
        cluster's, or what the pod asks of extended resources."""
        found = [e.document for e, c in self._used() if c.status.allocation is None]
        if self.extended and self.extended.claim:
            found.append(None)
        return tuple(found)

    @property
    def allocated(self) -> tuple[ResourceClaim, ...]:
        """Claims of the cluster that hold devices already."""
        return tuple(c for _, c in self._used() if c.status.allocation is not None)

    @property
    def absent(self) -> tuple[str, ...]:
        """Entries for which there is no claim: what is asked without them is not all."""
        return tuple(e.name or e.path for e in self.entries if e.claim is None)

    @property
    def documents(self) -> tuple[int, ...]:
        """Documents that say what its claims ask, itself among them."""
        found = {e.document for e in self.entries if e.document is not None}
        return tuple(sorted({self.document, *found}))

    @property
    def asks_devices(self) -> bool:
        return bool(self.entries) or self.extended is not None

    @property
    def errors(self) -> tuple[Remark, ...]:
        return tuple(remark for remark in self.remarks if remark.is_error)

    @property
    def title(self) -> str:
        """``Deployment web``, and which of its pods: ``JobSet train, workers``."""
        title = f"{self.kind} {self.name}" if self.name else self.kind
        return f"{title}, {self.role}" if self.role else title

    @property
    def sentence(self) -> str:
        """How many pods, and what each of them needs."""
        needs = [*map(_need, self.entries)]
        if self.extended and self.extended.claim:
            asked = ", ".join(dict.fromkeys(a.resource for a in self.extended.answers))
            needs.append(f"extended resources ({asked})")
        if not needs:
            return f"{self.title}: {self._pods()}, without devices."
        each = "" if self.copies == 1 else " each"
        together = " on one node" if len(needs) > 1 else ""
        return f"{self.title}: {self._pods()}{each} with {joined(needs)}{together}."

    def _pods(self) -> str:
        if self.kind == "PodGroup":
            return "a pod group"
        if self.copies is None:
            return "one pod on each node"
        return "1 pod" if self.copies == 1 else f"{self.copies:,} pods"

    def _used(self) -> Iterator[tuple[PodClaim, ResourceClaim]]:
        """Entries with their claims; one that two entries name is there once."""
        seen: set[str] = set()
        for entry in self.entries:
            if entry.claim is not None and entry.claim.metadata.name not in seen:
                seen.add(entry.claim.metadata.name)
                yield entry, entry.claim


def workloads(
    documents: Sequence[Document],
    snapshot: Snapshot,
    *,
    namespace: str = DEFAULT_NAMESPACE,
    extended_resources: bool = True,
) -> list[Workload]:
    """The pods of a text, in its order, with what each kind of them needs.

    ``namespace`` counts for objects that name none. ``extended_resources`` is the gate
    DRAExtendedResource. Raises nothing: what is wrong is a remark.
    """
    namespace = namespace or DEFAULT_NAMESPACE
    around = Surroundings.of(documents, snapshot, namespace)
    classes = _classes(documents, snapshot) if extended_resources else None
    scene = _Scene(snapshot, around, classes)
    found: list[Workload] = []
    for document in documents:
        if document.problem is not None:
            continue
        if document.kind == "PodGroup":
            found.append(scene.of_group(document))
        found += [scene.of_pod(document, t) for t in pod_templates(document.value)]
    return found


def _classes(documents: Iterable[Document], snapshot: Snapshot) -> dict[str, ServedBy]:
    """Classes by the extended resource that they stand for, those of the text included."""
    found = dict(snapshot.classes)
    for document in documents:
        if document.kind != "DeviceClass" or document.problem or not document.name:
            continue
        try:
            written = read(to_v1(document.value), DeviceClass)
        except ObjectError:
            continue
        there = found.get(document.name)
        # A class that is still to be created will be the newest of all.
        created = there.metadata.creation_timestamp if there else _NEWEST
        meta = replace(written.metadata, creation_timestamp=created)
        found[document.name] = replace(written, metadata=meta)
    return classes_by_resource(found.values())


@dataclass(frozen=True, slots=True)
class _Scene:
    snapshot: Snapshot
    around: Surroundings
    classes: Mapping[str, ServedBy] | None

    def of_group(self, document: Document) -> Workload:
        namespace = document.namespace or self.around.default_namespace
        spec = mapping(document.value.get("spec"))
        entries = pod_claims(
            spec.get("resourceClaims"),
            "spec.resourceClaims",
            self.around,
            namespace=namespace,
            owner=document.name,
            group=document.name,
            shared=_keys(spec.get("resourceClaims")),
        )
        allocated = [e.claim for e in entries if e.claim and e.claim.status.allocation]
        return Workload(
            kind=document.kind,
            name=document.name,
            namespace=namespace,
            document=document.index,
            path="",
            copies=1,
            role="",
            entries=entries,
            extended=None,
            plugin_nodes=(),
            remarks=tuple(remark for e in entries for remark in e.remarks),
            node_names=nodes_of({}, self.snapshot, allocated),
        )

    def of_pod(self, document: Document, template: PodTemplate) -> Workload:
        namespace = document.namespace or self.around.default_namespace
        owner = _owner(document, template)
        group, shared = self._group(template.spec, namespace)
        entries = pod_claims(
            template.spec.get("resourceClaims"),
            template.at("spec.resourceClaims"),
            self.around,
            namespace=namespace,
            owner=owner,
            group=group,
            shared=shared,
        )
        extended = self._extended(template, owner, namespace)
        served = self._plugin_nodes(extended)
        remarks = list(remarks_of(template, entries, extended, self.snapshot))
        allocated = [e.claim for e in entries if e.claim and e.claim.status.allocation]
        try:
            nodes = nodes_of(template.spec, self.snapshot, allocated, served)
        except ObjectError as error:
            path = template.at(error.path)
            remarks.append(Remark(path, f"This cannot be read: {error.reason}."))
            nodes = nodes_of({}, self.snapshot, allocated, served)
        return Workload(
            kind=document.kind,
            name=document.name or _generated(document.value),
            namespace=namespace,
            document=document.index,
            path=template.path,
            copies=template.copies,
            role=template.role,
            entries=entries,
            extended=extended,
            plugin_nodes=served,
            remarks=tuple(remarks),
            node_names=nodes,
        )

    def _group(
        self, spec: dict[str, Any], namespace: str
    ) -> tuple[str, list[tuple[str, str, str]]]:
        """The pod group that a pod belongs to, with its entries."""
        name = mapping(spec.get("schedulingGroup")).get("podGroupName")
        if not isinstance(name, str) or not name:
            return "", []
        written = self.around.documents.get(("PodGroup", namespace, name))
        if written is not None:
            group = mapping(written.value.get("spec"))
            return name, _keys(group.get("resourceClaims"))
        there = self.snapshot.pod_groups.get((namespace, name))
        entries = there.spec.resource_claims or () if there else ()
        return name, [
            (
                one.name,
                one.resource_claim_name or "",
                one.resource_claim_template_name or "",
            )
            for one in entries
        ]

    def _extended(
        self, template: PodTemplate, owner: str, namespace: str
    ) -> ExtendedClaim | None:
        if self.classes is None:
            return None
        return claim_for(
            template.spec, self.classes, pod_name=owner, namespace=namespace
        )

    def _plugin_nodes(self, extended: ExtendedClaim | None) -> tuple[str, ...]:
        nodes = self.snapshot.nodes.values()
        names = extended.served_by if extended else ()
        return tuple(sorted({n for name in names for n in plugin_nodes(nodes, name)}))


def _need(entry: PodClaim) -> str:
    name = entry.refers_to or entry.name or "a claim"
    if entry.kind == TEMPLATE and entry.group:
        return f"the claim made from {name} for its group {entry.group}"
    return f"a claim made from {name}" if entry.kind == TEMPLATE else f"claim {name}"


def _owner(document: Document, template: PodTemplate) -> str:
    name = document.name or _generated(document.value) or document.kind.lower()
    return f"{name}-{template.role.lower()}" if template.role else name


def _generated(value: Any) -> str:
    prefix = mapping(mapping(value).get("metadata")).get("generateName")
    return prefix.rstrip("-") if isinstance(prefix, str) else ""


def _keys(entries: Any) -> list[tuple[str, str, str]]:
    return [key_of(one) for one in entries] if isinstance(entries, list) else []
