"""Nodes with their slices."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import batched
from typing import Any, Final

from cluster.standin.generator import devices
from cluster.standin.generator.base import DRA_V1, Maker, owner

Json = dict[str, Any]

_PATTERN: Final = (
    *("h100", "h100", "a100", "mi300x", "h100"),
    *("cpu", "h100", "a100", "mi300x", "h100"),
    *("h100", "a100", "cpu", "mi300x", "h100"),
    *("a100", "h100", "mi300x", "a100", "cpu"),
)
"""Which kind of node comes next; 8 H100, 5 A100, 4 MI300X and 3 CPU nodes in 20."""
_INSTANCE_TYPES: Final = {
    "h100": "hgx-h100-8x80g",
    "a100": "a100-4x40g",
    "mi300x": "mi300x-8x192g",
    "cpu": "cpu-192",
}
_PER_SLICE: Final = 64
"""Devices in a slice whose devices draw from counters (the API's limit)."""
INCOMPLETE: Final = 4
"""This A100 node's pool lacks a slice."""
SICK: Final = 3
"""This H100 node has a GPU that its driver tainted."""
CORDONED: Final = 2
"""This MI300X node takes no new pods."""


@dataclass(slots=True)
class MadeNode:
    """A node and the devices that workloads may still take, by driver, in order."""

    name: str
    kind: str
    number: int
    free: dict[str, list[Json]] = field(default_factory=dict)


class NodeMaker:
    """Makes nodes one after another; ``total`` decides how wide numbers are."""

    def __init__(self, maker: Maker, *, total: int) -> None:
        self._maker = maker
        self._width = max(2, len(str(total)))
        self._made: dict[str, int] = {}

    def make(self, position: int) -> MadeNode:
        """The node at ``position`` of the pattern with all its slices."""
        kind = _PATTERN[position % len(_PATTERN)]
        number = self._made[kind] = self._made.get(kind, 0) + 1
        prefix = "cpu" if kind == "cpu" else f"gpu-{kind}"
        made = MadeNode(f"{prefix}-{number:0{self._width}d}", kind, number)
        age = self._maker.random.uniform(9, 70) * 24 * 60
        node = self._node(made, position, age)
        publish = {"h100": self._h100, "a100": self._a100, "mi300x": self._mi300x}
        if kind in publish:
            publish[kind](made, node)
        cpus = devices.cpus(per_socket=96 if kind == "cpu" else 64)
        self._pool(made, node, devices.CPU, [{"devices": cpus}])
        return made

    def _node(self, made: MadeNode, position: int, age: float) -> Json:
        maker = self._maker
        cordoned = made.kind == "mi300x" and made.number == CORDONED
        spec: Json = {"podCIDR": f"10.{position // 250}.{position % 250}.0/24"}
        if cordoned:
            taint = {
                "key": "node.kubernetes.io/unschedulable",
                "effect": "NoSchedule",
                "timeAdded": maker.ago(95),
            }
            spec |= {"unschedulable": True, "taints": [taint]}
        return maker.add(
            "v1",
            "Node",
            made.name,
            minutes=age,
            meta={
                "labels": {
                    "kubernetes.io/hostname": made.name,
                    "kubernetes.io/arch": "amd64",
                    "node.kubernetes.io/instance-type": _INSTANCE_TYPES[made.kind],
                    "topology.kubernetes.io/zone": f"eu-north-1{'abc'[position % 3]}",
                    "example.com/rack": f"r{position // 4 + 1:02d}",
                }
            },
            spec=spec,
            status={
                "conditions": [
                    {
                        "type": "Ready",
                        "status": "True",
                        "reason": "KubeletReady",
                        "message": "kubelet is posting ready status",
                        "lastTransitionTime": maker.ago(age),
                    }
                ],
                "capacity": {"cpu": "192", "memory": "2048Gi", "pods": "110"},
                "allocatable": {"cpu": "188", "memory": "2020Gi", "pods": "110"},
                "nodeInfo": {
                    "kubeletVersion": "v1.36.2",
                    "osImage": "Ubuntu 24.04.3 LTS",
                    "kernelVersion": "6.8.0-79-generic",
                    "containerRuntimeVersion": "containerd://2.1.4",
                },
            },
        )

    # --- pools ------------------------------------------------------------

    def _h100(self, made: MadeNode, node: Json) -> None:
        gpus = devices.h100s(self._maker, driver=self._driver_version())
        if made.number == SICK:
            gpus[5]["taints"] = [
                {
                    "key": "gpu.nvidia.com/xid",
                    "value": "79",
                    "effect": "NoSchedule",
                    "timeAdded": self._maker.ago(190),
                }
            ]
        self._pool(made, node, devices.NVIDIA, [{"devices": gpus}])
        nics = devices.nics(self._maker)
        self._pool(made, node, devices.NET, [{"devices": nics}])

    def _a100(self, made: MadeNode, node: Json) -> None:
        all_devices, sets = devices.a100s(self._maker, driver=self._driver_version())
        parts: list[Json] = [{"sharedCounters": sets}]
        parts += [{"devices": list(part)} for part in batched(all_devices, _PER_SLICE)]
        self._pool(made, node, devices.NVIDIA, parts)

    def _mi300x(self, made: MadeNode, node: Json) -> None:
        gpus = devices.mi300xs(self._maker)
        self._pool(made, node, devices.AMD, [{"devices": gpus}])

    def _driver_version(self) -> str:
        return self._maker.random.choices(["580.105.8", "570.124.6"], [4, 1])[0]

    def _pool(self, made: MadeNode, node: Json, driver: str, parts: list[Json]) -> None:
        maker = self._maker
        incomplete = (
            made.kind == "a100"
            and made.number == INCOMPLETE
            and driver == devices.NVIDIA
        )
        generation = 4 if incomplete else maker.random.choice([1, 1, 1, 2, 3])
        age = 14.0 if incomplete else maker.random.uniform(60, 9 * 24 * 60)
        pool = {
            "name": made.name,
            "generation": generation,
            "resourceSliceCount": len(parts),
        }
        shown = parts[:-1] if incomplete else parts
        for part in shown:
            maker.add(
                DRA_V1,
                "ResourceSlice",
                f"{made.name}-{driver}-{maker.suffix()}",
                minutes=age,
                meta={
                    "generateName": f"{made.name}-{driver}-",
                    "generation": 1,
                    "ownerReferences": [owner(node)],
                },
                spec={"driver": driver, "pool": pool, "nodeName": made.name, **part},
            )
        made.free[driver] = (
            []
            if incomplete
            else [
                device
                for part in parts
                for device in part.get("devices", [])
                if not device.get("taints")
            ]
        )
