"""Claims for lists and for one page, with what they hold and who uses them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from claims.choices import ClaimState
from claims.models import (
    AllocatedDevice,
    ClaimConsumer,
    ClaimRequest,
    Pod,
    PodClaim,
    ResourceClaim,
    ResourceClaimTemplate,
)
from inventory.models import Cluster

DeviceKey = tuple[str, str, str]
"""driver, pool, device"""


def claim_rows(cluster: Cluster) -> QuerySet[ResourceClaim]:
    """Claims of a cluster for lists: no raw object, devices and consumers prefetched."""
    return (
        ResourceClaim.objects.filter(cluster=cluster)
        .defer("raw")
        .prefetch_related("devices", "consumers")
    )


def claim_counts(cluster: Cluster, namespace: str = "") -> dict[str, int]:
    """How many claims, of a namespace or of all, are in each state, every one named."""
    return counts_and_holding(cluster, namespace)[0]


def counts_and_holding(
    cluster: Cluster, namespace: str = ""
) -> tuple[dict[str, int], int]:
    """The same, and how many of all hold devices: one that is being deleted may."""
    rows = ResourceClaim.objects.filter(cluster=cluster)
    if namespace:
        rows = rows.filter(namespace=namespace)
    counted = rows.values_list("state").annotate(
        n=Count("pk"), holding=Count("pk", filter=Q(device_count__gt=0))
    )
    counts, holding = {state.value: 0 for state in ClaimState}, 0
    for state, number, held in counted:
        counts[state] = number
        holding += held
    return counts, holding


def claim_with_all(cluster: Cluster, namespace: str, name: str) -> ResourceClaim:
    """One claim with requests, devices and consumers. Raises DoesNotExist."""
    return ResourceClaim.objects.prefetch_related(
        "requests", "devices", "consumers"
    ).get(cluster=cluster, namespace=namespace, name=name)


def pods_of_claim(claim: ResourceClaim) -> QuerySet[Pod]:
    """Pods that name the claim or got it generated, and pods it is reserved for."""
    named = PodClaim.objects.filter(
        cluster=claim.cluster_id, namespace=claim.namespace, claim_name=claim.name
    )
    reserved = ClaimConsumer.objects.filter(claim=claim, resource="pods").exclude(
        uid=""
    )
    return (
        Pod.objects.filter(cluster=claim.cluster_id, namespace=claim.namespace)
        .filter(Q(pk__in=named.values("pod")) | Q(uid__in=reserved.values("uid")))
        .defer("raw")
        .order_by("name")
    )


def scheduler_messages(claims: Iterable[ResourceClaim]) -> dict[tuple[str, str], str]:
    """By (namespace, claim name): what the scheduler said to a pod that waits for it."""
    keys = {(claim.namespace, claim.name) for claim in claims}
    if not keys:
        return {}
    cluster_ids = {claim.cluster_id for claim in claims}
    rows = (
        PodClaim.objects.filter(
            cluster__in=cluster_ids,
            namespace__in={namespace for namespace, _ in keys},
            claim_name__in={name for _, name in keys},
        )
        .exclude(pod__scheduling_message="")
        .order_by("-pod__name")
        .values_list("namespace", "claim_name", "pod__scheduling_message")
    )
    return {
        (namespace, name): message
        for namespace, name, message in rows
        if (namespace, name) in keys
    }


def pod_names_of(cluster: Cluster, claims: Iterable[str]) -> dict[str, list[str]]:
    """By ``namespace/name`` of a claim: the pods that it is reserved for; one query."""
    names = set(claims)
    if not names:
        return {}
    rows = (
        ClaimConsumer.objects.filter(
            cluster=cluster,
            resource="pods",
            claim__namespace__in={name.partition("/")[0] for name in names},
            claim__name__in={name.partition("/")[2] for name in names},
        )
        .order_by("name")
        .values_list("claim__namespace", "claim__name", "name")
    )
    found: dict[str, list[str]] = {}
    for namespace, claim, pod in rows:
        if (name := f"{namespace}/{claim}") in names:
            found.setdefault(name, []).append(pod)
    return found


@dataclass(frozen=True, slots=True)
class Holder:
    """A claim that holds a device (or a share of it)."""

    claim: ResourceClaim
    result: AllocatedDevice

    @property
    def consumers(self) -> Sequence[ClaimConsumer]:
        return list(self.claim.consumers.all())


def holders_of_devices(
    cluster: Cluster, devices: Iterable[DeviceKey]
) -> dict[DeviceKey, list[Holder]]:
    """Who holds these devices, admin access included; two queries for any number."""
    wanted = set(devices)
    if not wanted:
        return {}
    rows = (
        AllocatedDevice.objects.filter(
            cluster=cluster,
            driver__in={driver for driver, _, _ in wanted},
            pool__in={pool for _, pool, _ in wanted},
            device__in={device for _, _, device in wanted},
        )
        .select_related("claim")
        .defer("claim__raw")
        .prefetch_related("claim__consumers")
        .order_by("claim__namespace", "claim__name")
    )
    found: dict[DeviceKey, list[Holder]] = {}
    for row in rows:
        key = (row.driver, row.pool, row.device)
        if key in wanted:
            found.setdefault(key, []).append(Holder(claim=row.claim, result=row))
    return found


def claims_on_node(cluster: Cluster, node_name: str) -> QuerySet[ResourceClaim]:
    """Claims whose allocation names this node."""
    return claim_rows(cluster).filter(node_name=node_name).order_by("namespace", "name")


def claims_of_class(cluster: Cluster, class_name: str) -> QuerySet[ResourceClaim]:
    """Claims with a request or subrequest of this class."""
    asking = ClaimRequest.objects.filter(
        cluster=cluster, class_name=class_name, claim__isnull=False
    )
    return (
        claim_rows(cluster)
        .filter(pk__in=asking.values("claim"))
        .order_by("namespace", "name")
    )


def templates_of_class(
    cluster: Cluster, class_name: str
) -> QuerySet[ResourceClaimTemplate]:
    """Templates with a request or subrequest of this class."""
    asking = ClaimRequest.objects.filter(
        cluster=cluster, class_name=class_name, template__isnull=False
    )
    return (
        ResourceClaimTemplate.objects.filter(
            cluster=cluster, pk__in=asking.values("template")
        )
        .defer("raw")
        .order_by("namespace", "name")
    )


def class_use_counts(cluster: Cluster) -> dict[str, tuple[int, int]]:
    """By class name: how many claims and how many templates ask for it."""
    rows = (
        ClaimRequest.objects.filter(cluster=cluster)
        .exclude(class_name="")
        .values_list("class_name")
        .annotate(Count("claim", distinct=True), Count("template", distinct=True))
    )
    return {name: (claims, templates) for name, claims, templates in rows}
