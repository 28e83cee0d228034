"""Attributes and capacities that many drivers publish, and what they mean to people.

Names are those of the drivers and of Kubernetes' own library of standard names
(``resource.kubernetes.io``). Nothing is decided by a name: it only says what comes
first in a list and what is explained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

STANDARD: Final = "resource.kubernetes.io"
"""The domain of the names that Kubernetes itself standardises."""

PREFERRED: Final[Mapping[str, tuple[str, ...]]] = {
    "string": (
        "productName",
        "product",
        "model",
        "tpuGen",
        "instanceType",
        "family",
        "profile",
        "coreType",
        "pciDevice",
        "type",
    ),
    "version": ("driverVersion", "firmwareVersion"),
    "bool": ("rdma", "rdmaCapable", "sriov", "healthy", "smtEnabled"),
    "int": ("numaNode", "numCPUs", "index"),
    "quantity": ("memory", "size", "cores", "cpu"),
}
"""What people choose a device by, per type of value, most telling first."""

_MEANINGS: Final = {
    f"{STANDARD}/pcieRoot": "PCIe root complex. Devices below the same one reach each "
    "other without crossing the CPU: match it to keep a GPU near its NIC.",
    f"{STANDARD}/pciBusID": "PCI address of the device on its node.",
    f"{STANDARD}/numaNode": "NUMA node that the device hangs on. Match it to keep "
    "devices near the same memory.",
}


def meaning(name: str) -> str:
    """One or two sentences for a standard attribute, else empty."""
    return _MEANINGS.get(name, "")
