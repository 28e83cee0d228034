"""Small claims that cannot fit, in the order in which the scheduler tries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bench.clusters import DRIVER, claim
from bench.table import Figure, figure, milliseconds
from dra.allocation import DoesNotFit, Features, Fits, allocate
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot

FEATURES: Final = Features.preset("1.36")
BUDGET: Final = 10.0
"""Milliseconds."""


def matched() -> Figure:
    """8 of 24 equal devices under a constraint that nothing meets."""
    nic = "nic.example.com"
    gpus = [
        {"name": f"gpu-{n}", "attributes": {"group": {"int": 0}}} for n in range(24)
    ]
    nics = [{"name": "nic", "attributes": {f"{DRIVER}/group": {"int": 1}}}]
    small = _node({DRIVER: gpus, nic: nics})
    wanted = claim(
        _some("gpus", DRIVER, 8),
        _some("nic", nic, 1),
        constraints=[{"matchAttribute": f"{DRIVER}/group"}],
    )

    def work() -> None:
        outcome = allocate(small, [wanted], "n", features=FEATURES, quirks="1.36")
        assert not isinstance(outcome, Fits)

    return figure("8 of 24 equal devices, impossible", milliseconds(work), 10_000.0)


def paired() -> Figure:
    """Eight pairs of a GPU and a NIC on one root each, where one NIC is elsewhere."""
    nic = "nic.example.com"
    gpus = [{"name": f"gpu-{n}", "attributes": {"root": {"int": n}}} for n in range(8)]
    nics = [
        {"name": f"nic-{n}", "attributes": {f"{DRIVER}/root": {"int": n or 8}}}
        for n in range(8)
    ]
    snapshot = _node({DRIVER: gpus, nic: nics})
    numbers = range(8)
    wanted = claim(
        *(_some(f"gpu-{n}", DRIVER, 1) for n in numbers),
        *(_some(f"nic-{n}", nic, 1) for n in numbers),
        constraints=[
            {"matchAttribute": f"{DRIVER}/root", "requests": [f"gpu-{n}", f"nic-{n}"]}
            for n in numbers
        ],
    )
    return _impossible(
        "8 pairs of GPU and NIC, one NIC elsewhere", snapshot, "n", wanted
    )


def cut(snapshot: Snapshot, node_name: str) -> list[Figure]:
    """More partitions than the GPUs of a node can be cut into."""
    large = f'device.attributes["{DRIVER}"].profile == "3g.71gb"'
    small = f'device.attributes["{DRIVER}"].profile == "1g.18gb"'
    apart = [{"distinctAttribute": f"{DRIVER}/parentUUID"}]
    return [
        _impossible(what, snapshot, node_name, wanted)
        for what, wanted in (
            ("17 × 3g where 16 fit", claim(_parts(17, large))),
            (
                "9 × 1g of different GPUs of 8",
                claim(_parts(9, small), constraints=apart),
            ),
        )
    ]


def _parts(count: int, expression: str) -> dict[str, Any]:
    return {
        "name": "parts",
        "exactly": {
            "deviceClassName": "mig.nvidia.com",
            "allocationMode": "ExactCount",
            "count": count,
            "selectors": [{"cel": {"expression": expression}}],
        },
    }


def _impossible(
    what: str, snapshot: Snapshot, node_name: str, wanted: ResourceClaim
) -> Figure:
    def work() -> None:
        outcome = allocate(snapshot, [wanted], node_name, features=FEATURES)
        assert isinstance(outcome, DoesNotFit)

    return figure(f"{what}, impossible", milliseconds(work), BUDGET, "budget")


def _node(devices: Mapping[str, object]) -> Snapshot:
    """Node ``n`` with the devices of each driver, and a class of everything."""
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    pieces = [
        {
            "kind": "ResourceSlice",
            "metadata": {"name": driver},
            "spec": {"driver": driver, "nodeName": "n", "pool": pool, "devices": some},
        }
        for driver, some in devices.items()
    ]
    return Snapshot.build(
        [
            {"kind": "Node", "metadata": {"name": "n"}},
            {"kind": "DeviceClass", "metadata": {"name": "gpu.nvidia.com"}, "spec": {}},
            *pieces,
        ]
    )


def _some(name: str, driver: str, count: int) -> dict[str, Any]:
    return {
        "name": name,
        "exactly": {
            "deviceClassName": "gpu.nvidia.com",
            "allocationMode": "ExactCount",
            "count": count,
            "selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}],
        },
    }
