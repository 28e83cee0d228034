"""Small clusters for scenarios, and the answer by the plain way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from dra.allocation import DoesNotFit, Fits, place
from dra.allocation.placing import Question, schedulable
from dra.allocation.request import with_defaults
from dra.errors import DRAError
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot
from dra.usage import device_states
from dra.whatif import read_scenario, run
from tests.dra.allocation.world import device_class
from tests.dra.builders import Json, claim, device, node, piece, result


def home(name: str, gpus: int = 2, **spec: Any) -> list[Json]:
    """A node, and a pool of its name with this many devices."""
    made = [device(f"gpu-{number}") for number in range(gpus)]
    return [
        node(name, rack="r1"),
        piece(f"{name}-slice", *made, pool=name, nodeName=name, **spec),
    ]


def cluster(*objects: Json | list[Json], **options: Any) -> Snapshot:
    flat = [o for one in objects for o in (one if isinstance(one, list) else [one])]
    if not any(o["kind"] == "DeviceClass" for o in flat):
        flat.append(device_class())
    return Snapshot.build(flat, **options)


def held(
    name: str, *devices: str, on: str, pods: Sequence[str] = (), **fields: Any
) -> Json:
    """A claim that holds devices of a node's pool, reserved for pods."""
    made = claim(name, *(result(d, pool=on, **fields) for d in devices))
    made["status"]["reservedFor"] = [
        {"resource": "pods", "name": pod, "uid": f"uid-{pod}"} for pod in pods
    ]
    return made


def pod(
    name: str, *claims: str, on: str = "", namespace: str = "default", **meta: Any
) -> Json:
    spec: Json = {
        "resourceClaims": [{"name": c, "resourceClaimName": c} for c in claims]
    }
    if on:
        spec["nodeName"] = on
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            **meta,
        },
        "spec": spec,
    }


def ask(snapshot: Snapshot, *edits: Json, **fields: Any) -> Any:
    """The result (:class:`dra.whatif.Result`) of a scenario of these edits; ``fields`` are its others."""
    options = {
        name: fields.pop(name)
        for name in ("features", "quirks", "stop", "progress")
        if name in fields
    }
    return run(snapshot, read_scenario({"edits": list(edits), **fields}), **options)


def asking_for(count: int = 1, name: str = "want", **fields: Any) -> Json:
    """A claim spec for the workload."""
    body = {"deviceClassName": "gpu", "count": count, **fields}
    return {
        "metadata": {"name": name},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": body}]}},
    }


# --- the plain way ---


def plainly(
    snapshot: Snapshot, claims: Sequence[ResourceClaim], policy: str, **options: Any
) -> list[tuple[str, list[str]] | str]:
    """Each claim placed by itself with a new question about all nodes.

    Node and devices, or the kind of answer of one that gets none.
    """
    found: list[tuple[str, list[str]] | str] = []
    for one in claims:
        wanted = with_defaults(one)
        try:
            outcome = _plain(snapshot, wanted, policy, options)
        except DRAError:
            found.append("refused")
            continue
        if not isinstance(outcome, Fits):
            found.append(
                "does not fit"
                if outcome is None or isinstance(outcome, DoesNotFit)
                else "undecided"
            )
            continue
        (allocation,) = outcome.allocations
        devices = [f"{r.pool}/{r.device}" for r in allocation.devices.results or ()]
        found.append((outcome.node_name, devices))
        status = replace(wanted.status, allocation=allocation)
        snapshot = snapshot.edit(add=[replace(wanted, status=status)])
    return found


def _plain(
    snapshot: Snapshot, wanted: ResourceClaim, policy: str, options: dict[str, Any]
) -> Any:
    if policy == "firstFit":
        return place(snapshot, [wanted], **options)
    fits = []
    fatal = []
    for name in schedulable(snapshot):
        question = Question(snapshot, [wanted], **options)
        try:
            outcome = question.on_node(name)
        except DRAError as error:
            if not getattr(error, "node_only", False):
                fatal.append(error)
            continue
        if isinstance(outcome, Fits):
            part = _part_taken(snapshot, name)
            sign = 1 if policy == "spread" else -1
            fits.append((-_rank(outcome, wanted), sign * part, name, outcome))
    if fatal and (options.get("quirks") == "1.36" or not fits):
        raise fatal[0]
    return min(fits, key=lambda fit: fit[:3])[3] if fits else None


def _rank(outcome: Fits, wanted: ResourceClaim) -> int:
    got = {r.request for a in outcome.allocations for r in a.devices.results or ()}
    return sum(
        8 - place_
        for request in wanted.spec.devices.requests or ()
        for place_, sub in enumerate(request.first_available or ())
        if f"{request.name}/{sub.name}" in got
    )


def _part_taken(snapshot: Snapshot, name: str) -> float:
    taken = total = 0
    for key in snapshot.pool_index.by_node.get(name, ()):
        results = snapshot.in_use.pool(key).results()
        states = device_states(snapshot.pools[key], results, {})
        total += len(states)
        taken += sum(
            u.state in ("in use", "shared", "blocked") for u in states.values()
        )
    return taken / total if total else 0.0
