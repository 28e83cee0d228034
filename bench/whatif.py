"""Scenarios on whole clusters, one size in a process of its own.

    python -m bench.whatif NODES

Half of the nodes have GPUs in use; a rack is 64 nodes with 512 claims. What is timed
is what people wait for: the whole answer, with what stops the next and with the
differences before and after.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from bench.clusters import DRIVER, ONE_GPU, claim, node_name, objects
from bench.table import Figure, figure, show, timed
from dra.allocation.groups import forget_answers
from dra.objects import write
from dra.snapshot import Snapshot
from dra.whatif import Scenario, Shape, headroom, read_scenario, run

RACK = 64
EIGHT = claim(
    {
        "name": "gpus",
        "exactly": {
            "deviceClassName": "gpu.nvidia.com",
            "allocationMode": "ExactCount",
            "count": 8,
        },
    },
    name="eight",
)


def _in_use(nodes: int) -> list[dict[str, Any]]:
    """A claim on each of the 8 GPUs of every other node; the first rack is full."""
    found = []
    for number in range(nodes):
        if number >= RACK and number % 2:
            continue
        name = node_name(number)
        for gpu in range(8 if number < RACK else 4):
            result = {
                "request": "gpu",
                "driver": DRIVER,
                "pool": name,
                "device": f"gpu-{gpu}",
            }
            pod = f"pod-{number}-{gpu}"
            found.append(
                {
                    "kind": "ResourceClaim",
                    "metadata": {
                        "name": f"claim-{number:05d}-{gpu}",
                        "namespace": "ml",
                    },
                    "spec": {"devices": {"requests": [ONE_GPU]}},
                    "status": {
                        "allocation": {"devices": {"results": [result]}},
                        "reservedFor": [{"resource": "pods", "name": pod, "uid": pod}],
                    },
                }
            )
    return found


def main() -> None:
    nodes = int(sys.argv[1])
    snapshot = Snapshot.build([*objects("gpu", nodes), *_in_use(nodes)])
    # A page has the device table and the answers of an hour before.
    snapshot.devices()
    figures = scenarios(snapshot)
    show(
        f"{nodes:,} nodes, {len(snapshot.devices()):,} devices, "
        f"{len(snapshot.claims):,} claims",
        figures,
    )


def scenarios(snapshot: Snapshot) -> list[Figure]:
    first = {"edits": [{"edit": "drain", "nodes": [node_name(RACK)]}]}
    rack = [node_name(number) for number in range(RACK)]
    failure = {"edits": [{"edit": "removeNodes", "nodes": rack}]}
    copies = {"workload": [{"place": "claim", "claim": write(EIGHT), "copies": 1000}]}
    taint = {
        "edits": [
            {
                "edit": "taint",
                "devices": {"cel": "true"},
                "taint": {"key": "bench", "effect": "NoExecute"},
            }
        ]
    }
    found = []
    for what, raw in (
        ("drain of one node", first),
        (f"failure of a rack: {RACK} nodes, {RACK * 8} claims", failure),
        ("the same, spread", failure | {"policy": "spread"}),
        ("1,000 copies of an 8-GPU claim", copies),
        ("every device tainted NoExecute", taint),
    ):
        scenario = read_scenario(raw)
        found += _twice(what, snapshot, scenario)
    shape = Shape("8-GPU claim", (EIGHT,))

    def counted() -> None:
        (answer,) = headroom(snapshot, [shape])
        assert answer.verdict == "does not fit"

    forget_answers()
    found.append(figure("how many more 8-GPU claims, asked first", timed(counted)))
    found.append(figure("how many more 8-GPU claims, asked again", timed(counted)))
    return found


def _twice(what: str, snapshot: Snapshot, scenario: Scenario) -> list[Figure]:
    def work() -> None:
        found = run(snapshot, scenario)
        assert found.complete

    forget_answers()
    first = figure(f"{what}, asked first", timed(work))
    return [first, figure(f"{what}, asked again", timed(work))]


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    print(f"({time.perf_counter() - started:.0f} s in all)")
