"""On which nodes a claim may be allocated, and in which order they are tried.

A claim that a pod waits for is of use only where that pod may run: its node selector,
required affinity and tolerations narrow the choice, and so do its claims that are
allocated, or about to be. What it still waits for has to fit on the same node.
Cordoned and unready nodes are left out unless one is named, and so are those that the
repair of a double booking keeps others off: there the scheduler may take a device for
free that is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec

from allocator.choices import OPEN, NodePolicy
from allocator.models import AllocationRun
from claims.authoring.checking import gates_of
from claims.explaining import NotWaiting, subject_of
from claims.models import Pod
from cluster.writeback import node_taint
from cluster.writeback.tags import Role
from dra.allocation.placing import schedulable
from dra.names import NamespacedName
from dra.objects import AllocationResult, NodeTaint, ResourceClaim, read
from dra.pod_nodes import nodes_of
from dra.snapshot import Snapshot

Json = dict[str, Any]

_KEPT_OUT = ("node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready")


@dataclass(frozen=True, slots=True)
class Choice:
    """``node_names`` in the order in which they are tried; ``claims`` have to fit there
    together, the run's own among them. ``pod`` waits for them, "" where none does."""

    node_names: Sequence[str]
    claims: tuple[ResourceClaim, ...]
    pod: str = ""

    def nowhere(self, reason: str) -> str:
        """Why nothing fits, with what narrowed the choice."""
        said = reason if reason.endswith(".") else f"{reason}."
        if not self.pod:
            return said
        if not self.node_names:
            return (
                f"Pod {self.pod}, which waits for the claim, may run on none of the "
                "nodes that take pods: look at its node selector, affinity, tolerations "
                "and at the claims that it has got already."
            )
        with_it = (
            f", and all {len(self.claims)} claims that it waits for have to fit on one"
            if len(self.claims) > 1
            else ""
        )
        nodes = (
            "1 node" if len(self.node_names) == 1 else f"{len(self.node_names)} nodes"
        )
        return f"{said} Pod {self.pod} may run on {nodes}{with_it}."


def choice_for(
    run: AllocationRun,
    snapshot: Snapshot,
    claim: ResourceClaim,
    planned: Mapping[NamespacedName, Json],
) -> Choice:
    """Where the run's claim may go. ``planned`` are allocations, as JSON, that other
    claims are about to get, beside those of the runs under way.

    Raises ObjectError for a pod whose requirements cannot be read.
    """
    waiting, pod, settled = _companions(run, snapshot, claim, planned)
    if run.wanted_node:
        # Asked for by name: the person decides, and the other claims go their own way.
        return Choice((run.wanted_node,), (claim,))
    if pod is None:
        names = _untainted_first(snapshot, _open_nodes(snapshot))
        return Choice(ordered(names, run.policy, snapshot), (claim,))
    spec = pod.raw.get("spec") or {}
    spec = _heeding_no_guard(spec, snapshot)
    names = _open_nodes(snapshot, nodes_of(spec, snapshot, settled))
    return Choice(ordered(names, run.policy, snapshot), waiting, pod.name)


class Likeness(TypedDict):
    """Fields of an :class:`~cluster.writeback.Order` that a carrier gets from a pod."""

    tolerations: tuple[Json, ...]
    scheduler: str


def likeness_for(run: AllocationRun, node_name: str, snapshot: Snapshot) -> Likeness:
    """That of the pod that waits for the run's claim. Without a pod, what ``node_name``
    asks of every pod: the claim is meant for that node."""
    claim = snapshot.claims.get((run.namespace, run.claim_name))
    pod = _companions(run, snapshot, claim, {})[1] if claim is not None else None
    if pod is not None:
        scheduler = str((pod.raw.get("spec") or {}).get("schedulerName") or "")
        return Likeness(tolerations=tuple(_tolerations_of(pod)), scheduler=scheduler)
    node = snapshot.nodes.get(node_name)
    taints = (node.spec.taints or ()) if node is not None else ()
    return Likeness(tolerations=_tolerating(taints), scheduler="")


def _tolerating(taints: Iterable[NodeTaint]) -> tuple[Json, ...]:
    return tuple(
        {"key": t.key, "operator": "Exists", "effect": t.effect}
        for t in taints
        if t.key not in _KEPT_OUT
        and not node_taint.is_ours(t.key)
        and t.effect in {"NoSchedule", "NoExecute"}
    )


def ordered(names: Sequence[str], policy: str, snapshot: Snapshot) -> Sequence[str]:
    """``names`` as the policy tries them; ties stay in the order given."""
    if policy == NodePolicy.FIRST:
        return names
    used = _devices_in_use(snapshot)
    sign = -1 if policy == NodePolicy.PACK else 1
    return sorted(names, key=lambda name: sign * used.get(name, 0))


