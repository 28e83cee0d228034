"""100,000 GPUs as a large cluster has them: few models and versions, many nodes."""

from __future__ import annotations

import uuid
from typing import Any, Final, NamedTuple

from dra import cel
from dra.objects import DeviceAttribute, DeviceCapacity

DRIVER: Final = "gpu.nvidia.com"
NODES: Final = 12_500
PER_NODE: Final = 8


class _Model(NamedTuple):
    name: str
    architecture: str
    compute: str
    memory: str
    ecc: bool | None


_MODELS: Final = [
    _Model("NVIDIA A100-SXM4-40GB", "Ampere", "8.0.0", "40320Mi", ecc=True),
    _Model("NVIDIA A100-SXM4-80GB", "Ampere", "8.0.0", "80384Mi", ecc=True),
    _Model("NVIDIA H100 80GB HBM3", "Hopper", "9.0.0", "81559Mi", ecc=True),
    _Model("NVIDIA H200", "Hopper", "9.0.0", "143771Mi", ecc=True),
    _Model("NVIDIA B200", "Blackwell", "10.0.0", "183359Mi", ecc=True),
    _Model("NVIDIA L40S", "Ada Lovelace", "8.9.0", "46068Mi", ecc=False),
    _Model("NVIDIA L4", "Ada Lovelace", "8.9.0", "23034Mi", ecc=False),
    _Model("Tesla T4", "Turing", "7.5.0", "15360Mi", ecc=None),
]
_DRIVERS: Final = [
    "535.104.5", "535.183.1", "550.54.15", "550.90.7", "570.86.15", "580.105.8",
]  # fmt: skip

type Json = dict[str, Any]


def rows() -> list[tuple[_Model, str, int, str]]:
    """Model, driver version, place on the node and uuid of every GPU."""
    found = []
    for node in range(NODES):
        model = _MODELS[node % len(_MODELS)]
        version = _DRIVERS[node // len(_MODELS) % len(_DRIVERS)]
        for place in range(PER_NODE):
            unique = f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{node}.{place}')}"
            found.append((model, version, place, unique))
    return found


def _attributes(model: _Model, version: str, place: int, unique: str) -> Json:
    attributes: Json = {
        "type": {"string": "gpu"},
        "uuid": {"string": unique},
        "productName": {"string": model.name},
        "brand": {"string": model.name.partition(" ")[0].capitalize()},
        "architecture": {"string": model.architecture},
        "cudaComputeCapability": {"version": model.compute},
        "driverVersion": {"version": version},
        "cudaDriverVersion": {"version": "13.0.0"},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{16 * place:02x}"},
        "resource.kubernetes.io/pciBusID": {
            "string": f"0000:{16 * place + 3:02x}:00.0"
        },
        "resource.kubernetes.io/numaNode": {"int": place // 4},
    }
    if model.ecc is not None:
        attributes["ecc"] = {"bool": model.ecc}
    return attributes


def published(row: tuple[_Model, str, int, str]) -> Json:
    """A device as a slice has it, with the driver beside."""
    model = row[0]
    return {
        "driver": DRIVER,
        "attributes": _attributes(*row),
        "capacity": {"memory": {"value": model.memory}},
    }


class Maker:
    """Makes devices for us; equal values are one object, as in a snapshot."""

    def __init__(self) -> None:
        self._values: dict[object, DeviceAttribute] = {}
        self._capacity: dict[str, dict[str, DeviceCapacity]] = {}

    def device(self, row: tuple[_Model, str, int, str]) -> cel.DeviceInput:
        attributes = {name: self._value(raw) for name, raw in _attributes(*row).items()}
        memory = row[0].memory
        capacity = self._capacity.setdefault(
            memory, {"memory": DeviceCapacity(value=memory)}
        )
        return cel.DeviceInput(DRIVER, attributes, capacity)

    def _value(self, raw: Json) -> DeviceAttribute:
        ((kind, value),) = raw.items()
        found = self._values.get((kind, value))
        if found is None:
            field = kind if kind in ("string", "version") else f"{kind}_"
            found = self._values[kind, value] = DeviceAttribute(**{field: value})
        return found
