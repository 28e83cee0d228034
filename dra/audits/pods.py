"""Pods and templates: whether what they name exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dra.audits.claims import asks_admin, missing_classes
from dra.audits.codes import Code
from dra.audits.finding import Finding, Subject, finding
from dra.names import NamespacedName
from dra.objects import DeviceClass, Pod, ResourceClaimTemplate
from dra.snapshot import Snapshot

_ENDED: Final = frozenset({"Succeeded", "Failed"})


def named_claims(pod: Pod) -> Iterator[str]:
    """Claims that a pod uses by name, or that were made for it."""
    for entry in pod.spec.resource_claims or ():
        if entry.resource_claim_name:
            yield entry.resource_claim_name
    for status in pod.status.resource_claim_statuses or ():
        if status.resource_claim_name:
            yield status.resource_claim_name


def named_templates(pod: Pod) -> Iterator[str]:
    for entry in pod.spec.resource_claims or ():
        if entry.resource_claim_template_name:
            yield entry.resource_claim_template_name


def pod_findings(pod: Pod, snapshot: Snapshot) -> Iterator[Finding]:
    """References that lead nowhere; nothing about a pod that has ended or is going."""
    if pod.status.phase in _ENDED or pod.metadata.deletion_timestamp:
        return
    meta = pod.metadata
    made = {
        s.name: s.resource_claim_name for s in pod.status.resource_claim_statuses or ()
    }
    for entry in pod.spec.resource_claims or ():
        subject = Subject("Pod", meta.namespace, meta.name, "", entry.name)
        pod_name = f"Pod {meta.namespace}/{meta.name}"
        template = entry.resource_claim_template_name
        claim = entry.resource_claim_name or made.get(entry.name)
        if claim:
            if not _claim_exists(snapshot, (meta.namespace, claim)):
                yield finding(
                    Code.POD_MISSING_CLAIM,
                    subject,
                    f"{pod_name} uses claim {claim}, which does not exist.",
                    claim=claim,
                )
        elif template:
            if (meta.namespace, template) not in snapshot.templates:
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
    return key in snapshot.claims or key in snapshot.salvaged


def template_findings(
    template: ResourceClaimTemplate, classes: Mapping[str, DeviceClass]
) -> Iterator[Finding]:
    meta, spec = template.metadata, template.spec.spec
    name = f"Template {meta.namespace}/{meta.name}"
    for class_name in missing_classes(spec, classes):
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
