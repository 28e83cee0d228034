"""What a share consumes of a capacity, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from claims.authoring import previewing
from claims.authoring.previewing import previewed
from claims.authoring.rounding import Rounding
from dra.objects import ResourceClaim, read
from dra.snapshot import Snapshot
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.allocator.builders import Json

LAB = Cluster(pk=1, name="lab", version="v1.36.2")
STEPS = {"default": "1Gi", "validRange": {"min": "4Gi", "max": "40Gi", "step": "4Gi"}}
VALUES = {"default": "10", "validValues": ["10", "25", "50"]}


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    previewing.forget()
    yield
    previewing.forget()


def shared(name: str, **capacity: Json) -> Json:
    return build.device(name, allowMultipleAllocations=True, capacity=capacity)


def rounded(devices: list[Json], **asked: str) -> tuple[Rounding, ...]:
    world = Snapshot.build(
        [build.device_class(), build.node("n0"), build.slice_("n0", devices)]
    )
    more: dict[str, Any] = {"capacity": {"requests": asked}} if asked else {}
    claim = read(build.claim("mine", build.request(**more)), ResourceClaim)
    (request,) = previewed(LAB, world, [claim]).requests
    return request.roundings


def memory(policy: Json | None = None, value: str = "80Gi") -> Json:
    return {"value": value} | ({"requestPolicy": policy} if policy else {})


@pytest.mark.parametrize(
    ("policy", "asked", "consumes", "words"),
    [
        (STEPS, "5Gi", "8Gi", "asks 5Gi, consumes 8Gi: steps of 4Gi from 4Gi"),
        (STEPS, "1Mi", "4Gi", "asks 1Mi, consumes 4Gi: 4Gi is the least"),
        (
            STEPS,
            "41Gi",
            "",
            "asks 41Gi, which is refused: 40Gi is the most that one request may have",
        ),
        (VALUES, "20", "25", "asks 20, consumes 25: one of 10, 25, 50"),
        (VALUES, "60", "", "asks 60, which is refused: one of 10, 25, 50"),
        (None, "5Gi", "5Gi", "asks 5Gi, consumes 5Gi: as asked"),
        (None, "81Gi", "", "asks 81Gi, more than the device has, 80Gi"),
    ],
)
def test_an_amount_asked_for_is_rounded_as_the_policy_says(
    policy: Json | None, asked: str, consumes: str, words: str
) -> None:
    (found,) = rounded([shared("gpu-0", memory=memory(policy))], memory=asked)
    assert (found.consumes, found.words) == (consumes, words)
    assert (found.capacity, found.asked, found.total) == ("memory", asked, "80Gi")


def test_what_is_not_asked_for_is_consumed_too_where_devices_are_shared() -> None:
    device = shared("gpu-0", memory=memory(STEPS), cores={"value": "100"})
    found = {each.capacity: each.words for each in rounded([device], memory="4Gi")}
    assert found["cores"] == (
        "asks for none, consumes 100: all of it, as the device has no default"
    )
    (default,) = rounded([shared("gpu-0", memory=memory(STEPS))])
    assert default.words == "asks for none, consumes 1Gi: the default"
    assert default.asked == ""


def test_equal_devices_of_different_policy_are_told_apart() -> None:
    devices = [
        shared("gpu-0", memory=memory(STEPS)),
        shared("gpu-1", memory=memory()),
        shared("gpu-2", memory=memory()),
    ]
    most, fewer = rounded(devices, memory="5Gi")
    assert (most.consumes, most.devices, most.example.device) == ("5Gi", 2, "gpu-1")
    assert (fewer.consumes, fewer.devices, fewer.example.device) == ("8Gi", 1, "gpu-0")


def test_a_device_had_alone_is_had_whole() -> None:
    (found,) = rounded([build.device("gpu-0")], memory="5Gi")
    assert found.words == "asks 5Gi, gets the whole device with its 80Gi"
    assert rounded([build.device("gpu-0")]) == ()


def test_a_capacity_that_a_device_lacks_is_said() -> None:
    (found,) = rounded([build.device("gpu-0")], cores="5")
    assert (found.consumes, found.total) == ("", "")
    assert found.words == "asks 5, but the device has no cores"


def test_the_amount_is_what_an_allocation_writes() -> None:
    device = shared("gpu-0", memory=memory(STEPS), cores={"value": "100"})
    world = Snapshot.build(
        [build.device_class(), build.node("n0"), build.slice_("n0", [device])]
    )
    asked = {"requests": {"memory": "5Gi"}}
    claim = read(build.claim("mine", build.request(capacity=asked)), ResourceClaim)
    found = previewed(LAB, world, [claim])
    (given,) = found.explanation.given
    said = {r.capacity: r.consumes for r in found.requests[0].roundings}
    assert given.consumed == said == {"memory": "8Gi", "cores": "100"}
