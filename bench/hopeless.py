"""Small claims that cannot fit, in the order in which the scheduler tries."""

from __future__ import annotations

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
    groups = [
        {"name": f"gpu-{n}", "attributes": {"group": {"int": 0}}} for n in range(24)
    ]
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}

    def piece(name: str, driver: str, devices: object) -> dict[str, object]:
        spec = {"driver": driver, "nodeName": "n", "pool": pool, "devices": devices}
        return {"kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}

    small = Snapshot.build(
        [
            {"kind": "Node", "metadata": {"name": "n"}},
            {"kind": "DeviceClass", "metadata": {"name": "gpu.nvidia.com"}, "spec": {}},
            piece("a", DRIVER, groups),
            piece(
                "b",
                "nic.example.com",
                [{"name": "nic", "attributes": {f"{DRIVER}/group": {"int": 1}}}],
            ),
        ]
    )

    def some(name: str, driver: str, count: int) -> dict[str, object]:
        selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
        return {
            "name": name,
            "exactly": {
                "deviceClassName": "gpu.nvidia.com",
                "allocationMode": "ExactCount",
                "count": count,
                "selectors": [selector],
            },
        }

    wanted = claim(
        some("gpus", DRIVER, 8),
        some("nic", "nic.example.com", 1),
        constraints=[{"matchAttribute": f"{DRIVER}/group"}],
    )

    def work() -> None:
        outcome = allocate(small, [wanted], "n", features=FEATURES, quirks="1.36")
        assert not isinstance(outcome, Fits)

    return figure("8 of 24 equal devices, impossible", milliseconds(work), 10_000.0)


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
