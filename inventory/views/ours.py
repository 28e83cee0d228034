"""What portals put onto devices and nodes for a while, said for what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from cluster.writeback import node_taint
from cluster.writeback.tags import ROLE, Role, Tags, tags_from
from cluster.writeback.taint_rules import QUARANTINE_KEY
from inventory import clients
from web.pages import cells

_WORDS: Final = {
    Role.QUARANTINE: "A quarantine",
    Role.GUARD: "A guard",
    Role.STEER: "A guard",
}


def owner_here(cluster: str) -> str:
    """How this portal calls itself in the cluster; empty where it does not write."""
    try:
        return clients.config_of(cluster).options.owner
    except clients.NoClientError:
        return ""


def of_rule(cluster: str, raw: Any, owner: str) -> SafeString | str:
    """What a taint rule of a portal is for; empty for anybody else's."""
    meta = raw.get("metadata") if isinstance(raw, dict) else None
    labels = meta.get("labels") if isinstance(meta, dict) else None
    tags = tags_from(labels) if isinstance(labels, dict) else None
    role = str(labels.get(ROLE)) if isinstance(labels, dict) else ""
    if tags is None or role not in Role:
        return ""
    return _said(cluster, Role(role), tags, owner)


def of_node(cluster: str, raw: Any, owner: str) -> dict[str, SafeString | str]:
    """The same of the taints of a node, by their keys."""
    return dict(_of_node(cluster, raw, owner))


def _of_node(
    cluster: str, raw: Any, owner: str
) -> Iterator[tuple[str, SafeString | str]]:
    if not isinstance(raw, dict) or not isinstance(raw.get("metadata"), dict):
        return
    notes = raw["metadata"].get("annotations")
    if not isinstance(notes, dict):
        return
    for key, text in node_taint.guards_of(raw).items():
        tags = node_taint.noted(str(text))
        if tags is not None:
            yield key, _said(cluster, node_taint.role_of(key), tags, owner)


def of_device(cluster: str, device: Any, taint: Any) -> SafeString | str:
    """The same of a taint of a device, of which only the key is known."""
    if not isinstance(taint, dict) or taint.get("key") != QUARANTINE_KEY:
        return ""
    parts = [device.driver, device.pool, device.name]
    href = reverse("repair-device", args=[cluster, *parts])
    link = cells.link(href, "its repair")
    return format_html("A quarantine of this portal: {}.", link)


def _said(cluster: str, role: Role, tags: Tags, owner: str) -> SafeString | str:
    word = _WORDS.get(role)
    if word is None:
        return ""
    whose = "this portal" if tags.owner == owner else f"the portal {tags.owner}"
    until = f", until {tags.expires:%d %b %Y %H:%M} UTC" if tags.expires else ""
    if role is not Role.QUARANTINE:
        return f"{word} of {whose} for the moments of one write; it goes by itself."
    if tags.owner == owner and tags.finding.isdigit():
        href = reverse("finding", args=[cluster, int(tags.finding)])
        link = cells.link(href, "its finding")
        return format_html("{} of {}{}: {}.", word, whose, until, link)
    return f"{word} of {whose}{until}."
