"""Parts of a claim's status: results, node selector, reservation, MIG placements."""

from __future__ import annotations

from typing import Any

from cluster.standin.generator import devices
from cluster.standin.generator.nodes import MadeNode

Json = dict[str, Any]


def node_selector(node: str) -> Json:
    """The nodeSelector of an allocation whose devices are on one node."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    return {"nodeSelectorTerms": [{"matchFields": [field]}]}


def result(request: str, driver: str, pool: str, device: str, **more: Any) -> Json:
    """One entry of ``allocation.devices.results``."""
    return {
        "request": request,
        "driver": driver,
        "pool": pool,
        "device": device,
        **more,
    }


def reserved(pod: Json) -> Json:
    """The entry of ``status.reservedFor`` for a pod."""
    meta = pod["metadata"]
    return {"resource": "pods", "name": meta["name"], "uid": meta["uid"]}


def placements(
    node: MadeNode, index: int, profiles: tuple[str | None, ...]
) -> list[str]:
    """Partitions of one GPU for these profiles that do not overlap."""
    taken: set[int] = set()
    names: list[str] = []
    for wanted in profiles:
        profile = next(p for p in devices.PROFILES if p.name == wanted)
        start = next(
            s
            for s in profile.starts
            if not taken & set(range(s, min(s + profile.slices, 8)))
        )
        taken |= set(range(start, min(start + profile.slices, 8)))
        short = profile.name.replace(".", "")
        names.append(f"gpu-{index}-mig-{short}-{profile.id}-{start}")
    published = {device["name"] for device in node.free[devices.NVIDIA]}
    assert published.issuperset(names)
    return names
