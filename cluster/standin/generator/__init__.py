"""A realistic cluster as plain objects: the same seed and moment, the same cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cluster.standin.generator import catalog
from cluster.standin.generator.base import Maker
from cluster.standin.generator.nodes import NodeMaker
from cluster.standin.generator.workloads import Workloads

Json = dict[str, Any]


def generate(
    *, nodes: int = 20, seed: int = 1, now: datetime | None = None
) -> list[Json]:
    """The objects of a cluster of ``nodes`` nodes, v1 form, without resourceVersions.

    Twenty nodes hold H100, A100 with MIG partitions, MI300X and CPUs; more nodes
    repeat the pattern. Ages count back from ``now``.
    """
    maker = Maker(seed=seed, now=now or datetime.now(UTC))
    catalog.add(maker)
    node_maker = NodeMaker(maker, total=nodes)
    made = [node_maker.make(position) for position in range(nodes)]
    for node in [node for node in made if node.kind == "mi300x"][-1:]:
        catalog.add_taint_rule(maker, node.name)
    Workloads(maker, made).add()
    return maker.objects
