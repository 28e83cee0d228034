"""Pods as units: their claims, that of their extended resources, and their nodes.

What of a pod decides about its node is what :mod:`dra.pod_nodes` reads. For extended
resources the scheduler makes a claim as it places the pod, and that claim goes with
the pod: one that comes in its place gets a claim anew, from the classes of then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from dra.container_asks import is_extended_resource
from dra.errors import ObjectError
from dra.extended_resources import (
    CLAIM_ANNOTATION,
    ServedBy,
    claim_for,
)
from dra.objects import (
    Json,
    Meta,
    Pod,
    PodGroup,
    PodResourceClaim,
    ResourceClaim,
    write,
)
from dra.pod_needs import (
    entries,
    extended_claim_name,
    is_over,
    plugin_nodes_of,
    plugins_of,
    served_by,
)
from dra.pod_nodes import nodes_of
from dra.portal import is_of_a_portal
from dra.whatif.consumers import ClaimKey, Consumer
from dra.whatif.placing import Unit
from dra.whatif.world import World

POD_CLAIM_ANNOTATION: Final = "resource.kubernetes.io/pod-claim-name"
"""Of claims that a controller makes of a template for a pod."""
_SHOWN: Final = 3
"""Names that a sentence spells out."""


class Extended(NamedTuple):
    """What becomes of the extended resources of a pod.

    ``claim`` is the one that the scheduler would make, ``nodes`` those that are left
    (None: all), ``problem`` why the pod can go nowhere; ``invalid``: because of what it
    asks, whatever the cluster has.
    """

    claim: ResourceClaim | None = None
    nodes: frozenset[str] | None = None
    problem: str = ""
    invalid: bool = False


class Pods:
    """Makes units of pods; nodes and classes do not change while it is used."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._admitted: dict[bytes, frozenset[str] | str | None] = {}
        self._sizes: dict[tuple[str, str], tuple[int, int]] = {}
        """Pods of a gang, and how many of them no gate holds back."""
        self._made: dict[tuple[str, str, str], ResourceClaim] = {}
        """Claims of templates by namespace, pod or group, and entry."""
        self._names: set[ClaimKey] = set()
        """Those of these claims."""

    def waiting(self, namespace: str = "") -> list[Pod]:
        """The pods on no node that wait for devices, in the scheduler's order: those of
        the highest priority first, then the oldest, then by name. One that has no time
        is new. Pods with scheduling gates are left out, and that is noted."""
        found: list[Pod] = []
        gated: list[Pod] = []
        for pod in self.world.snapshot.pods.values():
            if namespace in ("", pod.metadata.namespace) and self._waits(pod):
                (gated if pod.spec.scheduling_gates else found).append(pod)
        self._note_gated(gated)
        return sorted(found, key=_turn)

    def _waits(self, pod: Pod) -> bool:
        if pod.spec.node_name or is_over(pod) or is_of_a_portal(pod):
            return False
        return _names_claims(pod) or self._asks_devices(pod)

    def _asks_devices(self, pod: Pod) -> bool:
        return not self._served.isdisjoint(_asked(pod))

    @cached_property
    def _served(self) -> frozenset[str]:
        """The resources that a class stands for, or stood for at first."""
        world = self.world
        return frozenset((*served_by(world.before), *served_by(world.for_search)))

    def together(self, namespace: str = "") -> Iterator[tuple[list[Pod], int | None]]:
        """Those that wait, in order, the pods of a gang at the place of its first.

        With each how many of them the scheduler has to place for any to be placed, None
        for a single pod. Source: the plugin GangScheduling of Kubernetes 1.36.
        """
        waiting = self.waiting(namespace)
        gangs: dict[tuple[str, str], list[Pod]] = {}
        for pod in waiting:
            if (key := self._gang(pod)) is not None:
                gangs.setdefault(key, []).append(pod)
        for pod in waiting:
            key = self._gang(pod)
            if key is None:
                yield [pod], None
            elif (members := gangs.pop(key, None)) is not None:
                yield members, max(self._least(key) - self._others(key, members), 0)

    def _group(self, pod: Pod) -> PodGroup | None:
        named = pod.spec.scheduling_group
        key = (pod.metadata.namespace, named.pod_group_name if named else "")
        return self.world.for_search.pod_groups.get(key)

    def _gang(self, pod: Pod) -> tuple[str, str] | None:
        """The pod's group, if that is one whose pods go together."""
        group = pod.spec.scheduling_group
        key = (pod.metadata.namespace, group.pod_group_name if group else "")
        return key if self._least(key) else None

    def _least(self, key: tuple[str, str]) -> int:
        group = self.world.for_search.pod_groups.get(key)
        policy = group.spec.scheduling_policy if group else None
        return policy.gang.min_count if policy and policy.gang else 0

    def _members(self, key: tuple[str, str]) -> list[Pod]:
        pods = self.world.for_search.pods.values()
        return [pod for pod in pods if not is_over(pod) and self._gang(pod) == key]

    def _others(self, key: tuple[str, str], waiting: Sequence[Pod]) -> int:
        """Pods of a gang that have a node, or need no devices to get one."""
        names = {pod.metadata.name for pod in waiting}
        members = self._members(key)
        return sum(p.metadata.name not in names and _is_free(p) for p in members)

    def _too_few(self, key: tuple[str, str]) -> str:
        """Why a gang cannot be whole yet, empty where it can."""
        if key not in self._sizes:
            pods = self._members(key)
            self._sizes[key] = (len(pods), sum(map(_is_free, pods)))
        (members, free), least = self._sizes[key], self._least(key)
        if free >= least:
            return ""
        exist = "1 exists" if members == 1 else f"{members:,} exist"
        if members >= least:
            exist = f"{members - free:,} of its {members:,} are held back by gates"
        return f"Its group {key[1]} is a gang of at least {least:,} pods, and {exist}."

    def unit(self, pod: Pod) -> Unit:
        """A pod of the cluster; with a problem where a claim of it is missing.

        A claim that is not made yet is made of its template, as a controller does.
        """
        consumer = Consumer.of_pod(pod)
        claims = []
        for entry, name in entries(pod):
            if name or not entry.resource_claim_template_name:
                claim = self.world.claim((consumer.namespace, name)) if name else None
                missing = f"Its claim {name or entry.name} does not exist."
            else:
                claim = self._from_template(pod, entry)
                template = entry.resource_claim_template_name
                missing = f"Its claim template {template} does not exist."
            if claim is None:
                return Unit(consumer.name, consumer, (), problem=missing)
            claims.append(claim)
        claims = each_once(claims)
        made = extended_claim_name(pod)
        extended = Extended() if made else self._extended_of(pod)
        unit = self._unit(pod, claims, extended)
        key = self._gang(pod)
        if key is not None and (problem := self._too_few(key)):
            return dataclasses.replace(unit, problem=problem)
        return unit

    def again(self, pod: Pod, keys: Iterable[ClaimKey]) -> Unit:
        """The pod that comes in the place of ``pod`` and wants the claims ``keys``.

        Its claim of extended resources keeps the name that it had.
        """
        old: ResourceClaim | None = None
        claims = []
        for key in keys:
            claim = self.world.claim(key)
            if claim is None:
                continue
            if _is_extended(pod, claim):
                old = claim
            else:
                claims.append(claim)
        extended = self._extended_of(pod)
        if old is not None and extended.claim is not None:
            made = replace(old, spec=extended.claim.spec)
            extended = extended._replace(claim=made)
        return self._unit(pod, claims, extended)

    def extended(self, spec: Json, name: str, namespace: str) -> Extended:
        """Of a pod with ``spec``, in JSON."""
        world, snapshot = self.world, self.world.for_search
        served: Mapping[str, ServedBy] = {}
        if world.extended_resources:
            served = served_by(snapshot)
        found = claim_for(spec, served, pod_name=name, namespace=namespace)
        if found is None:
            return Extended()
        if found.problems:
            return Extended(problem=found.problems[0].message, invalid=True)
        nodes: frozenset[str] | None = None
        plugins = plugins_of(snapshot, found)
        if plugins:
            nodes = frozenset(snapshot.nodes) - frozenset(plugins)
            self._note_left_out(found.served_by, plugins)
        for resource in found.without_class:
            offering = frozenset(plugin_nodes_of(snapshot, resource))
            if not offering:
                return Extended(problem=_nobody(resource, world))
            nodes = offering if nodes is None else nodes & offering
        claim = found.claim
        return Extended(self._named(claim) if claim else None, nodes)

    # --- parts ---

    def _from_template(self, pod: Pod, entry: PodResourceClaim) -> ResourceClaim | None:
        """Made for the pod, or for its group where that asks the very same."""
        meta, group = pod.metadata, self._group(pod)
        user = pod.metadata.name
        if group is not None and entry in (group.spec.resource_claims or ()):
            user = group.metadata.name
            for status in group.status.resource_claim_statuses or ():
                if status.name == entry.name and status.resource_claim_name:
                    key = (meta.namespace, status.resource_claim_name)
                    return self.world.claim(key)
        at = (meta.namespace, user, entry.name)
        name = entry.resource_claim_template_name or ""
        template = self.world.for_search.templates.get((meta.namespace, name))
        if template is None or at in self._made:
            return self._made.get(at)
        claim = ResourceClaim(
            metadata=Meta(
                name=f"{user}-{entry.name}",
                namespace=meta.namespace,
                labels=template.spec.metadata.labels,
                annotations={POD_CLAIM_ANNOTATION: entry.name},
            ),
            spec=template.spec.spec,
        )
        made = self._made[at] = self._named(claim)
        self._names.add((meta.namespace, made.metadata.name))
        return made

    def _unit(
        self, pod: Pod, claims: Sequence[ResourceClaim], extended: Extended
    ) -> Unit:
        consumer = Consumer.of_pod(pod)
        admitted = self._admitted_of(pod)
        problem = admitted if isinstance(admitted, str) else extended.problem
        nodes = None if isinstance(admitted, str) else admitted
        if extended.nodes is not None:
            nodes = extended.nodes if nodes is None else nodes & extended.nodes
        own = (extended.claim,) if extended.claim else ()
        return Unit(consumer.name, consumer, (*claims, *own), nodes, problem)

    def _extended_of(self, pod: Pod) -> Extended:
        if not any(map(is_extended_resource, _asked(pod))):
            return Extended()  # quick: most pods ask none
        return self.extended(write(pod.spec), pod.metadata.name, pod.metadata.namespace)

    def _admitted_of(self, pod: Pod) -> frozenset[str] | str | None:
        """Nodes that the pod's own fields leave, None: all; a text: a problem."""
        spec = pod.spec
        rules = (spec.node_name, spec.node_selector, spec.affinity, spec.tolerations)
        key = msgspec.msgpack.encode(rules)
        if key not in self._admitted:
            try:
                nodes = nodes_of(write(spec), self.world.for_search)
                self._admitted[key] = None if nodes is None else frozenset(nodes)
            except ObjectError as error:
                self._admitted[key] = (
                    f"No node can be chosen, because the pod's {error.path} cannot be "
                    f"read: {error.reason}."
                )
        return self._admitted[key]

    def _named(self, claim: ResourceClaim) -> ResourceClaim:
        """Under a name that no claim has; the API server would add letters to it."""
        namespace, base = claim.metadata.namespace, claim.metadata.name
        name, number = base, 0
        while self._is_taken((namespace, name)):
            number += 1
            name = f"{base}-{number}"
        return replace(claim, metadata=replace(claim.metadata, name=name))

    def _is_taken(self, key: ClaimKey) -> bool:
        return key in self._names or self.world.is_taken(key)

    def _note_left_out(self, served: Collection[str], plugins: Sequence[str]) -> None:
        names = ", ".join(sorted(served)[:_SHOWN])
        many = len(plugins) != 1
        note = (
            f"{len(plugins):,} node{'s' if many else ''} with a device plugin for {names} "
            f"{'are' if many else 'is'} left out for pods that ask for it: what is free "
            "there is not known here."
        )
        self._note(note)

    def _note_gated(self, pods: Sequence[Pod]) -> None:
        if not pods:
            return
        gates = {g.name for pod in pods for g in pod.spec.scheduling_gates or ()}
        many = len(pods) != 1
        self._note(
            f"{len(pods):,} pod{'s' if many else ''} {'are' if many else 'is'} held back by "
            f"scheduling gates ({', '.join(sorted(gates)[:_SHOWN])}) and not tried."
        )

    def _note(self, note: str) -> None:
        if note not in self.world.notes:
            self.world.notes.append(note)


