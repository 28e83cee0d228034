"""One kind's object → the columns its lists filter on. Pure functions, one per kind."""

from __future__ import annotations

from typing import Any

from dra import objects

Columns = dict[str, Any]

ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access"
ZONE_LABELS = (
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
)
INSTANCE_TYPE_LABELS = (
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
)


def namespace_columns(namespace: objects.Namespace) -> Columns:
    labels = namespace.metadata.labels or {}
    return {"admin_access": labels.get(ADMIN_ACCESS_LABEL) == "true"}


def node_columns(node: objects.Node) -> Columns:
    """A node without a Ready condition counts as ready: dumps often leave it out."""
    labels = node.metadata.labels or {}
    conditions = node.status.conditions or []
    return {
        "ready": all(c.status == "True" for c in conditions if c.type == "Ready"),
        "unschedulable": node.spec.unschedulable,
        "zone": _first_label(labels, ZONE_LABELS),
        "instance_type": _first_label(labels, INSTANCE_TYPE_LABELS),
    }


def class_columns(device_class: objects.DeviceClass) -> Columns:
    return {"extended_resource_name": device_class.spec.extended_resource_name or ""}


def rule_columns(rule: objects.DeviceTaintRule) -> Columns:
    selector = rule.spec.device_selector or objects.TaintRuleSelector()
    return {
        "driver": selector.driver or "",
        "pool": selector.pool or "",
        "device": selector.device or "",
        "effect": rule.spec.taint.effect,
    }


def slice_columns(slice_: objects.ResourceSlice) -> Columns:
    spec = slice_.spec
    return {
        "driver": spec.driver,
        "pool_name": spec.pool.name,
        "generation": spec.pool.generation,
        "slice_count": spec.pool.resource_slice_count,
        "node_name": spec.node_name or "",
        "all_nodes": bool(spec.all_nodes),
        "device_count": len(spec.devices or ()),
        "counter_set_count": len(spec.shared_counters or ()),
    }


def _first_label(labels: dict[str, str], names: tuple[str, ...]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def salvaged_slice_columns(raw: Columns) -> Columns:
    """Driver, pool and node of a slice that cannot be read, as far as they are text."""
    spec = raw.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    pool = spec.get("pool")
    pool = pool if isinstance(pool, dict) else {}
    found = {
        "driver": spec.get("driver"),
        "pool_name": pool.get("name"),
        "node_name": spec.get("nodeName"),
    }
    return {name: value for name, value in found.items() if isinstance(value, str)}
