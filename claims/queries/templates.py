"""Templates and pods for lists and for one page."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from claims.models import (
    Pod,
    PodClaim,
    PodResource,
    ResourceClaim,
    ResourceClaimTemplate,
)
from inventory.models import Cluster


def template_rows(cluster: Cluster) -> QuerySet[ResourceClaimTemplate]:
    """Templates with ``claim_count``: how many claims were made from them."""
    made = (
        ResourceClaim.objects.filter(
            cluster=cluster,
            namespace=OuterRef("namespace"),
            template_name=OuterRef("name"),
        )
        .order_by()
        .values("template_name")
        .annotate(n=Count("pk"))
        .values("n")
    )
    return (
        ResourceClaimTemplate.objects.filter(cluster=cluster)
        .defer("raw")
        .annotate(claim_count=Coalesce(Subquery(made), 0))
    )


def template_with_all(
    cluster: Cluster, namespace: str, name: str
) -> ResourceClaimTemplate:
    """One template with its requests. Raises DoesNotExist."""
    return ResourceClaimTemplate.objects.prefetch_related("requests").get(
        cluster=cluster, namespace=namespace, name=name
    )


def pod_rows(cluster: Cluster) -> QuerySet[Pod]:
    """Pods with their claim entries and extended resources."""
    rows = Pod.objects.filter(cluster=cluster).defer("raw")
    return rows.prefetch_related("claims", "resources")


def pods_on_node(cluster: Cluster, node_name: str) -> QuerySet[Pod]:
    return pod_rows(cluster).filter(node_name=node_name).order_by("namespace", "name")


def pods_of_template(template: ResourceClaimTemplate) -> QuerySet[Pod]:
    using = PodClaim.objects.filter(
        cluster=template.cluster_id,
        namespace=template.namespace,
        template_name=template.name,
    )
    return Pod.objects.filter(pk__in=using.values("pod")).defer("raw").order_by("name")


def pods_of_class(cluster: Cluster, resources: Iterable[str]) -> QuerySet[Pod]:
    """Pods that ask for one of the extended ``resources`` that a class stands for."""
    asking = PodResource.objects.filter(cluster=cluster, name__in=list(resources))
    return (
        pod_rows(cluster)
        .filter(pk__in=asking.values("pod"))
        .order_by("namespace", "name")
    )
