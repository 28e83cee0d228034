"""A claim's requests in words."""

from __future__ import annotations

from typing import Any

import pytest

from claims.wording import requests_text
from dra import objects

Json = dict[str, Any]


def words(*requests: Json, constraints: list[Json] | None = None) -> str:
    devices = {"requests": list(requests), "constraints": constraints}
    return requests_text(objects.read({"devices": devices}, objects.ResourceClaimSpec))


def exactly(class_name: str, name: str = "r", **fields: Any) -> Json:
    return {"name": name, "exactly": {"deviceClassName": class_name, **fields}}


NUMA = "resource.kubernetes.io/numaNode"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (words(), "no requests"),
        (words(exactly("gpu.nvidia.com")), "gpu.nvidia.com"),
        (words(exactly("gpu.nvidia.com", count=1)), "gpu.nvidia.com"),
        (words(exactly("gpu.nvidia.com", count=4)), "4 × gpu.nvidia.com"),
        (words(exactly("gpu", allocationMode="All")), "all gpu"),
        (words(exactly("gpu", adminAccess=True)), "gpu with admin access"),
        (
            words(exactly("gpu", count=4), constraints=[{"matchAttribute": NUMA}]),
            "4 × gpu, same numaNode",
        ),
        (
            words(
                exactly("gpu.nvidia.com", "gpu"),
                exactly("rdma.dra.net", "nic"),
                constraints=[
                    {
                        "requests": ["gpu", "nic"],
                        "matchAttribute": "resource.kubernetes.io/pcieRoot",
                    }
                ],
            ),
            "gpu.nvidia.com + rdma.dra.net, same pcieRoot",
        ),
        (
            words(
                exactly("gpu", "a"),
                exactly("nic", "b"),
                constraints=[{"requests": ["a"], "distinctAttribute": NUMA}],
            ),
            "gpu + nic, different numaNode in a",
        ),
        (
            words(
                exactly(
                    "dra.cpu",
                    capacity={"requests": {"dra.cpu/cpu": "48", "mem": "1Gi"}},
                )
            ),
            "dra.cpu (cpu 48, mem 1Gi)",
        ),
        (
            words(
                {
                    "name": "any",
                    "firstAvailable": [
                        {"name": "big", "deviceClassName": "gpu"},
                        {"name": "small", "deviceClassName": "mig", "count": 2},
                    ],
                }
            ),
            "first of: gpu | 2 × mig",
        ),
        (
            words(
                {
                    "name": "any",
                    "firstAvailable": [{"name": "x", "deviceClassName": "gpu"}],
                },
                exactly("nic"),
            ),
            "(first of: gpu) + nic",
        ),
        (words({"name": "future"}), "a request of an unknown kind"),
        (words(exactly("")), "(no class)"),
        (words(exactly("gpu"), constraints=[{"requests": ["r"]}]), "gpu"),
    ],
)
def test_requests_read_as_a_person_would_say_them(text: str, expected: str) -> None:
    assert text == expected
