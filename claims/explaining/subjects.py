"""Which claims wait, and which of them a scheduler would have to place together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from dra.allocation.placing import schedulable
from dra.errors import SelectorError
from dra.labels import matches_node
from dra.objects import Node, Pod, ResourceClaim
from dra.snapshot import NamespacedName, Snapshot

_ENDED: Final = frozenset({"Succeeded", "Failed"})
_NAMED: Final = 3


class NotWaiting(Exception):  # noqa: N818 - a state, not a fault
    """Nothing can be asked about the claim; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Claims that have to fit on one node together.

    ``claims`` wait, in the order of ``pod`` ("" where no pod names the claim);
    ``allocated`` are the pod's claims that hold devices already and so decide where
    it may run, ``absent`` its entries without a claim that can be read.
    ``node_names`` are the nodes that are left, None: all that take pods.
    """

    claims: tuple[ResourceClaim, ...]
    pod: str = ""
    allocated: tuple[ResourceClaim, ...] = ()
    absent: tuple[str, ...] = ()
    node_names: tuple[str, ...] | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for the same question about the same text of the claims."""
        concerned = (*self.claims, *self.allocated)
        return (
            *((c.metadata.uid, c.metadata.resource_version) for c in concerned),
            self.node_names,
        )

    @property
    def sentence(self) -> str:
        """What is asked beside the claim itself; empty where that is all."""
        parts = []
        if len(self.claims) > 1:
            names = ", ".join(c.metadata.name for c in self.claims)
            parts.append(
                f"Pod {self.pod} needs {len(self.claims)} claims on one node; they are "
                f"asked about together, in the pod's order: {names}."
            )
        if self.allocated:
            names = ", ".join(c.metadata.name for c in self.allocated)
            verb = "is" if len(self.allocated) == 1 else "are"
            parts.append(
                f"{names} of the same pod {verb} allocated already, so only "
                f"{self._nodes()} can be chosen."
            )
        if self.absent:
            names = ", ".join(self.absent)
            parts.append(
                f"Left out: {names} of the same pod, for which no claim can be read yet."
            )
        return " ".join(parts)

    def _nodes(self) -> str:
        names = self.node_names
        if names is None:
            return "the nodes that take pods"
        if not names:
            return "nodes that take no pods now"
        if len(names) > _NAMED:
            return f"{len(names):,} nodes"
        return ("node " if len(names) == 1 else "nodes ") + ", ".join(names)


def waiting_claims(snapshot: Snapshot) -> Iterator[ResourceClaim]:
    """Claims without an allocation that are not being deleted."""
    for claim in snapshot.claims.values():
        if claim.status.allocation is None and not claim.metadata.deletion_timestamp:
            yield claim


def subject_of(snapshot: Snapshot, namespace: str, name: str) -> Subject:
    """The claim and what its pod needs with it.

    Of several pods the first one by name that has no node yet counts. Raises
    NotWaiting for a claim that is allocated, goes away or cannot be read, and
    KeyError for one that does not exist.
    """
    claim = _readable(snapshot, namespace, name)
    if claim.status.allocation is not None:
        raise NotWaiting(
            f"The claim {namespace}/{name} is allocated: it does not wait."
        )
    if claim.metadata.deletion_timestamp:
        raise NotWaiting(f"The claim {namespace}/{name} is being deleted.")
    pods = _pods_by_claim(snapshot).get((namespace, name), ())
    if not pods:
        return Subject((claim,))
    return _of_pod(snapshot, claim, pods[0])


def _readable(snapshot: Snapshot, namespace: str, name: str) -> ResourceClaim:
    claim = snapshot.claims.get((namespace, name))
    if claim is not None:
        return claim
    for key, problem in snapshot.problems_by_object.items():
        if key == ("ResourceClaim", namespace, name):
            raise NotWaiting(f"The claim cannot be read: {problem}.")
    raise KeyError(name)


def _of_pod(snapshot: Snapshot, asked: ResourceClaim, pod: Pod) -> Subject:
    waiting: list[ResourceClaim] = []
    allocated: list[ResourceClaim] = []
    absent: list[str] = []
    for entry, name in _entries(pod):
        claim = snapshot.claims.get((pod.metadata.namespace, name))
        if claim is None:
            absent.append(entry)
        elif claim.status.allocation is not None:
            if claim not in allocated:
                allocated.append(claim)
        elif claim not in waiting:
            waiting.append(claim)
    assert asked in waiting
    return Subject(
        claims=tuple(waiting),
        pod=pod.metadata.name,
        allocated=tuple(allocated),
        absent=tuple(absent),
        node_names=_nodes(snapshot, allocated) if allocated else None,
    )


def _entries(pod: Pod) -> Iterator[tuple[str, str]]:
    """Each entry of the pod's claims with the claim's name, "" while it has none."""
    made = {
        status.name: status.resource_claim_name
        for status in pod.status.resource_claim_statuses or ()
    }
    for entry in pod.spec.resource_claims or ():
        if entry.resource_claim_name:
            yield entry.name, entry.resource_claim_name
        elif entry.name in made and made[entry.name] is None:
            continue  # Kubernetes found that this entry needs no claim.
        else:
            yield entry.name, made.get(entry.name) or ""


def _nodes(snapshot: Snapshot, allocated: Sequence[ResourceClaim]) -> tuple[str, ...]:
    """Nodes that take pods and on which all of the allocations can be used."""
    selectors = [
        claim.status.allocation.node_selector
        for claim in allocated
        if claim.status.allocation and claim.status.allocation.node_selector
    ]

    def usable(node: Node) -> bool:
        try:
            return all(matches_node(selector, node) for selector in selectors)
        except SelectorError:
            return False  # as the scheduler, which ends with an error

    return tuple(name for name in schedulable(snapshot) if usable(snapshot.nodes[name]))


def _pods_by_claim(snapshot: Snapshot) -> Mapping[NamespacedName, Sequence[Pod]]:
    """Pods that have not ended by the claims they name, those without a node first."""
    memo = snapshot.device_tables.memo
    found = memo.get("pods by claim")
    if found is None or found[0] is not snapshot.pods:
        by_claim: dict[NamespacedName, list[Pod]] = {}
        for pod in sorted(
            snapshot.pods.values(),
            key=lambda p: (bool(p.spec.node_name), p.metadata.name),
        ):
            if pod.status.phase in _ENDED or pod.metadata.deletion_timestamp:
                continue
            for _, name in _entries(pod):
                if name:
                    key = (pod.metadata.namespace, name)
                    by_claim.setdefault(key, []).append(pod)
        found = memo["pods by claim"] = (snapshot.pods, by_claim)
    return cast("Mapping[NamespacedName, Sequence[Pod]]", found[1])
