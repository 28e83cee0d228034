"""Addresses and cells of inventory objects, for lists of every app."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString

from inventory.choices import DeviceState
from inventory.models import Device, Node, Pool
from web.pages import cells

SENTENCES: Mapping[str, str] = {
    DeviceState.FREE: "A claim that matches it can have it.",
    DeviceState.IN_USE: "A claim holds it alone. It is free again when that claim is "
    "deleted or deallocated.",
    DeviceState.SHARED: "Claims hold shares of it; others may take what is left.",
    DeviceState.BLOCKED: "Nobody holds it, but partitions of the same physical device "
    "use its counters. It is free again when they are.",
    DeviceState.TAINTED: "A taint keeps new claims away unless they tolerate it. "
    "Remove the taint, or its rule, to free it.",
    DeviceState.INCOMPLETE: "Its pool is incomplete, so nothing of it is allocated. "
    "The driver has to publish the missing slices.",
    DeviceState.INVALID: "Its pool contradicts itself, so nothing of it is allocated. "
    "The driver has to correct its slices.",
}
"""What each state means and what to do next."""


def since(stamp: object) -> SafeString:
    """How long ago a time of the API was; one that is none is shown as it is written."""
    text = stamp if isinstance(stamp, str) else ""
    try:
        at = parse_datetime(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        return format_html("{}", text) if text else cells.NOTHING
    return cells.ago(at)


def node_link(cluster: str, name: str) -> SafeString:
    if not name:
        return cells.NOTHING
    return cells.link(reverse("node", args=[cluster, name]), name, mono=True)


def pool_link(cluster: str, driver: str, pool: str, *, full: bool = True) -> SafeString:
    href = reverse("pool", args=[cluster, driver, pool])
    text = f"{driver}/{pool}" if full else pool
    return cells.link(href, text, mono=True, title=f"{driver} · {pool}")


def slice_link(cluster: str, name: str) -> SafeString:
    return cells.link(reverse("slice", args=[cluster, name]), name, mono=True)


def device_href(cluster: str, device: Device) -> str:
    return reverse("device", args=[cluster, device.driver, device.pool, device.name])


def device_link(cluster: str, device: Device) -> SafeString:
    return cells.link(
        device_href(cluster, device),
        device.name,
        mono=True,
        title=f"{device.driver} · {device.pool}",
    )


def rule_link(cluster: str, name: str) -> SafeString:
    return cells.link(reverse("taint-rule", args=[cluster, name]), name, mono=True)


def claim_links(cluster: str, names: Iterable[str], *, most: int = 2) -> SafeString:
    """Links of ``namespace/name``; more than ``most`` are counted."""
    all_ = list(names)
    if not all_:
        return cells.NOTHING
    links = cells.joined(
        cells.link(
            reverse("claim", args=[cluster, *name.split("/", 1)]), name, mono=True
        )
        for name in all_[:most]
    )
    more = len(all_) - most
    return format_html("{} +{} more", links, more) if more > 0 else links


def state_badge(device: Device) -> SafeString:
    """``shared`` says by how many."""
    label = device.get_state_display()
    if device.state == DeviceState.SHARED:
        label = f"shared by {device.holder_count}"
    return cells.badge(device.state, label, SENTENCES.get(device.state, ""))


def node_badges(node: Node) -> list[SafeString]:
    found = []
    if node.problem:
        found.append(cells.badge("unreadable", title=node.problem))
    if node.deleting:
        found.append(cells.badge("deleting"))
    found.append(cells.badge("ready" if node.ready else "not ready"))
    if node.unschedulable:
        found.append(
            cells.badge("cordoned", title="New pods are not scheduled on this node.")
        )
    return found


def pool_badge(pool: Pool) -> SafeString:
    if not pool.valid:
        return cells.badge("invalid", title=pool.problem)
    if not pool.complete:
        return cells.badge("incomplete", title=pool.problem)
    return cells.badge("complete")


def taint_text(taint: Mapping[str, Any]) -> str:
    """``key=value:Effect``, as kubectl writes it."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"


def attribute_text(attribute: Any) -> str:
    """The value of a published attribute; lists are joined."""
    if not isinstance(attribute, Mapping):
        return str(attribute)
    for value in attribute.values():
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, list):
            return ", ".join(
                str(v).lower() if isinstance(v, bool) else str(v) for v in value
            )
        return str(value)
    return ""


def attribute_type(attribute: Any) -> str:
    """``string``, ``version``, ``int``, ``bool`` or a list of them."""
    if not isinstance(attribute, Mapping) or not attribute:
        return ""
    name = str(next(iter(attribute)))
    return f"list of {name.removesuffix('s')}" if name.endswith("s") else name
