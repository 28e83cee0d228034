"""Which of Kubernetes' feature gates decide what the API server accepts and keeps.

More than the gates of an allocation (:class:`dra.allocation.features.Features`):
some only matter to the API server. Defaults per version are those of the
Kubernetes documentation.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Final

from dra.allocation.features import GATES as OF_ALLOCATION
from dra.allocation.features import Features
from dra.cel import CelFeatures

type Release = tuple[int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Gates:
    """One boolean per gate, and the release whose rules hold.

    Where a gate is off, the API server silently drops the fields that belong to
    it, unless the stored object uses the feature already.
    """

    release: Release = (1, 36)
    admin_access: bool = False
    prioritized_list: bool = False
    partitionable_devices: bool = False
    device_taints: bool = False
    device_binding_and_status: bool = False
    consumable_capacity: bool = False
    list_type_attributes: bool = False
    derived_attributes: bool = False
    device_compatibility_groups: bool = False
    device_status: bool = False
    extended_resource: bool = False
    node_allocatable_resources: bool = False

    @classmethod
    def preset(cls, version: str) -> Gates:
        """The defaults of a Kubernetes version (``1.36``, ``v1.36.2``).

        Raises ValueError for a text that is no version.
        """
        return cls.of(Features.preset(version), version)

    @classmethod
    def of(cls, features: Features, version: str) -> Gates:
        """The gates that the portal knows of a cluster; the rest as ``version`` has them.

        Raises ValueError for a version that is none.
        """
        found = re.match(r"v?(\d+)\.(\d+)", version)
        if found is None:
            raise ValueError(f"{version!r} is no Kubernetes version like 1.36")
        release = (int(found[1]), int(found[2]))
        return cls(
            release=release,
            **dataclasses.asdict(features),
            **{name: release >= since for name, since in _ON_SINCE.items()},
        )

    @classmethod
    def from_names(cls, gates: Mapping[str, bool]) -> Gates:
        """From names like ``prioritizedList`` or ``DRAPrioritizedList``; others are off.

        Raises ValueError with the name of a gate that is unknown.
        """
        known: dict[str, bool] = {}
        of_allocation: dict[str, bool] = {}
        for name, on in gates.items():
            field = _OWN_NAMES.get(name)
            if field is None:
                of_allocation[name] = on
            else:
                known[field] = bool(on)
        features = Features.from_gates(of_allocation)
        if gates.get("all"):
            known = dict.fromkeys(_ON_SINCE, True) | _ALPHA_OF_1_36 | known
        return cls(**{**dataclasses.asdict(features), **known})

    @classmethod
    def of_cluster(cls, version: str, gates: Mapping[str, bool]) -> Gates:
        """What a server says it is, 1.36 where that is no version, with the ``gates``
        that somebody set otherwise by Kubernetes' names."""
        features = Features.of_cluster(version, gates)
        try:
            found = cls.of(features, version)
        except ValueError:
            found = cls.of(features, _NEWEST)
        own: dict[str, Any] = {
            _OWN_NAMES[name]: on for name, on in gates.items() if name in _OWN_NAMES
        }
        return dataclasses.replace(found, **own)

    @property
    def cel(self) -> CelFeatures:
        return CelFeatures(
            consumable_capacity=self.consumable_capacity,
            list_type_attributes=self.list_type_attributes,
        )

    @property
    def strict(self) -> bool:
        """Whether the release has the checks that came after 1.36."""
        return self.release > (1, 36)


_ON_SINCE: Final[dict[str, Release]] = {
    "device_status": (1, 33),
    "extended_resource": (1, 36),
}
"""Gates that only the API server has, and since when they are on."""

_ALPHA_OF_1_36: Final = {"node_allocatable_resources": True}

_OWN_NAMES: Final = {
    "deviceStatus": "device_status",
    "extendedResource": "extended_resource",
    "nodeAllocatableResources": "node_allocatable_resources",
    "DRAResourceClaimDeviceStatus": "device_status",
    "DRAExtendedResource": "extended_resource",
    "DRANodeAllocatableResources": "node_allocatable_resources",
}

_NEWEST: Final = "1.36"

GATE_NAMES: Final = frozenset(
    name for name in (*OF_ALLOCATION, *_OWN_NAMES) if name.startswith("DRA")
)
"""Kubernetes' names of all gates that are known here."""

ALL_OF_1_36: Final = Gates.from_names({"all": True})
"""Every gate that 1.36 has."""
