"""Which claims wait, and which of them a scheduler would have to place together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, cast

import msgspec

from claims.explaining import words
from dra.extended_resources import ExtendedClaim
from dra.names import NamespacedName
from dra.objects import Pod, ResourceClaim
from dra.pod_needs import Needs, entries, is_over, needs_of
from dra.portal import is_of_a_portal
from dra.snapshot import ObjectKey, Snapshot

_encode: Final = msgspec.msgpack.Encoder().encode


class NotWaiting(Exception):  # noqa: N818 - a state, not a fault
    """Nothing can be asked about it; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Claims that have to fit on one node together.

    ``claims`` wait, in the order of ``pod`` ("" where no pod names the claim); the last
    may be the one that is still to be made of the pod's ``extended`` resources.
    ``allocated`` are the pod's claims that hold devices already and so decide where
    it may run, ``absent`` its entries without a claim that can be read.
    ``node_names`` are the nodes that are left, None: all that take pods; without
    ``plugin_nodes``, where a device plugin serves an extended resource. ``own_rules``:
    the pod's own fields or taints of nodes narrow them; ``problem``: some cannot be read.
    """

    claims: tuple[ResourceClaim, ...]
    pod: str = ""
    allocated: tuple[ResourceClaim, ...] = ()
    absent: tuple[str, ...] = ()
    node_names: tuple[str, ...] | None = None
    extended: ExtendedClaim | None = None
    plugin_nodes: tuple[str, ...] = ()
    own_rules: bool = False
    problem: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for the same question about the same text of the claims."""
        to_be_made = self.to_be_made
        return (
            *map(_version_of, self.existing),
            "allocated",
            *map(_version_of, self.allocated),
            (self.pod, _encode(to_be_made)) if to_be_made else None,
            self.node_names,
        )

    @property
    def to_be_made(self) -> ResourceClaim | None:
        """The claim that the scheduler would make of the pod's extended resources."""
        return self.extended.claim if self.extended else None

    @property
    def existing(self) -> tuple[ResourceClaim, ...]:
        """Those of ``claims`` that are in the cluster."""
        return self.claims[:-1] if self.to_be_made else self.claims

    @property
    def sentence(self) -> str:
        """What is asked beside the claim itself; empty where that is all."""
        parts = (
            words.together(self.pod, [c.metadata.name for c in self.existing])
            if not self.to_be_made
            else "",
            words.extended(
                self.pod,
                [c.metadata.name for c in self.existing],
                self.extended,
                self.plugin_nodes,
            ),
            words.places(
                self.pod,
                [c.metadata.name for c in self.allocated],
                self.node_names,
                own_rules=self.own_rules,
            ),
            self.problem,
            words.left_out(self.absent),
        )
        return " ".join(part for part in parts if part)


class Ask(Protocol):
    """:func:`subject_of` or :func:`subject_of_pod`."""

    def __call__(
        self, snapshot: Snapshot, namespace: str, name: str, *, extended_resources: bool
    ) -> Subject: ...


def waiting_claims(snapshot: Snapshot) -> Iterator[ResourceClaim]:
    """Claims without an allocation that are not being deleted."""
    for claim in snapshot.claims.values():
        if claim.status.allocation is None and not claim.metadata.deletion_timestamp:
            yield claim


def subject_of(
    snapshot: Snapshot, namespace: str, name: str, *, extended_resources: bool = True
) -> Subject:
    """The claim and what its pod needs with it.

    Of several pods the first one by name that has no node yet counts.
    ``extended_resources`` is the gate DRAExtendedResource. Raises NotWaiting for a claim
    that is allocated, goes away or cannot be read, and KeyError for one that does not
    exist.
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
    needs = needs_of(snapshot, pods[0], extended_resources=extended_resources)
    assert claim in needs.waiting
    return _subject(pods[0], needs)


def subject_of_pod(
    snapshot: Snapshot, namespace: str, name: str, *, extended_resources: bool = True
) -> Subject:
    """What a pod waits for: its claims without devices, and its extended resources.

    Raises NotWaiting where there is nothing to ask, and KeyError for a pod that does not
    exist or uses neither.
    """
    pod = snapshot.pods.get((namespace, name))
    if pod is None:
        problem = snapshot.problems_by_object.get(ObjectKey("Pod", namespace, name))
        if problem is None:
            raise KeyError(name)
        raise NotWaiting(f"The pod cannot be read: {problem}.")
    if is_over(pod):
        raise NotWaiting(f"The pod {namespace}/{name} has ended or is being deleted.")
    needs = needs_of(snapshot, pod, extended_resources=extended_resources)
    if not needs.waiting:
        raise NotWaiting(words.nothing_to_ask(f"{namespace}/{name}", pod, needs))
    return _subject(pod, needs)


def _subject(pod: Pod, needs: Needs) -> Subject:
    return Subject(
        claims=needs.waiting,
        pod=pod.metadata.name,
        allocated=needs.allocated,
        absent=needs.absent,
        node_names=needs.node_names,
        extended=needs.extended,
        plugin_nodes=needs.plugin_nodes,
        own_rules=needs.own_rules,
        problem=needs.problem,
    )


def _version_of(claim: ResourceClaim) -> tuple[str, ...]:
    """One state of one claim. By name too: in a dump that somebody wrote by hand, claims
    have neither uid nor version."""
    meta = claim.metadata
    return (meta.namespace, meta.name, meta.uid, meta.resource_version)


def _readable(snapshot: Snapshot, namespace: str, name: str) -> ResourceClaim:
    claim = snapshot.claims.get((namespace, name))
    if claim is not None:
        return claim
    for key, problem in snapshot.problems_by_object.items():
        if key == ("ResourceClaim", namespace, name):
            raise NotWaiting(f"The claim cannot be read: {problem}.")
    raise KeyError(name)


def _pods_by_claim(snapshot: Snapshot) -> Mapping[NamespacedName, Sequence[Pod]]:
    """Pods that have not ended by the claims they name, those without a node first.

    Those of a portal are left out: a carrier is bound to the node of one plan, and the
    next plan may be for another.
    """
    memo = snapshot.device_tables.memo
    found = memo.get("pods by claim")
    if found is None or found[0] is not snapshot.pods:
        by_claim: dict[NamespacedName, list[Pod]] = {}
        for pod in sorted(
            snapshot.pods.values(),
            key=lambda p: (bool(p.spec.node_name), p.metadata.name),
        ):
            if is_over(pod) or is_of_a_portal(pod):
                continue
            for _, name in entries(pod):
                if name:
                    key = (pod.metadata.namespace, name)
                    by_claim.setdefault(key, []).append(pod)
        found = memo["pods by claim"] = (snapshot.pods, by_claim)
    return cast("Mapping[NamespacedName, Sequence[Pod]]", found[1])
