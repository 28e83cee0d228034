"""Requests that derive attributes, and machines to try them on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dra.allocation import (
    Features,
    Fits,
    Outcome,
    allocate,
)
from dra.allocation.verify import verify
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot
from tests.dra.allocation.world import (
    attribute,
    cluster,
    device_class,
    devices,
    exactly,
    wanted,
)
from tests.dra.builders import DRIVER, device, piece

ON = Features.preset("1.37").override({"DRADerivedAttributes": True})
NIC = "nic.example.com"
AGREE = {"matchAttribute": "derived/numa"}
DIFFER = {"distinctAttribute": "derived/numa"}


def derives(expression: str, name: str = "derived/numa") -> Any:
    return {"derivedAttributes": [{"name": name, "expression": expression}]}


def ask(
    world: Snapshot, *claims: ResourceClaim, features: Features = ON, **options: Any
) -> Outcome:
    """The outcome; what is found has to be right by the rules."""
    outcome = allocate(world, claims, "n1", features=features, **options)
    if isinstance(outcome, Fits):
        found = verify(world, claims, outcome.allocations, "n1", features=features)
        assert found == ()
    return outcome


def gpu(name: str, numa: int, **fields: Any) -> Any:
    return device(name, attributes={"numa": {"int": numa}}, **fields)


def machine(*gpus: Any, nics: Any) -> Snapshot:
    """The documentation's example: two drivers, two names for one thing."""
    return cluster(
        device_class("gpu", f'device.driver == "{DRIVER}"'),
        device_class("nic", f'device.driver == "{NIC}"'),
        devices(*gpus),
        piece(
            "nics",
            *(device(n, attributes={"numaNode": {"int": i}}) for n, i in nics),
            driver=NIC,
        ),
    )


def aligned(**fields: Any) -> ResourceClaim:
    return wanted(
        exactly("gpu", **derives(attribute("numa"))),
        exactly(
            "nic",
            cls="nic",
            **derives(f'device.attributes["{NIC}"].numaNode'),
            **fields,
        ),
        constraints=[{"requests": ["gpu", "nic"], **AGREE}],
    )


requests = st.lists(
    st.tuples(st.sampled_from(["x", "y", ""]), st.integers(1, 3)),
    min_size=1,
    max_size=3,
)
