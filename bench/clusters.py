"""Clusters of any size on which only the last node fits what the benches ask for.

Three kinds, after what NVIDIA's driver publishes: ``gpu`` has 8 whole GPUs a node,
``mig`` the same 8 with the 56 ways to cut each of them, ``cap`` 8 GPUs that can be
shared by memory and cores.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, Final

from dra.objects import ResourceClaim, read
from dra.snapshot import Snapshot

Json = dict[str, Any]

DRIVER: Final = "gpu.nvidia.com"
_A: Final = f'device.attributes["{DRIVER}"]'
_C: Final = f'device.capacity["{DRIVER}"]'
OLD, NEW = "NVIDIA H100 80GB HBM3", "NVIDIA H200"
_MEMORY: Final = {OLD: "81559Mi", NEW: "143771Mi"}

# Profile, compute slices, memory slices, places where it can start, variants.
_PROFILES: Final = (
    ("1g.18gb", 1, 1, range(7), ("", "+me", "+gfx", "+me.all")),
    ("1g.35gb", 1, 2, range(0, 7, 2), ("", "+gfx")),
    ("2g.35gb", 2, 2, range(0, 5, 2), ("", "+gfx", "-me")),
    ("3g.71gb", 3, 4, range(0, 5, 4), ("", "+gfx", "-me")),
    ("4g.71gb", 4, 4, range(1), ("", "+gfx", "-me")),
    ("7g.141gb", 7, 8, range(1), ("", "+gfx")),
)


def node_name(number: int) -> str:
    return f"node-{number:05d}"


def _uid(*parts: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, parts))))


def _node(number: int) -> Json:
    name = node_name(number)
    labels = {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
    }
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}}


def _attributes(number: int, gpu: int, product: str) -> Json:
    return {
        "uuid": {"string": f"GPU-{_uid(number, gpu)}"},
        "productName": {"string": product},
        "brand": {"string": "Nvidia"},
        "architecture": {"string": "Hopper"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "driverVersion": {"version": "570.124.6"},
        "cudaDriverVersion": {"version": "12.8.0"},
        "resource.kubernetes.io/pcieRoot": {
            "string": f"pci0000:{16 + 64 * (gpu % 2):02x}"
        },
    }


def _gpu(number: int, gpu: int, product: str) -> Json:
    return {
        "name": f"gpu-{gpu}",
        "attributes": _attributes(number, gpu, product)
        | {"type": {"string": "gpu"}, "index": {"int": gpu}},
        "capacity": {"memory": {"value": _MEMORY[product]}},
    }


def _shared_gpu(number: int, gpu: int) -> Json:
    memory = {
        "default": "1Gi",
        "validRange": {"min": "1Gi", "max": "140Gi", "step": "1Gi"},
    }
    cores = {"default": "10", "validValues": ["10", "25", "50", "100"]}
    return _gpu(number, gpu, NEW) | {
        "allowMultipleAllocations": True,
        "capacity": {
            "memory": {"value": "140Gi", "requestPolicy": memory},
            "cores": {"value": "100", "requestPolicy": cores},
        },
    }


def _counters(compute: int, memory: int, start: int, engines: int) -> Json:
    counters = {
        "multiprocessors": 16 * compute + (20 if compute == 7 else 0),
        "copy-engines": compute,
        "decoders": engines,
        "jpeg-engines": engines,
        "ofa-engines": int(compute == 7),
    } | {f"memory-slice-{place}": 1 for place in range(start, start + memory)}
    return {name: {"value": str(value)} for name, value in counters.items()} | {
        "memory": {"value": f"{17920 * memory}Mi"}
    }


def _cut_gpu(number: int, gpu: int) -> list[Json]:
    """A GPU and every part that it can be cut into."""
    set_name = f"gpu-{gpu}-counters"
    whole = _counters(7, 8, 0, 7)
    devices = [
        _gpu(number, gpu, NEW)
        | {"consumesCounters": [{"counterSet": set_name, "counters": whole}]}
    ]
    for profile, compute, memory, starts, variants in _PROFILES:
        for variant in variants:
            for start in starts:
                engines = 0 if variant == "-me" else compute
                drawn = _counters(compute, memory, start, engines)
                plain = f"{profile}{variant}".replace(".", "-").replace("+", "-")
                attributes = _attributes(number, gpu, NEW) | {
                    "type": {"string": "mig"},
                    "uuid": {
                        "string": f"MIG-{_uid(number, gpu, profile, variant, start)}"
                    },
                    "profile": {"string": profile + variant},
                    "parentUUID": {"string": f"GPU-{_uid(number, gpu)}"},
                }
                devices.append(
                    {
                        "name": f"gpu-{gpu}-mig-{plain}-{start}",
                        "attributes": attributes,
                        "capacity": {"memory": {"value": f"{17920 * memory}Mi"}},
                        "consumesCounters": [
                            {"counterSet": set_name, "counters": drawn}
                        ],
                    }
                )
    return devices


def _slice(number: int, part: str, count: int, **spec: Any) -> Json:
    name = node_name(number)
    pool = {"name": name, "generation": 1, "resourceSliceCount": count}
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-{part}"},
        "spec": {"driver": DRIVER, "nodeName": name, "pool": pool, **spec},
    }


def held(number: int, *devices: Json) -> Json:
    """A claim that holds devices of a node."""
    name = node_name(number)
    results = [{"request": "r", "driver": DRIVER, "pool": name} | d for d in devices]
    return {
        "kind": "ResourceClaim",
        "metadata": {"name": f"used-{number:05d}", "namespace": "default"},
        "status": {"allocation": {"devices": {"results": results}}},
    }


def _class(name: str, type_: str) -> Json:
    expression = f'device.driver == "{DRIVER}" && {_A}.type == "{type_}"'
    return {
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def objects(kind: str, nodes: int) -> Iterator[Json]:
    """Everything of a cluster of one kind; only its last node fits the claims below."""
    yield _class("gpu.nvidia.com", "gpu")
    yield _class("mig.nvidia.com", "mig")
    for number in range(nodes):
        last = number == nodes - 1
        yield _node(number)
        if kind == "gpu":
            devices = [_gpu(number, g, NEW if last else OLD) for g in range(8)]
            yield _slice(number, "x", 1, devices=devices)
        elif kind == "cap":
            yield _slice(
                number, "x", 1, devices=[_shared_gpu(number, g) for g in range(8)]
            )
            if not last:
                share = {"consumedCapacity": {"memory": "120Gi", "cores": "50"}}
                yield held(
                    number,
                    *(
                        {"device": f"gpu-{g}", "shareID": _uid(number, g)} | share
                        for g in range(8)
                    ),
                )
        else:
            sets = [
                {"name": f"gpu-{g}-counters", "counters": _counters(7, 8, 0, 7)}
                for g in range(8)
            ]
            yield _slice(number, "counters", 9, sharedCounters=sets)
            for g in range(8):
                yield _slice(number, f"gpu{g}", 9, devices=_cut_gpu(number, g))
            if not last:
                yield held(number, *({"device": f"gpu-{g}"} for g in range(8)))


def snapshot(kind: str, nodes: int) -> Snapshot:
    return Snapshot.build(objects(kind, nodes))


# --- claims ---


def exactly(name: str, cls: str, count: int, *expressions: str, **fields: Any) -> Json:
    body: Json = {
        "deviceClassName": cls,
        "allocationMode": "ExactCount",
        "count": count,
    }
    if not count:
        body = {"deviceClassName": cls, "allocationMode": "All"}
    body["selectors"] = [{"cel": {"expression": e}} for e in expressions]
    return {"name": name, "exactly": body | fields}


def _alternative(name: str, count: int, expression: str) -> Json:
    body: Json = exactly(name, "gpu.nvidia.com", count, expression)["exactly"]
    return {"name": name} | body


def claim(
    *requests: Json, constraints: Any = None, name: str = "bench"
) -> ResourceClaim:
    devices: Json = {"requests": list(requests)}
    if constraints:
        devices["constraints"] = constraints
    return read(
        {
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"devices": devices},
        },
        ResourceClaim,
    )


_WANT: Final = f'{_A}.productName == "{NEW}"'
_CUDA: Final = f'{_A}.cudaComputeCapability.isGreaterThan(semver("8.9.0"))'
_BIG: Final = f'{_C}.memory.compareTo(quantity("100Gi")) >= 0'
_SHARE: Final = {"capacity": {"requests": {"memory": "39500Mi", "cores": "20"}}}

CLAIMS: Final[dict[str, dict[str, ResourceClaim]]] = {
    "gpu": {
        "1 GPU": claim(exactly("gpu", "gpu.nvidia.com", 1, f"{_WANT} && {_BIG}")),
        "4 GPUs on one PCIe root": claim(
            exactly("gpus", "gpu.nvidia.com", 4, _WANT),
            constraints=[{"matchAttribute": "resource.kubernetes.io/pcieRoot"}],
        ),
        "first available of 3": claim(
            {
                "name": "gpu",
                "firstAvailable": [
                    _alternative("b200", 2, f'{_A}.productName == "NVIDIA B200"'),
                    _alternative(
                        "newer",
                        4,
                        f'{_A}.cudaComputeCapability.isGreaterThan(semver("9.5.0"))',
                    ),
                    _alternative("h200", 1, f"{_WANT} && {_CUDA}"),
                ],
            }
        ),
        "all GPUs": claim(exactly("all", "gpu.nvidia.com", 0, _WANT)),
    },
    "cap": {
        "one share": claim(exactly("share", "gpu.nvidia.com", 1, _CUDA, **_SHARE)),
        "4 shares of different GPUs": claim(
            exactly("share", "gpu.nvidia.com", 4, _CUDA, **_SHARE),
            constraints=[{"distinctAttribute": "gpu.nvidia.com/uuid"}],
        ),
    },
    "mig": {
        "one 3g": claim(
            exactly("mig", "mig.nvidia.com", 1, f'{_A}.profile == "3g.71gb"')
        ),
        "3g + 2g + 2 × 1g of one GPU": claim(
            exactly("a", "mig.nvidia.com", 1, f'{_A}.profile == "3g.71gb"'),
            exactly("b", "mig.nvidia.com", 1, f'{_A}.profile == "2g.35gb"'),
            exactly("c", "mig.nvidia.com", 2, f'{_A}.profile == "1g.18gb"'),
            constraints=[{"matchAttribute": "gpu.nvidia.com/parentUUID"}],
        ),
    },
}
ONE_GPU: Final = exactly("gpu", "gpu.nvidia.com", 1)
