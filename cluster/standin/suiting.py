"""Whether a pod may go to a node: cordoned, ready, selector, affinity, taints."""

from __future__ import annotations

from typing import Any

from dra.errors import DRAError
from dra.labels import matches_node
from dra.objects import Node, NodeSelector, NodeTaint, read

Json = dict[str, Any]

_KEEPING_AWAY = ("NoSchedule", "NoExecute")


def suits(pod: Json, node: Node) -> bool:
    """What kube-scheduler's node plugins say, as far as the stand-in knows nodes."""
    spec = pod.get("spec") or {}
    return _schedulable(node) and _selected(spec, node) and not _repelled(spec, node)


def _schedulable(node: Node) -> bool:
    ready = [c.status for c in node.status.conditions or () if c.type == "Ready"]
    return not node.spec.unschedulable and all(status == "True" for status in ready)


def _selected(spec: Json, node: Node) -> bool:
    labels = node.metadata.labels or {}
    wanted = spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return True
    try:
        return matches_node(read(required, NodeSelector), node)
    except DRAError:
        return False


def _repelled(spec: Json, node: Node) -> bool:
    tolerations = spec.get("tolerations") or []
    return any(
        taint.effect in _KEEPING_AWAY
        and not any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in node.spec.taints or ()
    )


def _tolerates(toleration: Json, taint: NodeTaint) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.effect:
        return False
    if toleration.get("key") and toleration["key"] != taint.key:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return (toleration.get("value") or "") == taint.value and bool(
        toleration.get("key")
    )
