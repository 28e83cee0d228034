"""Devices as the public drivers publish them: names, attributes, capacities, counters.

Shapes: the NVIDIA, AMD, DRANET and CPU drivers of 2026 (full GPUs; MIG placements
that draw from one counter set per GPU; RDMA NICs next to the GPUs; CPUs shared by
consumable capacity).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from cluster.standin.generator.base import Maker

Json = dict[str, Any]

NVIDIA: Final = "gpu.nvidia.com"
AMD: Final = "gpu.amd.com"
NET: Final = "dra.net"
CPU: Final = "dra.cpu"
NUMA: Final = "resource.kubernetes.io/numaNode"
PCIE_ROOT: Final = "resource.kubernetes.io/pcieRoot"
PCI_BUS_ID: Final = "resource.kubernetes.io/pciBusID"
_ROOTS: Final = (0x15, 0x37, 0x48, 0x59, 0x97, 0xB7, 0xC7, 0xD8)


@dataclass(frozen=True, slots=True)
class Profile:
    """One MIG profile of an A100 40GB: what a partition takes from its GPU."""

    name: str
    id: int
    starts: tuple[int, ...]
    memory_mib: int
    slices: int
    multiprocessors: int
    copy_engines: int
    decoders: int = 0
    jpeg_engines: int = 0
    ofa_engines: int = 0

    def engines(self) -> dict[str, int]:
        return {
            "multiprocessors": self.multiprocessors,
            "copyEngines": self.copy_engines,
            "decoders": self.decoders,
            "encoders": 0,
            "jpegEngines": self.jpeg_engines,
            "ofaEngines": self.ofa_engines,
        }


PROFILES: Final = (
    Profile("1g.5gb", 19, (0, 1, 2, 3, 4, 5, 6), 4864, 1, 14, 1),
    Profile("1g.10gb", 15, (0, 2, 4, 6), 9856, 2, 14, 1, 1),
    Profile("2g.10gb", 14, (0, 2, 4), 9856, 2, 28, 2, 1),
    Profile("3g.20gb", 9, (0, 4), 19968, 4, 42, 3, 2),
    Profile("4g.20gb", 5, (0,), 19968, 4, 56, 4, 2),
    Profile("7g.40gb", 0, (0,), 40192, 8, 98, 7, 5, 1, 1),
)
_COUNTERS: Final = {
    "multiprocessors": "98",
    "copy-engines": "7",
    "decoders": "5",
    "encoders": "0",
    "jpeg-engines": "1",
    "ofa-engines": "1",
    "memory": "40320Mi",
}


def text(value: str) -> Json:
    return {"string": value}


def number(value: int) -> Json:
    return {"int": value}


def amount(value: str | int) -> Json:
    return {"value": str(value)}


def pcie_root(index: int) -> str:
    return f"pci0000:{_ROOTS[index % 8]:02x}"


def _nvidia(
    maker: Maker,
    index: int,
    *,
    count: int,
    product: str,
    architecture: str,
    compute: str,
    memory_mib: int,
    driver: str,
) -> Json:
    return {
        "name": f"gpu-{index}",
        "attributes": {
            "type": text("gpu"),
            "uuid": text("GPU-" + maker.uid()),
            "productName": text(product),
            "brand": text("Nvidia"),
            "architecture": text(architecture),
            "cudaComputeCapability": {"version": compute},
            "driverVersion": {"version": driver},
            "cudaDriverVersion": {"version": "13.0.0"},
            "addressingMode": text("HMM"),
            PCI_BUS_ID: text(f"0000:{_ROOTS[index % 8] + 3:02x}:00.0"),
            PCIE_ROOT: text(pcie_root(index)),
            NUMA: number(index * 2 // count),
        },
        "capacity": {"memory": amount(f"{memory_mib}Mi")},
    }


def h100s(maker: Maker, *, driver: str) -> list[Json]:
    """Eight full H100 of one node, four on each NUMA node."""
    return [
        _nvidia(
            maker,
            index,
            count=8,
            product="NVIDIA H100 80GB HBM3",
            architecture="Hopper",
            compute="9.0.0",
            memory_mib=81559,
            driver=driver,
        )
        for index in range(8)
    ]


def a100s(maker: Maker, *, driver: str) -> tuple[list[Json], list[Json]]:
    """Four A100 that can be partitioned: (devices, counter sets).

    Full GPUs first, then the partitions by profile: a scheduler takes the first
    device that matches.
    """
    gpus = [
        _nvidia(
            maker,
            index,
            count=4,
            product="NVIDIA A100-SXM4-40GB",
            architecture="Ampere",
            compute="8.0.0",
            memory_mib=40320,
            driver=driver,
        )
        for index in range(4)
    ]
    sets = [_counter_set(index) for index in range(4)]
    partitions = [
        _partition(gpu, index, profile, start)
        for profile in PROFILES
        for index, gpu in enumerate(gpus)
        for start in profile.starts
    ]
    for gpu, counters in zip(gpus, sets, strict=True):
        taken = {"counterSet": counters["name"], "counters": counters["counters"]}
        gpu["consumesCounters"] = [taken]
    return [*gpus, *partitions], sets


def _counter_set(index: int) -> Json:
    counters = {name: amount(value) for name, value in _COUNTERS.items()}
    counters |= {f"memory-slice-{part}": amount(1) for part in range(8)}
    return {"name": f"gpu-{index}-counter-set", "counters": counters}


def _partition(gpu: Json, index: int, profile: Profile, start: int) -> Json:
    shared = {
        name: value for name, value in gpu["attributes"].items() if name != "uuid"
    }
    engines = profile.engines()
    counters = {
        "".join(f"-{c.lower()}" if c.isupper() else c for c in name): amount(value)
        for name, value in engines.items()
        if value
    }
    counters["memory"] = amount(f"{profile.memory_mib}Mi")
    covered = range(start, min(start + profile.slices, 8))
    counters |= {f"memory-slice-{part}": amount(1) for part in covered}
    short = profile.name.replace(".", "")
    return {
        "name": f"gpu-{index}-mig-{short}-{profile.id}-{start}",
        "attributes": {
            **shared,
            "type": text("mig"),
            "profile": text(profile.name),
            "parentUUID": gpu["attributes"]["uuid"],
        },
        "capacity": {
            **{name: amount(value) for name, value in engines.items()},
            "memory": amount(f"{profile.memory_mib}Mi"),
        },
        "consumesCounters": [
            {"counterSet": f"gpu-{index}-counter-set", "counters": counters}
        ],
    }


def mi300xs(maker: Maker) -> list[Json]:
    """Eight full MI300X of one node."""
    return [
        {
            "name": f"gpu-{index + 1}-{128 + index}",
            "attributes": {
                "type": text("amdgpu"),
                "pciAddr": text(f"0003:00:{index + 2:02x}.0"),
                "deviceID": text(str(maker.random.getrandbits(59))),
                "cardIndex": number(index + 1),
                "renderIndex": number(128 + index),
                "family": text("AI"),
                "productName": text("AMD_Instinct_MI300X_OAM"),
                "driverVersion": {"version": "6.12.12"},
                "partitionProfile": text("spx_nps1"),
                PCIE_ROOT: text(pcie_root(index)),
            },
            "capacity": {
                "memory": amount("196592Mi"),
                "computeUnits": amount(304),
                "simdUnits": amount(1216),
            },
        }
        for index in range(8)
    ]


def nics(maker: Maker) -> list[Json]:
    """Eight RDMA NICs, each on the PCIe root of the GPU with its index."""
    return [
        {
            "name": f"pci-0000-{_ROOTS[index] + 5:02x}-00-0",
            "attributes": {
                "dra.net/ifName": text(f"rdma{index}"),
                "dra.net/mac": text(_mac(maker)),
                "dra.net/mtu": number(9000),
                "dra.net/rdma": {"bool": True},
                "dra.net/sriov": {"bool": False},
                "dra.net/virtual": {"bool": False},
                "dra.net/state": text("up"),
                "dra.net/encapsulation": text("ether"),
                "dra.net/pciVendor": text("Mellanox Technologies"),
                "dra.net/pciDevice": text("MT2910 Family [ConnectX-7]"),
                PCI_BUS_ID: text(f"0000:{_ROOTS[index] + 5:02x}:00.0"),
                PCIE_ROOT: text(pcie_root(index)),
                NUMA: number(index // 4),
            },
        }
        for index in range(8)
    ]


def _mac(maker: Maker) -> str:
    tail = [f"{maker.random.randrange(256):02x}" for _ in range(3)]
    return ":".join(["58", "a2", "e1", *tail])


def cpus(*, per_socket: int) -> list[Json]:
    """One device per NUMA node; many claims share its CPUs."""
    return [
        {
            "name": f"cpudevnuma{numa:03d}",
            "allowMultipleAllocations": True,
            "attributes": {
                "dra.cpu/socketID": number(numa),
                "dra.cpu/numCPUs": number(per_socket),
                "dra.cpu/smtEnabled": {"bool": True},
                NUMA: number(numa),
            },
            "capacity": {"dra.cpu/cpu": amount(per_socket)},
        }
        for numa in range(2)
    ]
