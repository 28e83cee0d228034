"""``--pod``: a pod from a file, with what else the file brings for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dra.command.files import InputError, objects
from dra.errors import ObjectError
from dra.objects import Json, Pod, ResourceClaim, read
from dra.pod_needs import Needs, needs_of
from dra.snapshot import Snapshot
from dra.validation.gates import Gates

_NAMESPACED: Final = frozenset({"Pod", "ResourceClaim", "ResourceClaimTemplate"})
_BROUGHT: Final = frozenset({"DeviceClass", "ResourceClaim", "ResourceClaimTemplate"})
_DEFAULT_NAMESPACE: Final = "default"
_NEWEST: Final = "9999-12-31T23:59:59Z"
"""A class that is still to be created will be the newest of all."""


@dataclass(frozen=True, slots=True)
class Asked:
    """``snapshot`` has what the file brings; ``claims`` are to be placed together, none
    where the pod needs nothing of DRA. ``node_names``: None is every node. ``notes`` are
    sentences for standard error, ``settled`` why nothing is left to ask."""

    snapshot: Snapshot
    claims: list[ResourceClaim]
    node_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    settled: str = ""


def asked_of_pod(path: Path, snapshot: Snapshot, version: str, node: str) -> Asked:
    """What the one Pod of a file needs, on ``node`` alone if that is one.

    Claims, templates and classes of the file count before those of ``snapshot``. Raises
    InputError for a file without a pod, and for a pod of which something is missing.
    """
    found = [_placed(o) for o in objects(path)]
    pods = [o for o in found if o.get("kind") == "Pod"]
    if len(pods) != 1:
        raise InputError(f"--pod: one Pod is expected in {path}, {len(pods)} are there")
    brought = [o for o in found if o.get("kind") in _BROUGHT]
    snapshot = snapshot.edit(add=brought) if brought else snapshot
    try:
        pod = read(pods[0], Pod)
        gates = Gates.preset(version)
    except (ObjectError, ValueError) as error:
        raise InputError(f"--pod: {error}") from error
    needs = needs_of(
        snapshot,
        pod,
        extended_resources=gates.extended_resource,
        from_templates=True,
        node=snapshot.nodes[node] if node else None,
    )
    _refuse(needs)
    return Asked(
        snapshot=snapshot,
        claims=list(needs.waiting),
        node_names=needs.node_names,
        notes=tuple(_notes(needs)),
        settled="" if needs.waiting else _settled(pod, needs, node),
    )


def _placed(raw: Json) -> Json:
    """As it would be in the cluster: in a namespace, a class with its time."""
    meta = raw.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    if raw.get("kind") in _NAMESPACED:
        meta = {**meta, "namespace": meta.get("namespace") or _DEFAULT_NAMESPACE}
    elif raw.get("kind") == "DeviceClass":
        created = meta.get("creationTimestamp") or _NEWEST
        meta = {**meta, "creationTimestamp": created}
    return {**raw, "metadata": meta}


def _refuse(needs: Needs) -> None:
    if needs.absent:
        raise InputError(
            f"--pod: there is no claim and no template for {', '.join(needs.absent)}; "
            "put it into the file of the pod or the dump"
        )
    if needs.problem:
        raise InputError(f"--pod: {needs.problem}")
    if needs.extended and needs.extended.problems:
        first = needs.extended.problems[0]
        raise InputError(f"--pod: {first.path}: {first.message}")


def _notes(needs: Needs) -> Iterator[str]:
    for name in needs.plugin_nodes:
        yield (
            f"left out: node {name}, whose device plugin serves an extended resource of "
            "the pod; ask about it with --node"
        )


def _settled(pod: Pod, needs: Needs, node: str) -> str:
    name = pod.metadata.name or "(no name)"
    if needs.allocated:
        return f"The claims of pod {name} hold their devices: there is nothing to ask."
    if needs.extended and needs.extended.by_plugin:
        served = ", ".join(needs.extended.by_plugin)
        return (
            f"A device plugin of node {node} serves {served}: pod {name} needs nothing "
            "of DRA there."
        )
    return f"Pod {name} asks for no device of DRA."
