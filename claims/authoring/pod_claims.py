"""What the entries of a pod's ``resourceClaims`` refer to: in the same text, or the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Literal

from msgspec.structs import replace

from claims.authoring.manifests import Document
from claims.authoring.reading import claim_of
from dra.allocation.request import with_defaults
from dra.errors import ObjectError
from dra.objects import Meta, ResourceClaim
from dra.snapshot import Snapshot

type Kind = Literal["ResourceClaim", "ResourceClaimTemplate"]

CLAIM: Final = "ResourceClaim"
TEMPLATE: Final = "ResourceClaimTemplate"
_FIELDS: Final[Mapping[str, Kind]] = {
    "resourceClaimName": CLAIM,
    "resourceClaimTemplateName": TEMPLATE,
}


@dataclass(frozen=True, slots=True)
class Remark:
    """Something at ``path`` of a document, in a sentence that says what to do.

    ``is_error``: the API server refuses it, or the pod can never start.
    """

    path: str
    message: str
    is_error: bool = True


@dataclass(frozen=True, slots=True)
class PodClaim:
    """One entry: ``refers_to`` is the name of a claim or template of ``kind``.

    ``claim`` is the claim that the pod would use, ``None`` where there is none;
    ``document`` the index of the one that it comes from, ``None``: the cluster.
    ``group`` is the pod group that it is generated for, all of whose pods share it.
    """

    name: str
    path: str
    kind: Kind | None = None
    refers_to: str = ""
    claim: ResourceClaim | None = None
    document: int | None = None
    group: str = ""
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What entries may refer to: objects of the text before those of the cluster."""

    snapshot: Snapshot
    default_namespace: str
    documents: Mapping[tuple[str, str, str], Document]

    @classmethod
    def of(
        cls, documents: Iterable[Document], snapshot: Snapshot, namespace: str
    ) -> Surroundings:
        found: dict[tuple[str, str, str], Document] = {}
        for one in documents:
            if one.problem is None and one.name:
                key = (one.kind, one.namespace or namespace, one.name)
                found.setdefault(key, one)
        return cls(snapshot, namespace, found)

    def names(self, kind: Kind, namespace: str) -> set[str]:
        """Names of claims or templates that a pod of ``namespace`` can refer to."""
        written = {n for k, ns, n in self.documents if (k, ns) == (kind, namespace)}
        return written | {n for ns, n in self._there(kind) if ns == namespace}

    def elsewhere(self, kind: Kind, name: str) -> list[str]:
        """Namespaces that have an object of this name."""
        written = {ns for k, ns, n in self.documents if (k, n) == (kind, name)}
        return sorted(written | {ns for ns, n in self._there(kind) if n == name})

    def _there(self, kind: Kind) -> Iterable[tuple[str, str]]:
        return self.snapshot.claims if kind == CLAIM else self.snapshot.templates


@dataclass(slots=True)
class _Entry:
    """An entry while it is read."""

    path: str
    raw: dict[str, Any]
    remarks: list[Remark] = field(default_factory=list)

    @property
    def name(self) -> str:
        name = self.raw.get("name")
        return name if isinstance(name, str) else ""

    def wrong(self, message: str, below: str = "") -> None:
        path = f"{self.path}.{below}" if below else self.path
        self.remarks.append(Remark(path, message))


def pod_claims(
    entries: Any,
    path: str,
    around: Surroundings,
    *,
    namespace: str,
    owner: str,
    group: str = "",
    shared: Sequence[tuple[str, str, str]] = (),
) -> tuple[PodClaim, ...]:
    """The entries in JSON at ``path``, of a pod called ``owner``, resolved.

    ``shared`` are the entries (name, claim, template) of the pod group ``group``; an entry
    that is equal to one of them has its claim generated once for the group.
    """
    found: list[PodClaim] = []
    names: set[str] = set()
    for at, raw in enumerate(entries if isinstance(entries, list) else ()):
        entry = _Entry(f"{path}[{at}]", raw if isinstance(raw, dict) else {})
        if not isinstance(raw, dict):
            entry.wrong(
                "An entry is a mapping with a name and the claim or template it is for."
            )
            found.append(PodClaim("", entry.path, remarks=tuple(entry.remarks)))
            continue
        if not entry.name:
            entry.wrong("Give the entry a name; containers refer to it.", "name")
        elif entry.name in names:
            entry.wrong(f"Another entry is called {entry.name} already.", "name")
        names.add(entry.name)
        of_group = group if key_of(raw) in shared else ""
        found.append(_resolved(entry, around, namespace, of_group or owner, of_group))
    return tuple(found)


