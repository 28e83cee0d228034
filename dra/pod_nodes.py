"""The nodes on which a pod may run, as far as it and its claims say.

What counts of a pod is what the scheduler requires of a node by labels and taints: node
name, node selector, required node affinity, tolerations. CPU, memory, ports, other pods
and preferences do not.

Source of the rules: the plugins NodeName, NodeUnschedulable, TaintToleration and
NodeAffinity of the scheduler of Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

from dra.allocation.placing import schedulable
from dra.errors import ObjectError, SelectorError
from dra.labels import matches_node
from dra.objects import (
    Base,
    DeviceTaint,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    NodeTaint,
    ResourceClaim,
    SelectorRequirement,
    Toleration,
    read,
)
from dra.snapshot import Snapshot
from dra.taints import untolerated

_AFFINITY: Final = (
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
)
_NAMED: Final = ("nodeName", "nodeSelector", "affinity", "tolerations")
_KEPT: Final = 512
"""Answers that a snapshot keeps: pods of one workload ask the same."""


class _Tolerations(Base, frozen=True):
    tolerations: list[Toleration] | None = None


def usable_nodes(
    snapshot: Snapshot, allocated: Sequence[ResourceClaim]
) -> tuple[str, ...]:
    """Nodes that take pods and on which all of the allocations can be used."""
    selectors = [
        claim.status.allocation.node_selector
        for claim in allocated
        if claim.status.allocation and claim.status.allocation.node_selector
    ]
    if not selectors:
        return tuple(schedulable(snapshot))

    def usable(node: Node) -> bool:
        try:
            return all(matches_node(selector, node) for selector in selectors)
        except SelectorError:
            return False  # as the scheduler, which ends with an error

    return tuple(name for name in schedulable(snapshot) if usable(snapshot.nodes[name]))


def nodes_of(
    pod_spec: Mapping[str, Any],
    snapshot: Snapshot,
    allocated: Sequence[ResourceClaim] = (),
    without: Collection[str] = (),
) -> tuple[str, ...] | None:
    """Nodes that take pods, fulfil what the pod requires of a node, have no taint that
    keeps it off and can be used with the ``allocated`` claims, but none of ``without``;
    None if nothing narrows them.

    ``pod_spec`` is JSON. Raises ObjectError, the path beginning at the pod's ``spec``, for
    requirements that cannot be read.
    """
    admitted = _admitted(pod_spec, snapshot)
    if admitted is None and not (allocated or without):
        return None
    usable = usable_nodes(snapshot, allocated)
    excluded = frozenset(without)
    return tuple(
        node
        for node in usable
        if node not in excluded and (admitted is None or node in admitted)
    )


def _admitted(
    pod_spec: Mapping[str, Any], snapshot: Snapshot
) -> Collection[str] | None:
    """Nodes that the pod's own fields leave; None: all that take pods."""
    memo = snapshot.device_tables.memo
    kept = memo.get("admitted nodes")
    if kept is None or kept[0] is not snapshot.nodes or len(kept[1]) > _KEPT:
        kept = memo["admitted nodes"] = (snapshot.nodes, {})
    found = cast("dict[str, frozenset[str] | None]", kept[1])
    key = repr([pod_spec.get(name) for name in _NAMED])
    if key not in found:
        found[key] = _asked(pod_spec, snapshot)
    return found[key]


def _asked(pod_spec: Mapping[str, Any], snapshot: Snapshot) -> frozenset[str] | None:
    required = _required(pod_spec)
    name = pod_spec.get("nodeName")
    tainted = {} if name else _tainted(snapshot)
    if not (required or name or tainted):
        return None
    tolerations = _tolerations(pod_spec) if tainted else []
    return frozenset(
        node
        for node in schedulable(snapshot)
        if (not name or node == name)
        and untolerated(tainted.get(node, ()), tolerations) is None
        and _fulfils(snapshot, node, required)
    )


def _tainted(snapshot: Snapshot) -> Mapping[str, Sequence[DeviceTaint]]:
    """Nodes with taints; those of a node mean the same as those of a device."""
    memo = snapshot.device_tables.memo
    found = memo.get("tainted nodes")
    if found is None or found[0] is not snapshot.nodes:
        tainted = {
            name: [_as_of_device(taint) for taint in node.spec.taints]
            for name, node in snapshot.nodes.items()
            if node.spec.taints
        }
        found = memo["tainted nodes"] = (snapshot.nodes, tainted)
    return cast("Mapping[str, Sequence[DeviceTaint]]", found[1])


def _as_of_device(taint: NodeTaint) -> DeviceTaint:
    return DeviceTaint(key=taint.key, value=taint.value, effect=taint.effect)


def _tolerations(pod_spec: Mapping[str, Any]) -> list[Toleration]:
    try:
        found = read({"tolerations": pod_spec.get("tolerations")}, _Tolerations)
    except ObjectError as error:
        raise _unreadable(f"spec.{error.path}", error.reason) from None
    return found.tolerations or []


def _fulfils(
    snapshot: Snapshot, node: str, required: Sequence[tuple[str, NodeSelector]]
) -> bool:
    for path, selector in required:
        try:
            if not matches_node(selector, snapshot.nodes[node]):
                return False
        except SelectorError as error:
            raise _unreadable(path, str(error)) from None
    return True


def _required(pod_spec: Mapping[str, Any]) -> list[tuple[str, NodeSelector]]:
    found: list[tuple[str, NodeSelector]] = []
    labels = pod_spec.get("nodeSelector")
    if isinstance(labels, dict) and labels:
        terms = [
            SelectorRequirement(key=key, operator="In", values=[str(value)])
            for key, value in labels.items()
        ]
        selector = NodeSelector(
            node_selector_terms=[NodeSelectorTerm(match_expressions=terms)]
        )
        found.append(("spec.nodeSelector", selector))
    value: Any = pod_spec
    for step in _AFFINITY.split(".")[1:]:
        value = value.get(step) if isinstance(value, dict) else None
    if value is not None:
        try:
            found.append((_AFFINITY, read(value, NodeSelector)))
        except ObjectError as error:
            below = f".{error.path}" if error.path else ""
            raise _unreadable(_AFFINITY + below, error.reason) from None
    return found


def _unreadable(path: str, reason: str) -> ObjectError:
    return ObjectError(kind="Pod", name="", path=path, reason=reason)
