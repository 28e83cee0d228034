"""Claims that nobody has allocated yet, each waiting for a reason one can see."""

from __future__ import annotations

from typing import Any, Final

from cluster.standin.generator import catalog, devices

Json = dict[str, Any]

_NV = "device.attributes['gpu.nvidia.com']"
WAITING: Final[tuple[tuple[str, str, float, Json], ...]] = (
    (
        "team-a",
        "train-4gpu",
        6.0,
        {
            "requests": [catalog.exactly("gpus", "gpu.nvidia.com", count=4)],
            "constraints": [{"requests": ["gpus"], "matchAttribute": devices.NUMA}],
        },
    ),
    ("team-a", "gpu-near-nic", 18.0, catalog.TEMPLATES[2][2]),
    (
        "research",
        "any-accelerator",
        32.0,
        {
            "requests": [
                {
                    "name": "accelerator",
                    "firstAvailable": [
                        {
                            "name": "b200",
                            "deviceClassName": "gpu.nvidia.com",
                            "selectors": [
                                {
                                    "cel": {
                                        "expression": f"{_NV}.architecture == 'Blackwell'"
                                    }
                                }
                            ],
                            "allocationMode": "ExactCount",
                            "count": 1,
                        },
                        {
                            "name": "two-halves",
                            "deviceClassName": "mig.nvidia.com",
                            "selectors": catalog.profile("3g.20gb"),
                            "allocationMode": "ExactCount",
                            "count": 2,
                        },
                        {
                            "name": "mi300x",
                            "deviceClassName": "gpu.amd.com",
                            "allocationMode": "ExactCount",
                            "count": 1,
                        },
                    ],
                }
            ]
        },
    ),
    (
        "inference",
        "tokenizer-48cpus",
        75.0,
        {
            "requests": [
                catalog.exactly("cpus", "dra.cpu", capacity=catalog.cpus(48)),
            ]
        },
    ),
    (
        "research",
        "blackwell-preview",
        210.0,
        {
            "requests": [
                catalog.exactly(
                    "gpu",
                    "gpu.nvidia.com",
                    selectors=[
                        {"cel": {"expression": f"{_NV}.architecture == 'Blackwell'"}}
                    ],
                )
            ]
        },
    ),
    (
        "team-b",
        "mega-train-16gpu",
        50.0,
        {"requests": [catalog.exactly("gpus", "gpu.nvidia.com", count=16)]},
    ),
)
"""Namespace, name, age in minutes, and what the claim asks for."""
