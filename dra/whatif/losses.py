"""Claims that lose what they have, and the pods that have to move with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from dra.names import ObjectKey
from dra.objects import Base, Pod, ResourceClaim
from dra.pod_needs import entries, is_over
from dra.whatif.consumers import (
    ClaimKey,
    Consumer,
    consumers_of,
    find_pod,
    has_controller,
    held_on,
    is_of_daemon_set,
    node_of_devices,
    pods_on,
)
from dra.whatif.words import names
from dra.whatif.world import World, released

type Reason = Literal["drained", "node removed", "evicted", "vanished", "pod removed"]


class Cause(NamedTuple):
    """Where something was lost, what did it in words, and how many seconds after."""

    node: str
    detail: str = ""
    after: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Lost:
    """One claim and why it lost its devices.

    ``claim`` is as it was. ``after`` are seconds from the change on, 0 unless a
    toleration has seconds. ``pinned``: a consumer that is no pod keeps it
    allocated, so it goes nowhere.
    """

    claim: ResourceClaim
    reason: Reason
    node: str
    detail: str = ""
    after: int = 0
    pinned: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Uprooted:
    """A pod, or a claim that no pod uses, which has to find a place again."""

    pod: Consumer | None
    claims: tuple[ClaimKey, ...]
    after: int = 0


class Losses:
    """What a run lost so far, in the order in which it happened."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.lost: dict[ClaimKey, Lost] = {}
        self.uprooted: list[Uprooted] = []
        self._over: set[ClaimKey] = set()
        """Claims that an edit released: what used them needs no place any more."""

    def in_order(self) -> list[Uprooted]:
        """Who moves first: what is lost first, then by namespace and name."""

        def order(one: Uprooted) -> tuple[int, str, str]:
            name = one.pod[:2] if one.pod else one.claims[0]
            return (one.after, *name)

        return sorted(self.uprooted, key=order)

    def leave_nodes(self, nodes: Collection[str], reason: Reason) -> None:
        """The pods of some nodes go, those of a DaemonSet for good; "drained" lets these
        stay.

        A pod that is only named by a reservation, or is not bound yet, counts as one of
        the node when the claim's devices are.
        """
        snapshot = self.world.snapshot
        pods = pods_on(snapshot, nodes)
        if reason == "drained":
            self._note_staying([pod for pod in pods if is_of_daemon_set(pod)])
            pods = [pod for pod in pods if not is_of_daemon_set(pod)]
            self._note_alone(pods)
        gone = {Consumer.of_pod(pod): Cause(pod.spec.node_name) for pod in pods}
        ended = {Consumer.of_pod(pod) for pod in pods if is_of_daemon_set(pod)}
        bound: dict[ClaimKey, Cause] = {}
        for node in sorted(nodes):
            for key in (*held_on(snapshot, node), *self.world.index.bound_to(node)):
                if key in snapshot.claims:
                    bound.setdefault(key, Cause(node))
        for key, cause in bound.items():
            for consumer in consumers_of(snapshot.claims[key]):
                pod = find_pod(snapshot, consumer)
                if pod is None or not pod.spec.node_name:
                    gone.setdefault(consumer, cause)
        self._uproot(gone, bound, reason, ended=ended)

    def let_go(self, keys: Iterable[ClaimKey]) -> None:
        """Claims are released by hand, as if their pods had ended: what lost them before
        does not look for another place, and what would lose them later neither.
        """
        self._over.update(keys)
        gone = [one for one in self.uprooted if self._over.intersection(one.claims)]
        if gone:
            self.uprooted = [one for one in self.uprooted if one not in gone]
            pods = (one.pod for one in gone if one.pod is not None)
            self.world.edit(remove=map(_pod_key, pods))

    def evict(self, taints: Mapping[ClaimKey, tuple[int, str]]) -> None:
        """The pods of claims are deleted, seconds and taint given.

        A claim that is reserved for no pod stays as it is: only pods are deleted.
        """
        snapshot = self.world.snapshot
        gone: dict[Consumer, Cause] = {}
        for key, (after, taint) in taints.items():
            claim = snapshot.claims[key]
            cause = Cause(node_of_devices(snapshot, claim), taint, after)
            for consumer in consumers_of(claim):
                gone[consumer] = min(cause, gone.get(consumer, cause), key=_seconds)
        self._uproot(gone, {}, "evicted")

    def vanish(self, devices: Mapping[ClaimKey, Sequence[str]]) -> None:
        """Devices of claims are no longer published; their pods are made anew."""
        snapshot = self.world.snapshot
        gone: dict[Consumer, Cause] = {}
        bound: dict[ClaimKey, Cause] = {}
        for key, lost in devices.items():
            claim = snapshot.claims[key]
            node = node_of_devices(snapshot, claim)
            bound[key] = Cause(node, ", ".join(lost))
            gone |= dict.fromkeys(consumers_of(claim), bound[key])
        self._uproot(gone, bound, "vanished")

    def remove_pods(self, pods: Iterable[Pod]) -> None:
        """Pods go and nothing comes in their place; their last claims are released."""
        gone = {Consumer.of_pod(pod): Cause(pod.spec.node_name) for pod in pods}
        self._uproot(gone, {}, "pod removed", ended=gone.keys())

    def _note_staying(self, pods: list[Pod]) -> None:
        with_claims = [p.metadata.name for p in pods if p.spec.resource_claims]
        if with_claims:
            self.world.notes.append(
                f"Pods of a DaemonSet stay on a drained node: {names(with_claims)}."
            )

    def _note_alone(self, pods: list[Pod]) -> None:
        alone = [
            pod.metadata.name
            for pod in pods
            if pod.spec.resource_claims and not has_controller(pod) and not is_over(pod)
        ]
        if alone:
            self.world.notes.append(
                "Pods without a controller are taken as made anew by hand, and kubectl drain "
                f"needs --force for them: {names(alone)}."
            )

    def _uproot(
        self,
        gone: Mapping[Consumer, Cause],
        bound: Mapping[ClaimKey, Cause],
        reason: Reason,
        *,
        ended: Collection[Consumer] = (),
    ) -> None:
        """Take consumers from their claims; those that have none left lose everything.

        ``bound`` are claims that lose their devices whoever uses them; in the place of
        ``ended`` consumers comes no other.
        """
        snapshot, index = self.world.snapshot, self.world.index
        gone = {**gone, **self._ended_among(bound)}
        ended = {*ended, *(one for one in gone if self._is_over(one))}
        leaving: dict[ClaimKey, list[Consumer]] = {key: [] for key in bound}
        for consumer in gone:
            for key in index.reserved_by(consumer):
                leaving.setdefault(key, []).append(consumer)
        changed: list[Base] = []
        for key, consumers in leaving.items():
            claim = snapshot.claims[key]
            if claim.status.allocation is None:
                continue
            causes = [gone[c] for c in consumers]
            cause = bound.get(key) or max(causes, key=_seconds)
            left = [
                reference
                for reference in claim.status.reserved_for or ()
                if not any(c.is_meant_by(key[0], reference) for c in consumers)
            ]
            if not left:
                self._lose(Lost(claim, reason, *cause))
                changed.append(released(claim))
                continue
            if key in bound and reason in ("node removed", "vanished"):
                keeping = ", ".join(f"{r.resource} {r.name}" for r in left[:3])
                cause = cause._replace(detail=keeping)
                self._lose(Lost(claim, reason, *cause, pinned=True))
            status = replace(claim.status, reserved_for=left)
            changed.append(replace(claim, status=status))
        changed += [
            _waiting(pod)
            for c in gone
            if c not in ended and (pod := find_pod(snapshot, c)) is not None
        ]
        self._move(gone, leaving, ended)
        # Nothing comes in the place of what has ended, so that waits for nothing either.
        self.world.edit(add=changed, remove=map(_pod_key, sorted(ended)))

    def _ended_among(self, bound: Mapping[ClaimKey, Cause]) -> dict[Consumer, Cause]:
        """Pods that have ended and are still named by claims: a controller is about to
        take them out."""
        snapshot = self.world.snapshot
        return {
            consumer: cause
            for key, cause in bound.items()
            for consumer in consumers_of(snapshot.claims[key])
            if (pod := find_pod(snapshot, consumer)) is not None and is_over(pod)
        }

    def _claims_of(self, consumer: Consumer) -> Iterable[ClaimKey]:
        """Those that a pod names, in its order, then others that are reserved for it."""
        reserved = self.world.index.reserved_by(consumer)
        pod = find_pod(self.world.snapshot, consumer)
        named = entries(pod) if pod is not None else ()
        mine = ((consumer.namespace, name) for _, name in named if name)
        return dict.fromkeys((*mine, *reserved))

    def _is_over(self, consumer: Consumer) -> bool:
        """Whether nothing comes in its place: it has ended, is going already (then what
        replaces it exists or comes anyway), or an edit has released a claim of it."""
        pod = find_pod(self.world.snapshot, consumer)
        if pod is not None and is_over(pod):
            return True
        return bool(self._over) and not self._over.isdisjoint(self._claims_of(consumer))

    def _lose(self, lost: Lost) -> None:
        meta = lost.claim.metadata
        self.lost.setdefault((meta.namespace, meta.name), lost)

    def _move(
        self,
        gone: Mapping[Consumer, Cause],
        concerned: Iterable[ClaimKey],
        ended: Collection[Consumer],
    ) -> None:
        snapshot = self.world.snapshot
        moving: set[ClaimKey] = set()
        for consumer, cause in gone.items():
            keys = self._claims_of(consumer)
            claims = tuple(key for key in keys if key in snapshot.claims)
            moving.update(claims)
            if claims and consumer not in ended:
                self.uprooted.append(Uprooted(consumer, claims, cause.after))
        for key in concerned:
            found = self.lost.get(key)
            goes = found is not None and not found.pinned and key not in self._over
            if found is not None and goes and key not in moving:
                self.uprooted.append(Uprooted(None, (key,), found.after))


def _pod_key(consumer: Consumer) -> ObjectKey:
    return ObjectKey("Pod", consumer.namespace, consumer.name)


def _seconds(cause: Cause) -> int:
    return cause.after


def _waiting(pod: Pod) -> Pod:
    """The pod as the one that comes in its place: on no node yet."""
    return replace(pod, spec=replace(pod.spec, node_name=""))
