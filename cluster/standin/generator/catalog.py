"""What a platform team sets up: namespaces, device classes, templates, a taint rules."""

from __future__ import annotations

from typing import Any, Final

from cluster.standin.generator.base import DRA_V1, Maker

Json = dict[str, Any]

_DAY: Final = 24 * 60
NAMESPACES: Final = ("team-a", "team-b", "research", "inference", "monitoring")
ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
_NVIDIA_TYPE: Final = (
    "device.driver == 'gpu.nvidia.com' && "
    "device.attributes['gpu.nvidia.com'].type == '{}'"
)
TIME_SLICING: Final[Json] = {
    "opaque": {
        "driver": "gpu.nvidia.com",
        "parameters": {
            "apiVersion": "resource.nvidia.com/v1beta1",
            "kind": "GpuConfig",
            "sharing": {
                "strategy": "TimeSlicing",
                "timeSlicingConfig": {"interval": "Medium"},
            },
        },
    }
}


def add(maker: Maker) -> None:
    """Add everything of this module."""
    _namespaces(maker)
    _classes(maker)
    _templates(maker)


def _namespaces(maker: Maker) -> None:
    for name in ("default", "kube-system", *NAMESPACES):
        labels = {"kubernetes.io/metadata.name": name}
        if name == "monitoring":
            labels[ADMIN_LABEL] = "true"
        maker.add(
            "v1",
            "Namespace",
            name,
            minutes=80 * _DAY,
            meta={"labels": labels},
            status={"phase": "Active"},
        )


def _classes(maker: Maker) -> None:
    full, mig = _NVIDIA_TYPE.format("gpu"), _NVIDIA_TYPE.format("mig")
    classes: tuple[tuple[str, list[str], Json], ...] = (
        ("gpu.nvidia.com", [full], {"extendedResourceName": "nvidia.com/gpu"}),
        ("mig.nvidia.com", [mig], {}),
        ("shared-gpu.example.com", [full], {"config": [TIME_SLICING]}),
        (
            "gpu.amd.com",
            ["device.driver == 'gpu.amd.com'"],
            {"extendedResourceName": "amd.com/gpu"},
        ),
        (
            "rdma.dra.net",
            ["device.driver == 'dra.net' && device.attributes['dra.net'].rdma"],
            {},
        ),
        ("dra.cpu", ["device.driver == 'dra.cpu'"], {}),
    )
    for name, expressions, more in classes:
        selectors = [{"cel": {"expression": text}} for text in expressions]
        maker.add(
            DRA_V1,
            "DeviceClass",
            name,
            minutes=maker.random.uniform(20, 60) * _DAY,
            meta={"generation": 1},
            spec={"selectors": selectors, **more},
        )


def exactly(name: str, device_class: str, *, count: int = 1, **more: Any) -> Json:
    """One request, as the API server stores it."""
    request = {"deviceClassName": device_class, "allocationMode": "ExactCount"}
    return {"name": name, "exactly": {**request, "count": count, **more}}


def profile(name: str) -> list[Json]:
    """The selector of one MIG profile."""
    text = f"device.attributes['gpu.nvidia.com'].profile == '{name}'"
    return [{"cel": {"expression": text}}]


def cpus(count: int) -> Json:
    """The capacity part of a request for CPUs."""
    return {"requests": {"dra.cpu/cpu": str(count)}}


TEMPLATES: Final[tuple[tuple[str, str, Json], ...]] = (
    ("team-a", "one-gpu", {"requests": [exactly("gpu", "gpu.nvidia.com")]}),
    ("team-a", "two-gpus", {"requests": [exactly("gpus", "gpu.nvidia.com", count=2)]}),
    (
        "team-a",
        "gpu-with-nic",
        {
            "requests": [
                exactly("gpu", "gpu.nvidia.com"),
                exactly("nic", "rdma.dra.net"),
            ],
            "constraints": [
                {
                    "requests": ["gpu", "nic"],
                    "matchAttribute": "resource.kubernetes.io/pcieRoot",
                }
            ],
        },
    ),
    (
        "team-b",
        "mig-small",
        {"requests": [exactly("part", "mig.nvidia.com", selectors=profile("1g.5gb"))]},
    ),
    (
        "team-b",
        "mig-half",
        {"requests": [exactly("part", "mig.nvidia.com", selectors=profile("3g.20gb"))]},
    ),
    ("research", "one-mi300x", {"requests": [exactly("gpu", "gpu.amd.com")]}),
    (
        "inference",
        "mig-medium",
        {"requests": [exactly("part", "mig.nvidia.com", selectors=profile("2g.10gb"))]},
    ),
    (
        "inference",
        "cpus-16",
        {"requests": [exactly("cpus", "dra.cpu", capacity=cpus(16))]},
    ),
)
"""Namespace, name, and the devices a template's claims ask for."""


def _templates(maker: Maker) -> None:
    for namespace, name, wanted in TEMPLATES:
        maker.add(
            DRA_V1,
            "ResourceClaimTemplate",
            name,
            namespace=namespace,
            minutes=maker.random.uniform(3, 40) * _DAY,
            spec={
                "metadata": {"labels": {"app.kubernetes.io/part-of": namespace}},
                "spec": {"devices": wanted},
            },
        )


def add_taint_rule(maker: Maker, pool: str) -> None:
    """A rule that keeps new claims off one MI300X of a node."""
    taint = {
        "key": "example.com/firmware-update",
        "value": "planned",
        "effect": "NoSchedule",
        "timeAdded": maker.ago(130),
    }
    selector = {
        "driver": "gpu.amd.com",
        "pool": pool,
        "device": "gpu-8-135",
    }
    maker.add(
        "resource.k8s.io/v1beta2",
        "DeviceTaintRule",
        f"firmware-update-{pool}",
        minutes=130,
        meta={"generation": 1},
        spec={"deviceSelector": selector, "taint": taint},
    )
