"""Writing with a guard."""

from __future__ import annotations

from typing import Any

from cluster.writeback import (
    Order,
    Outcome,
)
from cluster.writeback.guarded import GuardedWriter
from tests.cluster.guarded_world import QUICK, GuardedWorld, options
from tests.cluster.standin import scheduled as small

RULE = {"by": "rule", "taint_rules": "safe"}
TAINT = {"by": "node-taint"}


def writer(world: GuardedWorld, **changes: Any) -> GuardedWriter:
    return GuardedWriter(world.client, options(**changes), patience=QUICK)


def write(world: GuardedWorld, order: Order, **changes: Any) -> Outcome:
    return writer(world, **changes).write(order)


def partitions() -> list[dict[str, Any]]:
    """Slices of a GPU that can be given as a whole or as halves."""

    def part(name: str, amount: str) -> dict[str, Any]:
        uses = {"counterSet": "gpu-0", "counters": {"memory": {"value": amount}}}
        return {"name": name, "consumesCounters": [uses]}

    counters = small.gpus("n1", 0)
    counters["metadata"]["name"] = "n1-counters"
    counters["spec"]["sharedCounters"] = [
        {"name": "gpu-0", "counters": {"memory": {"value": "40Gi"}}}
    ]
    del counters["spec"]["devices"]
    body = small.gpus("n1", 0)
    body["spec"]["devices"] = [
        part("full", "40Gi"),
        part("half-0", "20Gi"),
        part("half-1", "20Gi"),
        {"name": "other"},
    ]
    for piece in (counters, body):
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    return [counters, body]
