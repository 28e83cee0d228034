"""Device classes: what they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from inventory.models import Cluster, DeviceClass


def class_rows(cluster: Cluster) -> QuerySet[DeviceClass]:
    """With the raw object: classes are few and their selectors are what lists show."""
    return DeviceClass.objects.filter(cluster=cluster)


def expressions(raw: Any) -> list[str]:
    """The CEL selectors of a class or request, all of which have to be true."""
    spec = raw.get("spec") if isinstance(raw, dict) else None
    selectors = spec.get("selectors") if isinstance(spec, dict) else None
    found = []
    for selector in selectors if isinstance(selectors, list) else ():
        cel = selector.get("cel") if isinstance(selector, dict) else None
        if isinstance(cel, dict) and isinstance(cel.get("expression"), str):
            found.append(cel["expression"])
    return found


def configs(raw: Any) -> list[Any]:
    """What the class passes to drivers."""
    spec = raw.get("spec") if isinstance(raw, dict) else None
    found = spec.get("config") if isinstance(spec, dict) else None
    return found if isinstance(found, list) else []


def extended_resource_names(cluster_id: int) -> frozenset[str]:
    """The extended resources that classes name; those that every class has are not told."""
    rows = DeviceClass.objects.filter(cluster_id=cluster_id)
    named = rows.exclude(extended_resource_name="")
    return frozenset(named.values_list("extended_resource_name", flat=True))


def same_extended_resource(
    cluster: Cluster, device_class: DeviceClass
) -> Sequence[str]:
    """Other classes that offer the same extended resource name."""
    name = device_class.extended_resource_name
    if not name:
        return []
    rows = DeviceClass.objects.filter(cluster=cluster, extended_resource_name=name)
    return list(rows.exclude(pk=device_class.pk).values_list("name", flat=True)[:20])
