"""A cluster as a large site has it: GPUs, network cards and shared CPUs on every node.

18 devices a node, so 5,000 nodes have 90,000. Half of the GPUs and a third of the
cards are in use, on every node others, as after weeks of coming and going: hardly
two nodes are the same to a question about both.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from bench.clusters import DRIVER, Json, node_name
from dra.snapshot import Snapshot

NICS: Final = "nic.example.com"
CPUS: Final = "cpu.example.com"
NUMA: Final = "resource.kubernetes.io/numaNode"
_ROOT: Final = "resource.kubernetes.io/pcieRoot"
_PRODUCTS: Final = (
    ("NVIDIA H100 80GB HBM3", "Hopper", "9.0.0", "81559Mi"),
    ("NVIDIA H200", "Hopper", "9.0.0", "143771Mi"),
    ("NVIDIA A100-SXM4-80GB", "Ampere", "8.0.0", "81920Mi"),
)


def objects(nodes: int) -> Iterator[Json]:
    """Everything of the cluster, the same for the same number of nodes."""
    chance = random.Random(1)
    for name, driver in (("gpu", DRIVER), ("nic", NICS), ("cpu", CPUS)):
        expression = f'device.driver == "{driver}"'
        selectors = [{"cel": {"expression": expression}}]
        yield {
            "kind": "DeviceClass",
            "metadata": {"name": f"{name}.example.com"},
            "spec": {"selectors": selectors},
        }
    yield {"kind": "Namespace", "metadata": {"name": "default"}}
    for number in range(nodes):
        name = node_name(number)
        labels = {"kubernetes.io/hostname": name}
        yield {"kind": "Node", "metadata": {"name": name, "labels": labels}}
        yield _slice(number, DRIVER, [_gpu(number, place) for place in range(8)])
        yield _slice(number, NICS, [_nic(number, place) for place in range(8)])
        yield _slice(number, CPUS, [_cpu(place) for place in range(2)])
        yield from _claims(number, chance)


def snapshot(nodes: int) -> Snapshot:
    return Snapshot.build(objects(nodes), seq=1)


def _slice(number: int, driver: str, devices: list[Json]) -> Json:
    name = node_name(number)
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": name, "pool": pool, "devices": devices}
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-{driver}"},
        "spec": spec,
    }


def _place(place: int) -> Json:
    return {
        _ROOT: {"string": f"pci0000:{16 + 8 * place:02x}"},
        NUMA: {"int": place // 4},
    }


def _gpu(number: int, place: int) -> Json:
    product, architecture, compute, memory = _PRODUCTS[number % len(_PRODUCTS)]
    return {
        "name": f"gpu-{place}",
        "attributes": {
            "type": {"string": "gpu"},
            "uuid": {"string": f"GPU-{number:06x}-{place}"},
            "productName": {"string": product},
            "architecture": {"string": architecture},
            "cudaComputeCapability": {"version": compute},
            "driverVersion": {"version": "570.124.6"},
        }
        | _place(place),
        "capacity": {"memory": {"value": memory}},
    }


def _nic(number: int, place: int) -> Json:
    return {
        "name": f"eth{place}",
        "attributes": {
            "rdma": {"bool": number % 5 != 0},
            "mac": {"string": f"02:{number:06x}:{place:02x}"},
        }
        | _place(place),
        "capacity": {"bandwidth": {"value": "400G"}},
    }


def _cpu(place: int) -> Json:
    policy = {"default": "1", "validRange": {"min": "2", "max": "96", "step": "2"}}
    return {
        "name": f"numa{place}",
        "allowMultipleAllocations": True,
        "attributes": {NUMA: {"int": place}},
        "capacity": {"cpus": {"value": "96", "requestPolicy": policy}},
    }


def _claims(number: int, chance: random.Random) -> Iterator[Json]:
    """One claim for each sort of device that the node's pods hold."""
    gpus = chance.sample(range(8), chance.choice((0, 2, 4, 4, 6, 8)))
    nics = chance.sample(range(8), chance.choice((0, 2, 4, 5)))
    shares = [{"cpus": str(chance.randrange(2, 97, 2))} for _ in range(2)]
    yield from _held(number, DRIVER, [{"device": f"gpu-{g}"} for g in sorted(gpus)])
    yield from _held(number, NICS, [{"device": f"eth{n}"} for n in sorted(nics)])
    yield from _held(
        number,
        CPUS,
        [
            {
                "device": f"numa{place}",
                "shareID": f"{number:08d}-0000-4000-8000-{place:012d}",
                "consumedCapacity": share,
            }
            for place, share in enumerate(shares)
        ],
    )


def _held(number: int, driver: str, devices: list[Json]) -> Iterator[Json]:
    if not devices:
        return
    name = node_name(number)
    results: list[dict[str, Any]] = [
        {"request": "r", "driver": driver, "pool": name} | device for device in devices
    ]
    yield {
        "kind": "ResourceClaim",
        "metadata": {"name": f"held-{number:05d}-{driver}", "namespace": "default"},
        "status": {"allocation": {"devices": {"results": results}}},
    }
