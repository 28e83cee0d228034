"""Who uses which claim, and which claims are bound to which node.

Pods are matched by uid where both sides have one: a pod of the same name that was
made anew is another pod.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from dra.objects import (
    ConsumerReference,
    NodeSelector,
    Pod,
    ResourceClaim,
)
from dra.snapshot import Snapshot

type ClaimKey = tuple[str, str]

PODS = "pods"
_ENDED = frozenset({"Succeeded", "Failed"})


class Consumer(NamedTuple):
    """One pod, known to the cluster or only named by a reservation."""

    namespace: str
    name: str
    uid: str

    @classmethod
    def of_pod(cls, pod: Pod) -> Consumer:
        meta = pod.metadata
        return cls(meta.namespace, meta.name, meta.uid)

    def is_meant_by(self, namespace: str, reference: ConsumerReference) -> bool:
        same_name = (namespace, reference.name) == (self.namespace, self.name)
        if reference.api_group or reference.resource != PODS or not same_name:
            return False
        return not self.uid or not reference.uid or self.uid == reference.uid


class ClaimIndex:
    """The ways from pods and nodes to claims, for one state of the claims."""

    def __init__(self, claims: Mapping[ClaimKey, ResourceClaim]) -> None:
        self.claims = claims
        self._by_consumer: dict[tuple[str, str], list[ClaimKey]] = {}
        self._by_node: dict[str, list[ClaimKey]] = {}
        for key, claim in claims.items():
            for reference in claim.status.reserved_for or ():
                if reference.resource == PODS and not reference.api_group:
                    name = (key[0], reference.name)
                    self._by_consumer.setdefault(name, []).append(key)
            allocation = claim.status.allocation
            if allocation is not None and allocation.node_selector is not None:
                node = only_node(allocation.node_selector)
                if node:
                    self._by_node.setdefault(node, []).append(key)

    def reserved_by(self, consumer: Consumer) -> Iterator[ClaimKey]:
        for key in self._by_consumer.get((consumer.namespace, consumer.name), ()):
            references = self.claims[key].status.reserved_for or ()
            if any(consumer.is_meant_by(key[0], r) for r in references):
                yield key

    def bound_to(self, node: str) -> Iterable[ClaimKey]:
        return self._by_node.get(node, ())


def only_node(selector: NodeSelector) -> str:
    """The node that a selector names as the only one; empty when it does not."""
    terms = selector.node_selector_terms or ()
    if len(terms) != 1 or terms[0].match_expressions:
        return ""
    fields = terms[0].match_fields or ()
    if len(fields) != 1 or fields[0].key != "metadata.name":
        return ""
    values = fields[0].values or ()
    return values[0] if fields[0].operator == "In" and len(values) == 1 else ""


def consumers_of(claim: ResourceClaim) -> Iterator[Consumer]:
    """The pods for which a claim is reserved."""
    for reference in claim.status.reserved_for or ():
        if reference.resource == PODS and not reference.api_group:
            namespace = claim.metadata.namespace
            yield Consumer(namespace, reference.name, reference.uid)


def find_pod(snapshot: Snapshot, consumer: Consumer) -> Pod | None:
    pod = snapshot.pods.get((consumer.namespace, consumer.name))
    if pod is None:
        return None
    uid = pod.metadata.uid
    return pod if not uid or not consumer.uid or uid == consumer.uid else None


def has_controller(pod: Pod) -> bool:
    """Whether something makes the pod anew when it goes."""
    return any(owner.controller for owner in pod.metadata.owner_references or ())


def is_of_daemon_set(pod: Pod) -> bool:
    return any(
        owner.controller and owner.kind == "DaemonSet"
        for owner in pod.metadata.owner_references or ()
    )


def pods_on(snapshot: Snapshot, nodes: Collection[str]) -> list[Pod]:
    """The pods of some nodes that have not ended, by namespace and name."""
    found = [
        pod
        for pod in snapshot.pods.values()
        if pod.spec.node_name in nodes and pod.status.phase not in _ENDED
    ]
    return sorted(found, key=lambda pod: (pod.metadata.namespace, pod.metadata.name))


def node_of_devices(snapshot: Snapshot, claim: ResourceClaim) -> str:
    """The node to which an allocated claim's devices belong; empty: none or several."""
    allocation = claim.status.allocation
    if allocation is None:
        return ""
    if allocation.node_selector is not None:
        node = only_node(allocation.node_selector)
        if node:
            return node
    nodes = set()
    for result in allocation.devices.results or ():
        pool = snapshot.pools.get((result.driver, result.pool))  # type: ignore[call-overload]  # equal to its pair
        nodes.add(pool.node_name if pool is not None else "")
    return nodes.pop() if len(nodes) == 1 else ""


def held_on(snapshot: Snapshot, node: str) -> list[ClaimKey]:
    """Claims that hold devices of slices of one node, admin access included."""
    found: dict[ClaimKey, None] = {}
    for key in snapshot.pool_index.by_node.get(node, ()):
        pool = snapshot.pools[key]
        own = {
            device.name
            for piece in pool.current
            if piece.spec.node_name == node
            for device in piece.spec.devices or ()
        }
        for holder in snapshot.in_use.pool(key).results():
            if holder.result.device in own or pool.node_name == node:
                found.setdefault(holder.claim_key)
    return sorted(found)
