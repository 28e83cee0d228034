"""Taints that are there now, as tolerations."""

from __future__ import annotations

import pytest

from claims.authoring.choices import Ask, taint_choices
from dra.allocation import Features, Fits, place
from dra.objects import write
from dra.snapshot import Snapshot
from dra.validation import Request, validate
from tests.dra.allocation.world import cluster, devices, exactly, wanted
from tests.dra.builders import DRIVER, device, taint_rule


def test_taints_of_drivers_and_of_rules_are_there(demo: Snapshot) -> None:
    firmware, xid = taint_choices(demo, Ask("gpu.amd.com"))
    assert (firmware.key, firmware.value, firmware.effect) == (
        "example.com/firmware-update",
        "planned",
        "NoSchedule",
    )
    assert (firmware.devices, firmware.matching) == (1, 1)
    assert firmware.rules == ("firmware-update-gpu-mi300x-04",)
    assert (xid.devices, xid.matching, xid.rules) == (1, 0, ())


def test_the_toleration_gets_the_device(demo: Snapshot) -> None:
    world = cluster(
        devices(
            device("a", taints=[{"key": "k", "effect": "NoSchedule"}]),
            device("b", taints=[{"key": "k", "value": "v", "effect": "NoExecute"}]),
        )
    )
    for choice in taint_choices(world):
        claim = wanted(exactly(tolerations=[dict(choice.toleration)]))
        assert isinstance(place(world, [claim]), Fits)


def test_a_rule_for_everything_is_on_all_devices() -> None:
    world = cluster(
        devices(device("a", taints=[{"key": "k", "effect": "NoExecute"}]), device("b")),
        taint_rule("everywhere"),
        taint_rule("again", driver=DRIVER),
    )
    rule, own = taint_choices(world, Ask("gpu"))
    assert (rule.devices, rule.matching) == (2, 2)
    assert rule.rules == ("again", "everywhere")
    assert rule.sentence == (
        "On 2 devices, 2 of which match, put there by the rules again and everywhere. "
        "Without a toleration no new claim gets them."
    )
    assert own.effect == "NoExecute"
    assert own.devices == 1
    assert "pods that use it are evicted" in own.sentence


def test_a_taint_without_effect_comes_last() -> None:
    info = {"key": "a", "effect": "None"}
    block = {"key": "z", "effect": "NoSchedule"}
    world = cluster(
        devices(device("a", taints=[info]), device("b", taints=[info, block]))
    )
    found = taint_choices(world)
    assert [choice.key for choice in found] == ["z", "a"]
    assert found[1].sentence == (
        "On 2 devices, published by the driver. It keeps no claim away and needs no "
        "toleration."
    )


def test_only_matching_devices_count_for_a_request() -> None:
    world = cluster(
        devices(
            device("a", taints=[{"key": "k", "effect": "NoSchedule"}]),
            device("b", attributes={"x": {"int": 1}}),
        )
    )
    has = f'"x" in device.attributes["{DRIVER}"]'
    (taint,) = taint_choices(world, Ask("gpu", (has,)))
    assert (taint.devices, taint.matching) == (1, 0)
    assert "none of which matches" in taint.sentence


def test_older_releases_know_no_taints(demo: Snapshot) -> None:
    assert taint_choices(demo, features=Features.preset("1.34")) == []


@pytest.mark.parametrize("name", ["gpu.amd.com", "gpu.nvidia.com"])
def test_the_api_server_accepts_the_tolerations(demo: Snapshot, name: str) -> None:
    tolerations = [dict(choice.toleration) for choice in taint_choices(demo, Ask(name))]
    claim = wanted(exactly(cls=name, tolerations=tolerations))
    sent = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", **write(claim)}
    assert validate(Request("ResourceClaim", sent)).causes == ()
