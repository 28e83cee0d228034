"""What one pod needs on one node: its claims in order, and that of its extended resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from dra.errors import ObjectError
from dra.extended_resources import (
    ExtendedClaim,
    ServedBy,
    claim_for,
    classes_by_resource,
    plugin_nodes,
)
from dra.objects import Json, Meta, Node, Pod, PodResourceClaim, ResourceClaim, write
from dra.pod_nodes import nodes_of
from dra.snapshot import Snapshot

EXTENDED_RESOURCES: Final = "extended resources"
"""The entry of a pod's claim that the scheduler makes for its extended resources."""
_ENDED: Final = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class Needs:
    """The claims of one pod, and where it may run.

    ``waiting`` have no devices yet, in the scheduler's order: the pod's own entries, then
    the claim of ``extended`` if one is still to be made. ``allocated`` hold devices,
    ``absent`` are entries without a claim that can be read. ``plugin_nodes`` serve one of
    the extended resources by a device plugin, so that the pod asks DRA for less there.
    ``node_names`` are the nodes that are left, without ``plugin_nodes``; None: all that
    take pods. ``own_rules`` says that the pod itself or taints of nodes narrow them,
    ``problem`` what of the pod's fields cannot be read, as a sentence.
    """

    waiting: tuple[ResourceClaim, ...]
    allocated: tuple[ResourceClaim, ...] = ()
    absent: tuple[str, ...] = ()
    extended: ExtendedClaim | None = None
    plugin_nodes: tuple[str, ...] = ()
    node_names: tuple[str, ...] | None = None
    own_rules: bool = False
    problem: str = ""


def is_over(pod: Pod) -> bool:
    """Whether the pod has ended or is going away."""
    return pod.status.phase in _ENDED or bool(pod.metadata.deletion_timestamp)


def entries(pod: Pod) -> Iterator[tuple[PodResourceClaim, str]]:
    """Each entry of the pod's claims with the claim's name, "" while it has none.

    The claim that the scheduler has made for extended resources comes last.
    """
    made = {
        status.name: status.resource_claim_name
        for status in pod.status.resource_claim_statuses or ()
    }
    for entry in pod.spec.resource_claims or ():
        if entry.resource_claim_name:
            yield entry, entry.resource_claim_name
        elif entry.name in made and made[entry.name] is None:
            continue  # Kubernetes found that this entry needs no claim.
        else:
            yield entry, made.get(entry.name) or ""
    if name := extended_claim_name(pod):
        yield PodResourceClaim(name=EXTENDED_RESOURCES, resource_claim_name=name), name


def extended_claim_name(pod: Pod) -> str:
    """The claim that the scheduler has made for the pod's extended resources, or ""."""
    status = pod.status.extended_resource_claim_status
    return status.resource_claim_name if status else ""


def needs_of(
    snapshot: Snapshot,
    pod: Pod,
    *,
    extended_resources: bool = True,
    from_templates: bool = False,
    node: Node | None = None,
) -> Needs:
    """What ``pod`` needs in ``snapshot``.

    ``extended_resources`` is the gate DRAExtendedResource. ``from_templates``: an entry
    whose claim is not made yet counts as one made of its template. With ``node`` extended
    resources are those that its device plugins leave to DRA, and no node is left out.
    """
    waiting: list[ResourceClaim] = []
    allocated: list[ResourceClaim] = []
    absent: list[str] = []
    for entry, name in entries(pod):
        claim = snapshot.claims.get((pod.metadata.namespace, name))
        if claim is None and from_templates and not name:
            claim = _from_template(snapshot, pod, entry)
        if claim is None:
            absent.append(entry.name)
        elif claim.status.allocation is None:
            waiting += [claim] if claim not in waiting else []
        elif claim not in allocated:
            allocated.append(claim)
    spec = write(pod.spec)
    extended = _extended(snapshot, pod, spec, node) if extended_resources else None
    if extended and extended.claim:
        waiting.append(extended.claim)
    served = plugins_of(snapshot, extended) if extended and node is None else ()
    own, problem = _own_nodes(spec, snapshot)
    if problem:
        node_names: tuple[str, ...] | None = ()
    else:
        node_names = nodes_of(spec, snapshot, allocated, served)
    return Needs(
        waiting=tuple(waiting),
        allocated=tuple(allocated),
        absent=tuple(absent),
        extended=extended,
        plugin_nodes=served,
        node_names=node_names,
        own_rules=own is not None,
        problem=problem,
    )


def served_by(snapshot: Snapshot) -> Mapping[str, ServedBy]:
    """Every extended resource that a class of the snapshot stands for."""
    memo = snapshot.device_tables.memo
    found = memo.get("extended resources")
    if found is None or found[0] is not snapshot.classes:
        known = classes_by_resource(snapshot)
        found = memo["extended resources"] = (snapshot.classes, known)
    return cast("Mapping[str, ServedBy]", found[1])


def plugins_of(snapshot: Snapshot, extended: ExtendedClaim) -> tuple[str, ...]:
    """Nodes whose device plugin serves one of the resources that a class stands for."""
    found: set[str] = set()
    for resource in extended.served_by:
        found.update(plugin_nodes_of(snapshot, resource))
    return tuple(sorted(found))


def plugin_nodes_of(snapshot: Snapshot, resource: str) -> Sequence[str]:
    """Nodes whose device plugin serves ``resource``, by name."""
    memo = snapshot.device_tables.memo
    kept = memo.get("plugin nodes")
    if kept is None or kept[0] is not snapshot.nodes:
        kept = memo["plugin nodes"] = (snapshot.nodes, {})
    found = cast("dict[str, Sequence[str]]", kept[1])
    if resource not in found:
        found[resource] = plugin_nodes(snapshot.nodes.values(), resource)
    return found[resource]


def _extended(
    snapshot: Snapshot, pod: Pod, spec: Json, node: Node | None
) -> ExtendedClaim | None:
    """What is to become of the extended resources of a pod that has no node yet."""
    if pod.spec.node_name or is_over(pod) or extended_claim_name(pod):
        return None
    if not _asks_any(pod):
        return None
    found = claim_for(
        spec,
        served_by(snapshot),
        node,
        pod_name=pod.metadata.name,
        namespace=pod.metadata.namespace,
    )
    return found if found and (found.served_by or found.problems) else None


def _asks_any(pod: Pod) -> bool:
    """Quick: most containers name nothing with a domain of its own."""
    return any(
        "/" in name
        for container in (
            *(pod.spec.init_containers or ()),
            *(pod.spec.containers or ()),
        )
        if container.resources
        for listed in (container.resources.limits, container.resources.requests)
        for name in listed or ()
    )


def _own_nodes(spec: Json, snapshot: Snapshot) -> tuple[tuple[str, ...] | None, str]:
    try:
        return nodes_of(spec, snapshot), ""
    except ObjectError as error:
        return (), (
            f"No node can be chosen, because the pod's {error.path} cannot be read: "
            f"{error.reason}."
        )


def _from_template(
    snapshot: Snapshot, pod: Pod, entry: PodResourceClaim
) -> ResourceClaim | None:
    namespace = pod.metadata.namespace
    name = entry.resource_claim_template_name or ""
    template = snapshot.templates.get((namespace, name))
    if template is None:
        return None
    meta = Meta(name=f"{pod.metadata.name}-{entry.name}", namespace=namespace)
    return ResourceClaim(metadata=meta, spec=template.spec.spec)
