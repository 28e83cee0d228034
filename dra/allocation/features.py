"""Which of DRA's feature gates are on.

The gates of a running cluster are not in its API, so there is a preset per
Kubernetes version (the defaults of that release) that can be overridden gate by
gate. A gate that a release does not know is off.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Final


@dataclasses.dataclass(frozen=True, slots=True)
class Features:
    """One boolean per gate that changes an allocation; all off unless given."""

    admin_access: bool = False
    prioritized_list: bool = False
    partitionable_devices: bool = False
    device_taints: bool = False
    device_binding_and_status: bool = False
    consumable_capacity: bool = False
    list_type_attributes: bool = False
    derived_attributes: bool = False
    device_compatibility_groups: bool = False

    @classmethod
    def from_gates(cls, gates: Mapping[str, bool]) -> Features:
        """From short names (``prioritizedList``) or Kubernetes' own (``DRAPrioritizedList``).

        A gate not named is off; ``all`` switches every gate of 1.36 on. Raises
        ValueError with the name of a gate that is unknown.
        """
        known: dict[str, bool] = {}
        for name, on in gates.items():
            if name == "all":
                if on:
                    known = dict.fromkeys(_OF_1_36, True) | known
                continue
            field = _FIELDS.get(name)
            if field is None:
                raise ValueError(f"features.{name}: no such feature gate")
            known[field] = bool(on)
        return cls(**known)

    @classmethod
    def preset(cls, version: str) -> Features:
        """The defaults of a Kubernetes version (``1.36``, ``v1.36.2``, ``1.36+``).

        Versions older than 1.32 have no gate on, newer than 1.37 count as 1.37.
        Raises ValueError for a text that is no version.
        """
        found = re.match(r"v?(\d+)\.(\d+)", version)
        if found is None:
            raise ValueError(f"{version!r} is no Kubernetes version like 1.36")
        release = (int(found[1]), int(found[2]))
        on = {field: True for field, since in _ON_SINCE.items() if release >= since}
        return cls(**on)

    @classmethod
    def of_server(cls, version: str) -> Features:
        """The preset of what a server says it is, ``DEFAULT`` where that is no version."""
        try:
            return cls.preset(version)
        except ValueError:
            return DEFAULT

    @classmethod
    def of_cluster(cls, version: str, gates: Mapping[str, bool]) -> Features:
        """What a server says it is, with the ``gates`` that somebody set otherwise.

        Names of gates on which no allocation depends are passed over.
        """
        known = {name: on for name, on in gates.items() if name in _FIELDS}
        return cls.of_server(version).override(known)

    def override(self, gates: Mapping[str, bool]) -> Features:
        """The same with some gates set otherwise; names as in ``from_gates``."""
        changed = dataclasses.asdict(Features.from_gates(gates))
        named = {_FIELDS[name] for name in gates if name != "all"}
        return dataclasses.replace(self, **{name: changed[name] for name in named})


_FIELDS: Final[dict[str, str]] = {
    "adminAccess": "admin_access",
    "prioritizedList": "prioritized_list",
    "partitionableDevices": "partitionable_devices",
    "deviceTaints": "device_taints",
    "deviceBindingAndStatus": "device_binding_and_status",
    "consumableCapacity": "consumable_capacity",
    "listTypeAttributes": "list_type_attributes",
    "derivedAttributes": "derived_attributes",
    "deviceCompatibilityGroups": "device_compatibility_groups",
    "DRAAdminAccess": "admin_access",
    "DRAPrioritizedList": "prioritized_list",
    "DRAPartitionableDevices": "partitionable_devices",
    "DRADeviceTaints": "device_taints",
    "DRADeviceBindingConditions": "device_binding_and_status",
    "DRAConsumableCapacity": "consumable_capacity",
    "DRAListTypeAttributes": "list_type_attributes",
    "DRADerivedAttributes": "derived_attributes",
    "DRADeviceCompatibilityGroups": "device_compatibility_groups",
}

_OF_1_36: Final = (
    "admin_access",
    "prioritized_list",
    "partitionable_devices",
    "device_taints",
    "device_binding_and_status",
    "consumable_capacity",
    "list_type_attributes",
)

_ON_SINCE: Final[dict[str, tuple[int, int]]] = {
    "admin_access": (1, 34),
    "prioritized_list": (1, 34),
    "partitionable_devices": (1, 36),
    "device_taints": (1, 36),
    "device_binding_and_status": (1, 36),
    "consumable_capacity": (1, 36),
}

GATES: Final = frozenset(name for name in _FIELDS if name.startswith("DRA"))
"""Kubernetes' names of the gates that change an allocation."""

DEFAULT: Final = Features.preset("1.36")
