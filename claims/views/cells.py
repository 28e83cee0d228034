"""How claims, pods and devices are linked in lists."""

from __future__ import annotations

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from claims.models import AllocatedDevice, ClaimConsumer, ResourceClaim
from web.pages import cells


def claim_href(cluster: str, namespace: str, name: str) -> str:
    return reverse("claim", args=[cluster, namespace, name])


def pod_href(cluster: str, namespace: str, name: str) -> str:
    return reverse("pod", args=[cluster, namespace, name])


def node_cell(cluster: str, node_name: str) -> SafeString:
    if not node_name:
        return cells.NOTHING
    return cells.link(reverse("node", args=[cluster, node_name]), node_name, mono=True)


def device_link(cluster: str, result: AllocatedDevice) -> SafeString:
    """The device's name; driver and pool as title."""
    href = reverse("device", args=[cluster, result.driver, result.pool, result.device])
    return cells.link(
        href, result.device, mono=True, title=f"{result.driver} · {result.pool}"
    )


SHOWN = 3
PIN_TITLE = (
    "Not a workload: this portal keeps the allocation until the claim is deallocated."
)


def devices_cell(cluster: str, claim: ResourceClaim) -> SafeString:
    """The first devices it holds, and how many more."""
    results = list(claim.devices.all())
    if not results:
        return cells.NOTHING
    links = cells.joined(device_link(cluster, result) for result in results[:SHOWN])
    more = len(results) - SHOWN
    return format_html("{} +{} more", links, more) if more > 0 else links


def consumer_cell(cluster: str, namespace: str, consumer: ClaimConsumer) -> SafeString:
    """A pod as a link, anything else as text."""
    if consumer.resource == "pods" and not consumer.api_group:
        return cells.link(
            pod_href(cluster, namespace, consumer.name), consumer.name, mono=True
        )
    if consumer.is_pin:
        return format_html('<span class="tag" title="{}">pin</span>', PIN_TITLE)
    kind = f"{consumer.resource}.{consumer.api_group}".rstrip(".")
    return format_html('{} <span class="mono">{}</span>', kind, consumer.name)


def consumers_cell(cluster: str, claim: ResourceClaim) -> SafeString:
    consumers = list(claim.consumers.all())
    if not consumers:
        return cells.NOTHING
    links = cells.joined(
        consumer_cell(cluster, claim.namespace, consumer)
        for consumer in consumers[:SHOWN]
    )
    more = len(consumers) - SHOWN
    return format_html("{} +{} more", links, more) if more > 0 else links
