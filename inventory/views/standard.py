"""What the attributes mean that Kubernetes itself standardises."""

from __future__ import annotations

from typing import Final

_MEANINGS: Final = {
    "resource.kubernetes.io/pcieRoot": "PCIe root complex. Devices below the same one "
    "reach each other without crossing the CPU: match it to keep a GPU near its NIC.",
    "resource.kubernetes.io/pciBusID": "PCI address of the device on its node.",
    "resource.kubernetes.io/numaNode": "NUMA node that the device hangs on. Match it to "
    "keep devices near the same memory.",
}


def explain(name: str) -> str:
    """One sentence for a standard attribute, else empty."""
    return _MEANINGS.get(name, "")
