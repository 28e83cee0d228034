"""Classes to choose from say what they would give."""

from __future__ import annotations

from claims.authoring.choices import class_choices
from dra.allocation.classes import class_usage
from dra.names import ObjectKey
from dra.snapshot import EMPTY, Snapshot
from tests.dra.allocation.world import attribute, cluster, device_class, devices
from tests.dra.builders import claim, device, result


def test_every_class_of_the_demo_is_there_with_its_numbers(demo: Snapshot) -> None:
    usage = class_usage(demo)
    found = {choice.name: choice for choice in class_choices(demo)}
    assert found.keys() == usage.keys()
    for name, choice in found.items():
        assert (choice.devices, choice.free) == (usage[name].matched, usage[name].free)
    assert found["gpu.amd.com"].extended_resource == "amd.com/gpu"
    assert found["mig.nvidia.com"].drivers == ("gpu.nvidia.com",)


def test_useful_classes_come_first() -> None:
    big = f'{attribute("size")} == "big"'
    world = cluster(
        device_class("a-none", "false"),
        device_class("b-held", f"has({attribute('size')}) && {big}"),
        device_class("c-fails", f'{attribute("odd")} == "x"'),
        device_class("d-all"),
        devices(
            device("gpu-0", attributes={"size": {"string": "big"}}),
            device("gpu-1", attributes={"odd": {"string": "x"}}),
        ),
        claim("holder", result("gpu-0")),
    )
    assert [choice.name for choice in class_choices(world)] == [
        "d-all",
        "c-fails",
        "b-held",
        "a-none",
    ]


def test_each_has_a_sentence_that_says_what_to_expect() -> None:
    world = cluster(
        device_class("all"),
        device_class("fails", f'{attribute("odd")} == "x"'),
        device_class("fails-on-all", f'{attribute("no")} == "x"'),
        device_class("none", "false"),
        device_class("held", f'"odd" in device.attributes["{"gpu.example.com"}"]'),
        devices(device("gpu-0", attributes={"odd": {"string": "x"}}), device("gpu-1")),
        claim("holder", result("gpu-0")),
    )
    said = {choice.name: choice.sentence for choice in class_choices(world)}
    assert said["all"] == "2 devices: 1 free and 1 in use."
    assert said["none"] == "No device of this cluster is of it. Choose another class."
    assert said["held"] == (
        "1 device: in use. A claim will wait until one is released."
    )
    assert said["fails"].startswith("1 device: in use. Its selector fails on 1 more (")
    assert "a claim that comes to one of them is not scheduled" in said["fails"]
    assert said["fails-on-all"].startswith("No device can be of it: its selector fails")


def test_a_released_claim_changes_the_numbers() -> None:
    world = cluster(devices(device("gpu-0")), claim("holder", result("gpu-0")))
    (before,) = class_choices(world)
    after = world.refresh((), [ObjectKey("ResourceClaim", "default", "holder")], seq=2)
    (now,) = class_choices(after)
    assert (before.free, now.free) == (0, 1)


def test_no_class_is_no_choice() -> None:
    assert class_choices(EMPTY) == []