def each_once(claims: Iterable[ResourceClaim]) -> list[ResourceClaim]:
    """Claims without those that a pod names again: it uses one claim, not two."""
    known = {(c.metadata.namespace, c.metadata.name): c for c in claims}
    return list(known.values())


def _is_free(pod: Pod) -> bool:
    """Whether no gate keeps the scheduler from it; one with a node has passed them."""
    return bool(pod.spec.node_name or not pod.spec.scheduling_gates)


def _turn(pod: Pod) -> tuple[int, bool, str, str, str]:
    """Source: the plugin PrioritySort of the scheduler of Kubernetes 1.36."""
    meta, made = pod.metadata, pod.metadata.creation_timestamp
    return (-(pod.spec.priority or 0), not made, made or "", meta.namespace, meta.name)


def _is_extended(pod: Pod, claim: ResourceClaim) -> bool:
    if CLAIM_ANNOTATION in (claim.metadata.annotations or {}):
        return True
    return claim.metadata.name == extended_claim_name(pod)


def _nobody(resource: str, world: World) -> str:
    if world.extended_resources:
        return f"It asks for {resource}, which no class and no node's device plugin serves."
    return (
        f"It asks for {resource}, which no node's device plugin serves; classes do not "
        "while the gate DRAExtendedResource is off."
    )


def _names_claims(pod: Pod) -> bool:
    return any(name or e.resource_claim_template_name for e, name in entries(pod))


def _asked(pod: Pod) -> Iterator[str]:
    """Names of all resources that containers ask."""
    for container in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ())):
        if container.resources:
            yield from container.resources.limits or ()
            yield from container.resources.requests or ()