def key_of(raw: Any) -> tuple[str, str, str]:
    """What an entry of a pod and one of its group have to be equal in."""
    raw = raw if isinstance(raw, dict) else {}
    name, claim, template = (raw.get(key) for key in ("name", *_FIELDS))
    return str(name or ""), str(claim or ""), str(template or "")


def _resolved(
    entry: _Entry, around: Surroundings, namespace: str, owner: str, group: str
) -> PodClaim:
    chosen = _chosen(entry)
    if chosen is None:
        return PodClaim(entry.name, entry.path, remarks=tuple(entry.remarks))
    key, name = chosen
    kind = _FIELDS[key]
    written = around.documents.get((kind, namespace, name))
    claim: ResourceClaim | None = None
    if written is not None:
        claim = _of_document(written, entry, key, around, namespace)
    else:
        claim = _of_cluster(entry, key, name, around, namespace)
    if claim is not None and kind == TEMPLATE:
        made = f"{owner}-{entry.name}" if owner else entry.name
        claim = replace(claim, metadata=Meta(name=made, namespace=namespace))
    return PodClaim(
        name=entry.name,
        path=entry.path,
        kind=kind,
        refers_to=name,
        claim=claim,
        document=written.index if written else None,
        group=group,
        remarks=tuple(entry.remarks),
    )


def _chosen(entry: _Entry) -> tuple[str, str] | None:
    """The field that says what the entry is for, and the name there."""
    given = {key: entry.raw[key] for key in _FIELDS if entry.raw.get(key) is not None}
    if len(given) > 1:
        entry.wrong(
            "Name a claim or a template, not both: remove resourceClaimName or "
            "resourceClaimTemplateName."
        )
        return None
    if not given and isinstance(entry.raw.get("source"), dict):
        entry.wrong(
            "source is of an old version and is dropped since Kubernetes 1.31; write what "
            "it holds directly into the entry, without source.",
            "source",
        )
        return None
    if not given:
        entry.wrong(
            "The entry says no claim; add resourceClaimName, or resourceClaimTemplateName "
            "to have a claim made for each pod."
        )
        return None
    [(key, name)] = given.items()
    if not isinstance(name, str) or not name:
        entry.wrong("This has to be the name of an object.", key)
        return None
    return key, name


def _of_document(
    document: Document, entry: _Entry, key: str, around: Surroundings, namespace: str
) -> ResourceClaim | None:
    try:
        claim = claim_of(document.value, namespace=namespace)
    except ObjectError as error:
        at = f" ({error.path})" if error.path else ""
        entry.wrong(
            f"{_FIELDS[key]} {document.name} of this text cannot be read{at}: "
            f"{error.reason}.",
            key,
        )
        return None
    there = around.snapshot.claims.get((namespace, document.name))
    if _FIELDS[key] == CLAIM and there is not None and _same_spec(claim, there):
        return there  # Applying the text changes nothing: what it holds, it keeps.
    return claim


def _same_spec(one: ResourceClaim, other: ResourceClaim) -> bool:
    return with_defaults(one).spec == with_defaults(other).spec


def _of_cluster(
    entry: _Entry, key: str, name: str, around: Surroundings, namespace: str
) -> ResourceClaim | None:
    snapshot = around.snapshot
    if _FIELDS[key] == TEMPLATE:
        template = snapshot.templates.get((namespace, name))
        if template is not None:
            return ResourceClaim(spec=template.spec.spec)
    else:
        claim = snapshot.claims.get((namespace, name))
        if claim is not None:
            if claim.metadata.deletion_timestamp:
                entry.wrong(
                    f"The claim {name} is being deleted; wait until it is gone and create "
                    "it anew, or use another one.",
                    key,
                )
            return claim
    entry.wrong(_missing(key, name, around, namespace), key)
    return None


def _missing(key: str, name: str, around: Surroundings, namespace: str) -> str:
    """Why nothing of this name is there, as far as it can be told, and what to do."""
    kind = _FIELDS[key]
    other_key = next(one for one in _FIELDS if one != key)
    for found, problem in around.snapshot.problems_by_object.items():
        if found == (kind, namespace, name):
            return f"The {kind} {name} in the cluster cannot be read: {problem}."
    if name in around.names(_FIELDS[other_key], namespace):
        return f"{name} is a {_FIELDS[other_key]}; write {other_key} instead of {key}."
    elsewhere = around.elsewhere(kind, name)
    if elsewhere:
        return (
            f"{name} is in namespace {elsewhere[0]}, and pods use what is in their own "
            f"namespace, here {namespace}; create it there, or move the pod."
        )
    near = get_close_matches(name, sorted(around.names(kind, namespace)), 1)
    hint = f" Is {near[0]} meant?" if near else ""
    return (
        f"No {kind} {name} is in this text, nor in namespace {namespace} of the cluster; "
        f"add it to the text, or name another one.{hint}"
    )
