"""Taints of nodes: which say what state a node is in, and not what kind of node it is.

Work of a scenario has no tolerations: it is taken to tolerate what marks a kind of node
(who asks for GPUs tolerates the taint of GPU nodes), and nothing of a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from msgspec.structs import replace

from dra.objects import Node, NodeTaint
from dra.portal import DOMAIN
from dra.snapshot import Snapshot
from dra.taints import PREVENTING

_OF_A_STATE: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "node.cilium.io/",
    "cloud.google.com/impending-node-termination",
    "aws-node-termination-handler/",
    "karpenter.sh/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    f"{DOMAIN}/",
)
"""Keys of taints that a node has for a while begin so: cordoned, not ready, short of
something, starting, about to be taken away by an autoscaler, in quarantine."""
_CORDONED: Final = "node.kubernetes.io/unschedulable"
_MEMO: Final = "nodes without passing taints"


def is_passing(taint: NodeTaint) -> bool:
    """Whether a taint says what state its node is in: the next of the kind has it not."""
    return taint.key.startswith(_OF_A_STATE)


def without_passing(snapshot: Snapshot) -> frozenset[str] | None:
    """The nodes that no passing taint keeps pods off; None: that is all."""
    memo = snapshot.device_tables.memo
    known = cast(
        "tuple[Mapping[str, Node], frozenset[str] | None] | None", memo.get(_MEMO)
    )
    if known is None or known[0] is not snapshot.nodes:
        nodes = snapshot.nodes
        kept = frozenset(name for name, node in nodes.items() if not _is_kept_off(node))
        known = (nodes, kept if len(kept) < len(nodes) else None)
        memo[_MEMO] = known
    return known[1]


def _is_kept_off(node: Node) -> bool:
    return any(
        taint.effect in PREVENTING and is_passing(taint)
        for taint in node.spec.taints or ()
    )


def cordoned(node: Node, *, value: bool) -> Node:
    """The node cordoned or not, with the taint that a controller gives it for that."""
    taints = [t for t in node.spec.taints or () if t.key != _CORDONED]
    if value:
        taints.append(NodeTaint(key=_CORDONED, effect="NoSchedule"))
    spec = replace(node.spec, unschedulable=value, taints=taints or None)
    return replace(node, spec=spec)
