"""What an expression may refer to, by feature gates and age of the expression."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from dra.cel import functions
from dra.cel import types as t
from dra.cel.checker import Environment


@dataclass(frozen=True, slots=True)
class CelFeatures:
    """The two feature gates that change CEL, at their defaults in 1.36."""

    consumable_capacity: bool = True
    list_type_attributes: bool = False


DEFAULT: Final = CelFeatures()

type Age = Literal["stored", "new"]
"""``new`` expressions may only use what the previous release knows too."""

_DYN_MAP = t.map_of(t.DYN, t.DYN)
_TYPE_NAMES: Final = {
    "bool": t.BOOL,
    "bytes": t.BYTES,
    "double": t.DOUBLE,
    "google.protobuf.Duration": t.DURATION,
    "google.protobuf.Timestamp": t.TIMESTAMP,
    "int": t.INT,
    "kubernetes.DRADevice": t.DEVICE,
    "list": t.list_of(t.DYN),
    "map": _DYN_MAP,
    "net.CIDR": t.CIDR,
    "net.IP": t.IP,
    "null_type": t.NULL,
    "optional_type": t.optional_of(t.DYN),
    "string": t.STRING,
    "type": t.type_of(t.DYN),
    "uint": t.UINT,
}


@cache
def environment(features: CelFeatures, age: Age) -> Environment:
    """The environment for expressions of this age under these gates."""
    attribute = t.DYN if features.list_type_attributes else t.ANY
    fields = {
        "driver": t.STRING,
        "attributes": t.map_of(t.STRING, t.map_of(t.STRING, attribute)),
        "capacity": t.map_of(t.STRING, t.map_of(t.STRING, t.QUANTITY)),
    }
    if features.consumable_capacity or age == "stored":
        fields["allowMultipleAllocations"] = t.BOOL
    return Environment(
        functions=functions.declarations(
            includes=features.list_type_attributes or age == "stored"
        ),
        variables={"device": t.DEVICE},
        fields={t.DEVICE.name: fields},
        type_names=_TYPE_NAMES,
    )
