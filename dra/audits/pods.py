"""Pods and templates: whether what they name exists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from dra.audits.claims import ENDED, asks_admin, missing_classes
from dra.audits.codes import Code
from dra.audits.finding import Finding, Subject, finding
from dra.names import NamespacedName, ObjectKey
from dra.objects import (
    Pod,
    PodGroup,
    PodResourceClaim,
    PodResourceClaimStatus,
    ResourceClaimTemplate,
)
from dra.pod_needs import EXTENDED_RESOURCES, extended_claim_name
from dra.snapshot import Snapshot


def named_claims(pod: Pod) -> Iterator[str]:
    """Claims that a pod uses by name, or that were made for it."""
    for entry in pod.spec.resource_claims or ():
        if entry.resource_claim_name:
            yield entry.resource_claim_name
    for status in pod.status.resource_claim_statuses or ():
        if status.resource_claim_name:
            yield status.resource_claim_name
    if name := extended_claim_name(pod):
        yield name


def named_templates(pod: Pod) -> Iterator[str]:
    for entry in pod.spec.resource_claims or ():
        if entry.resource_claim_template_name:
            yield entry.resource_claim_template_name


def pod_findings(pod: Pod, snapshot: Snapshot) -> Iterator[Finding]:
    """References that lead nowhere; nothing about a pod that has ended or is going."""
    if pod.status.phase in ENDED or pod.metadata.deletion_timestamp:
        return
    user = Subject("Pod", pod.metadata.namespace, pod.metadata.name)
    entries = list(pod.spec.resource_claims or ())
    if name := extended_claim_name(pod):
        made = PodResourceClaim(name=EXTENDED_RESOURCES, resource_claim_name=name)
        entries.append(made)
    statuses = pod.status.resource_claim_statuses or ()
    yield from _missing(user, entries, statuses, snapshot)


def group_findings(group: PodGroup, snapshot: Snapshot) -> Iterator[Finding]:
    """The same of a pod group's own claims."""
    meta = group.metadata
    if not meta.deletion_timestamp:
        user = Subject("PodGroup", meta.namespace, meta.name)
        statuses = group.status.resource_claim_statuses or ()
        entries = group.spec.resource_claims or ()
        yield from _missing(user, entries, statuses, snapshot)


def _missing(
    user: Subject,
    entries: Iterable[PodResourceClaim],
    statuses: Iterable[PodResourceClaimStatus],
    snapshot: Snapshot,
) -> Iterator[Finding]:
    namespace = user.namespace
    made = {status.name: status.resource_claim_name for status in statuses}
    kind = "Pod" if user.kind == "Pod" else "Pod group"
    pod_name = f"{kind} {namespace}/{user.name}"
    for entry in entries:
        subject = replace(user, detail=entry.name)
        template = entry.resource_claim_template_name
        claim = entry.resource_claim_name or made.get(entry.name)
        if claim:
            if not _claim_exists(snapshot, (namespace, claim)):
                yield finding(
                    Code.POD_MISSING_CLAIM,
                    subject,
                    f"{pod_name} uses claim {claim}, which does not exist.",
                    claim=claim,
                )
        elif template:
            if not _template_exists(snapshot, (namespace, template)):
                yield finding(
                    Code.POD_MISSING_TEMPLATE,
                    subject,
                    f"{pod_name} uses claim template {template}, which does not exist.",
                    template=template,
                )
        elif entry.name not in made:
            yield finding(
                Code.POD_CLAIM_UNNAMED,
                subject,
                f"{pod_name} names neither a claim nor a template in its entry "
                f"{entry.name}.",
            )


def _claim_exists(snapshot: Snapshot, key: NamespacedName) -> bool:
    unreadable = ObjectKey("ResourceClaim", *key) in snapshot.problems_by_object
    return key in snapshot.claims or key in snapshot.salvaged or unreadable


def _template_exists(snapshot: Snapshot, key: NamespacedName) -> bool:
    unreadable = ObjectKey("ResourceClaimTemplate", *key) in snapshot.problems_by_object
    return key in snapshot.templates or unreadable


def template_findings(
    template: ResourceClaimTemplate, snapshot: Snapshot
) -> Iterator[Finding]:
    meta, spec = template.metadata, template.spec.spec
    name = f"Template {meta.namespace}/{meta.name}"
    unreadable = snapshot.problems_by_object
    for class_name in missing_classes(spec, snapshot.classes, unreadable):
        subject = Subject(
            "ResourceClaimTemplate", meta.namespace, meta.name, "", class_name
        )
        yield finding(
            Code.TEMPLATE_MISSING_CLASS,
            subject,
            f"{name} asks for class {class_name}, which does not exist.",
            device_class=class_name,
        )
    if asks_admin(spec):
        yield finding(
            Code.TEMPLATE_ADMIN_ACCESS,
            Subject("ResourceClaimTemplate", meta.namespace, meta.name),
            f"{name} asks for admin access.",
        )