def _open_nodes(
    snapshot: Snapshot, names: Sequence[str] | None = None
) -> Sequence[str]:
    """``names`` (None: all that take pods) without those in quarantine."""
    closed = {
        name
        for name, key in _our_taints(snapshot)
        if node_taint.role_of(key) is Role.QUARANTINE
    }
    found = schedulable(snapshot) if names is None else names
    return [name for name in found if name not in closed] if closed else found


def _heeding_no_guard(spec: Json, snapshot: Snapshot) -> Json:
    """A guard is there for the moments of another run's write; the pod comes later."""
    guards = {
        key for _, key in _our_taints(snapshot) if node_taint.role_of(key) is Role.GUARD
    }
    if not guards:
        return spec
    more = [{"key": key, "operator": "Exists"} for key in sorted(guards)]
    return spec | {"tolerations": [*(spec.get("tolerations") or ()), *more]}


def _our_taints(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Node and key of each taint of a portal."""
    for name, node in snapshot.nodes.items():
        for taint in node.spec.taints or ():
            if node_taint.is_ours(taint.key):
                yield name, taint.key


def _untainted_first(snapshot: Snapshot, names: Sequence[str]) -> Sequence[str]:
    """No pod is known yet, and most pods tolerate nothing."""
    for_anybody = nodes_of({}, snapshot)
    if for_anybody is None:
        return names
    untainted = frozenset(for_anybody)
    return sorted(names, key=lambda name: name not in untainted)


def _devices_in_use(snapshot: Snapshot) -> dict[str, int]:
    """By node: how many devices of its own pools are held."""
    used: dict[str, int] = {}
    for key, use in snapshot.in_use.by_pool.items():
        pool = snapshot.pools.get(key)
        if pool is None or not use.holders:
            continue
        for piece in pool.current:
            if piece.spec.node_name:
                own = (d.name for d in piece.spec.devices or ())
                held = sum(1 for name in own if name in use.holders)
                used[piece.spec.node_name] = used.get(piece.spec.node_name, 0) + held
    return used


def _companions(
    run: AllocationRun,
    snapshot: Snapshot,
    claim: ResourceClaim,
    planned: Mapping[NamespacedName, Json],
) -> tuple[tuple[ResourceClaim, ...], Pod | None, list[ResourceClaim]]:
    """What the claim's pod waits for with it, the pod, and what it has or will have."""
    try:
        subject = subject_of(
            snapshot,
            run.namespace,
            run.claim_name,
            extended_resources=gates_of(run.cluster).extended_resource,
        )
    except (NotWaiting, KeyError):
        return (claim,), None, []
    pod = _row(run, subject.pod) if subject.pod else None
    if pod is None or pod.node_name:
        return (claim,), None, []
    coming = _under_way(run, subject.claims) | {
        key[1]: plan for key, plan in planned.items() if key[0] == run.namespace
    }
    waiting: list[ResourceClaim] = []
    settled = list(subject.allocated)
    for each in subject.claims:
        plan = coming.get(each.metadata.name)
        if plan is None or each.metadata.name == run.claim_name:
            waiting.append(each)
        else:
            settled.append(_holding(each, plan))
    return tuple(waiting), pod, settled


def _under_way(run: AllocationRun, claims: Iterable[ResourceClaim]) -> dict[str, Json]:
    """Plans, by claim name, that other runs of these claims are writing."""
    names = {c.metadata.name for c in claims} - {run.claim_name}
    if not names:
        return {}
    runs = (
        AllocationRun.objects.filter(
            cluster_id=run.cluster_id,
            namespace=run.namespace,
            claim_name__in=names,
            state__in=OPEN,
            ticket__isnull=False,
            plan__isnull=False,
        )
    ).values_list("claim_name", "plan")
    return {name: plan for name, plan in runs if isinstance(plan, dict)}


def _holding(claim: ResourceClaim, plan: Json) -> ResourceClaim:
    allocation = read(plan, AllocationResult)
    status = msgspec.structs.replace(claim.status, allocation=allocation)
    return msgspec.structs.replace(claim, status=status)


def _row(run: AllocationRun, pod_name: str) -> Pod | None:
    return Pod.objects.filter(
        cluster_id=run.cluster_id, namespace=run.namespace, name=pod_name
    ).first()


def _tolerations_of(pod: Pod) -> list[Json]:
    found = (pod.raw.get("spec") or {}).get("tolerations")
    return [entry for entry in found or () if isinstance(entry, dict)]
