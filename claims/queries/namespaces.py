"""Claims, pods, templates and held devices by namespace; one grouped query each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    Count,
    F,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Concat

from claims.models import (
    WAITING_POD,
    AllocatedDevice,
    ClaimRequest,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
)
from inventory.models import Cluster, Namespace


class HeldOf(NamedTuple):
    """Devices of a driver that were asked for by a class; empty: it is not known."""

    driver: str
    class_name: str
    devices: int


def claim_states(cluster: Cluster, names: Iterable[str]) -> dict[str, dict[str, int]]:
    """Namespace → state → number of claims."""
    rows = ResourceClaim.objects.filter(cluster=cluster, namespace__in=list(names))
    found: dict[str, dict[str, int]] = {}
    counted = rows.values_list("namespace", "state").annotate(Count("pk"))
    for namespace, state, number in counted.order_by("namespace", "state"):
        found.setdefault(namespace, {})[state] = number
    return found


def held_devices(cluster: Cluster, names: Iterable[str]) -> dict[str, list[HeldOf]]:
    """Namespace → what its claims hold, the most first; admin access holds nothing.

    A device of which several claims have a share counts for each of them, as in the
    use over time of a namespace.
    """
    rows = AllocatedDevice.objects.filter(
        cluster=cluster, claim__namespace__in=list(names), admin_access=False
    )
    request = Case(
        When(subrequest="", then=F("name")),
        default=Concat("name", Value("/"), "subrequest"),
    )
    asked = (
        ClaimRequest.objects.filter(claim=OuterRef("claim"))
        .annotate(whole=request)
        .filter(whole=OuterRef("request"))
        .order_by()
        .values("class_name")[:1]
    )
    counted = (
        rows.order_by()
        .annotate(class_name=Coalesce(Subquery(asked), Value("")))
        .values_list("claim__namespace", "driver", "class_name")
        .annotate(n=Count("pk"))
        .order_by("claim__namespace", "-n", "driver", "class_name")
    )
    found: dict[str, list[HeldOf]] = {}
    for namespace, driver, class_name, number in counted:
        found.setdefault(namespace, []).append(HeldOf(driver, class_name, number))
    return found


def waiting_pods(cluster: Cluster, names: Iterable[str]) -> dict[str, int]:
    """Namespace → pods that have no node: with claims, of a pod group, or for extended
    resources."""
    rows = Pod.objects.filter(
        WAITING_POD, cluster=cluster, namespace__in=list(names)
    ).values_list("namespace")
    return dict(rows.annotate(Count("pk")))


def template_counts(cluster: Cluster, names: Iterable[str]) -> dict[str, int]:
    """Namespace → number of templates."""
    rows = ResourceClaimTemplate.objects.filter(
        cluster=cluster, namespace__in=list(names)
    ).values_list("namespace")
    return dict(rows.annotate(Count("pk")))


def unlisted(cluster: Cluster) -> list[str]:
    """Namespaces of claims that are not in the cluster's list: a dump may lack it."""
    listed = Namespace.objects.filter(cluster=cluster).values("name")
    rows = ResourceClaim.objects.filter(cluster=cluster).exclude(namespace__in=listed)
    names = rows.order_by("namespace").values_list("namespace", flat=True)
    return list(names.distinct()[:100])


def with_counts(rows: QuerySet[Namespace]) -> QuerySet[Namespace]:
    """Adds ``claim_total``, ``held_total`` and ``waiting_total``: to sort by them."""
    here: dict[str, Any] = {
        "cluster": OuterRef("cluster"),
        "namespace": OuterRef("name"),
    }
    held = AllocatedDevice.objects.filter(
        cluster=OuterRef("cluster"),
        claim__namespace=OuterRef("name"),
        admin_access=False,
    )
    return rows.annotate(
        claim_total=_number(ResourceClaim.objects.filter(**here), "namespace"),
        held_total=_number(held, "claim__namespace"),
        waiting_total=_number(
            Pod.objects.filter(WAITING_POD, **here).order_by(), "namespace"
        ),
    )


def _number(rows: QuerySet[Any, Any], group: str) -> Coalesce:
    counted = rows.order_by().values(group).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
