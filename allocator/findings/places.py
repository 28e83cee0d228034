"""Where a finding is: the pages of the objects that it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString

from allocator.findings.concerned import ObjectRef, device_of, pool_of
from allocator.models import Finding, FindingObject
from web.pages import cells

WORDS: Final = {
    "ResourceClaim": "claim",
    "ResourceClaimTemplate": "template",
    "ResourceSlice": "slice",
    "DeviceClass": "class",
    "DeviceTaintRule": "taint rule",
    "PodGroup": "pod group",
}
"""Kinds as a person says them; others are their own word in lower case."""


def word_of(kind: str) -> str:
    return WORDS.get(kind, kind.lower())


def _list(cluster: str, page: str, **parameters: str) -> str:
    return f"{reverse(page, args=[cluster])}?{urlencode(parameters)}"


def _pool(cluster: str, ref: ObjectRef) -> str:
    key = pool_of(ref.name)
    return reverse("pool", args=[cluster, *key]) if key else ""


def _device(cluster: str, ref: ObjectRef) -> str:
    key = device_of(ref.name)
    return reverse("device", args=[cluster, *key]) if key else ""


_HREFS: Final[dict[str, Callable[[str, ObjectRef], str]]] = {
    "ResourceClaim": lambda c, r: reverse("claim", args=[c, r.namespace, r.name]),
    "ResourceClaimTemplate": lambda c, r: reverse(
        "template", args=[c, r.namespace, r.name]
    ),
    "Pod": lambda c, r: reverse("pod", args=[c, r.namespace, r.name]),
    "Node": lambda c, r: reverse("node", args=[c, r.name]),
    "ResourceSlice": lambda c, r: reverse("slice", args=[c, r.name]),
    "DeviceClass": lambda c, r: reverse("class", args=[c, r.name]),
    "DeviceTaintRule": lambda c, r: reverse("taint-rule", args=[c, r.name]),
    "Pool": _pool,
    "Device": _device,
    "Driver": lambda c, r: _list(c, "devices", driver=r.name),
    "Namespace": lambda c, r: _list(c, "claims", namespace=r.name),
}


def href_of(cluster: str, ref: ObjectRef) -> str:
    """The object's page, empty when its kind has none."""
    maker = _HREFS.get(ref.kind)
    return maker(cluster, ref) if maker and ref.name else ""


def link_to(cluster: str, ref: ObjectRef) -> SafeString:
    """ "claim default/a", linked."""
    name = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
    href = href_of(cluster, ref)
    shown = cells.link(href, name, mono=True) if href else cells.mono(name)
    return cells.joined([word_of(ref.kind), shown], " ")


def where(cluster: str, finding: Finding) -> SafeString:
    """The subject, or the device that it is about."""
    if finding.device and finding.kind == "Pool":
        return link_to(cluster, ObjectRef("Device", "", finding.device))
    return link_to(cluster, ObjectRef(finding.kind, finding.namespace, finding.name))


def ref_of(row: FindingObject) -> ObjectRef:
    return ObjectRef(row.kind, row.namespace, row.name)
