"""Devices and classes that advice is asked about."""

from __future__ import annotations

from tests.dra.validation.objects import (
    of_driver,
    piece,
)

GPU = "gpu.example.com"
GPU_CLASS = of_driver("gpu", GPU)
GPUS = piece(
    GPU,
    {"name": "gpu-0", "attributes": {"model": {"string": "A"}, "index": {"int": 0}}},
    {"name": "gpu-1", "attributes": {"model": {"string": "A"}, "index": {"int": 1}}},
)
DEVICES = "spec.devices"
FIRST = f"{DEVICES}.requests[0].exactly"
