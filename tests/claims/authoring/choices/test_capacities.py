"""Capacities say what devices have, and what an amount comes to."""

from __future__ import annotations

import pytest

from claims.authoring.choices import Ask, capacity_choices, policy_words, rounded
from dra.allocation import Features, Fits, allocate
from dra.objects import DeviceCapacity, read
from dra.snapshot import Snapshot
from tests.dra.allocation.world import cluster, devices, exactly, wanted
from tests.dra.builders import Json, device

STEPS = {"default": "4Gi", "validRange": {"min": "4Gi", "max": "80Gi", "step": "4Gi"}}
VALUES = {"default": "10", "validValues": ["10", "25", "50", "100"]}
RANGE = {"default": "1G", "validRange": {"min": "100M", "max": "100G"}}


def capacity(value: str, policy: Json | None = None) -> DeviceCapacity:
    raw: Json = {"value": value}
    if policy:
        raw["requestPolicy"] = policy
    return read(raw, DeviceCapacity)


@pytest.mark.parametrize(
    ("value", "policy", "amount", "consumes", "words"),
    [
        ("80Gi", STEPS, "5Gi", "8Gi", "5Gi → 8Gi, from 4Gi to 80Gi in steps of 4Gi (4Gi by default)"),
        ("80Gi", STEPS, "8Gi", "8Gi", "8Gi"),
        ("80Gi", STEPS, "1Gi", "4Gi", "1Gi → 4Gi, from 4Gi to 80Gi in steps of 4Gi (4Gi by default)"),
        ("80Gi", STEPS, "81Gi", "", "81Gi → refused, from 4Gi to 80Gi in steps of 4Gi (4Gi by default)"),
        ("80Gi", STEPS, None, "4Gi", "none → 4Gi, from 4Gi to 80Gi in steps of 4Gi (4Gi by default)"),
        ("100", VALUES, "12", "25", "12 → 25, one of 10, 25, 50 or 100 (10 by default)"),
        ("100", VALUES, "101", "", "101 → refused, one of 10, 25, 50 or 100 (10 by default)"),
        ("100G", RANGE, "1500M", "1500M", "1500M"),
        ("64", None, "16", "16", "16"),
        ("64", None, None, "64", "none → 64, any amount up to 64 (all of it by default)"),
        ("64", None, "65", "", "65 → 65, but the device has only 64"),
    ],
)  # fmt: skip
def test_an_amount_is_rounded_as_the_policy_says(
    value: str, policy: Json | None, amount: str | None, consumes: str, words: str
) -> None:
    found = rounded(capacity(value, policy), amount)
    assert (found.consumes, found.words) == (consumes, words)


@pytest.mark.parametrize("text", ["", "5 Gi", "many", "9" * 2000])
def test_any_text_has_an_answer(text: str) -> None:
    found = rounded(capacity("80Gi", STEPS), text)
    assert found.consumes == ""
    assert "quantity" in found.words


@pytest.mark.parametrize("amount", ["1", "3Gi", "5Gi", "33Gi", "80Gi", "81Gi"])
def test_the_engine_takes_what_was_said(amount: str) -> None:
    memory = {"value": "80Gi", "requestPolicy": STEPS}
    world = cluster(
        devices(device("g", allowMultipleAllocations=True, capacity={"memory": memory}))
    )
    said = rounded(capacity("80Gi", STEPS), amount)
    asked = exactly(capacity={"requests": {"memory": amount}})
    outcome = allocate(world, [wanted(asked)], "n1")
    if not said.consumes:
        assert not isinstance(outcome, Fits)
        return
    assert isinstance(outcome, Fits)
    (result,) = outcome.allocations[0].devices.results or []
    assert (result.consumed_capacity or {})["memory"] == said.consumes


def test_the_demo_shares_its_cpus(demo: Snapshot) -> None:
    (cpu,) = capacity_choices(demo, Ask("dra.cpu"))
    assert (cpu.name, cpu.having, cpu.devices, cpu.shareable) == (
        "dra.cpu/cpu",
        40,
        40,
        40,
    )
    assert (cpu.least, cpu.most) == ("64", "96")
    assert [(offer.value, offer.devices) for offer in cpu.offers] == [
        ("64", 34),
        ("96", 6),
    ]
    assert cpu.sentence == (
        "All 40 devices that match have it. They are shared and give any amount up to "
        "64 (all of it by default); or any amount up to 96 (all of it by default)."
    )


def test_without_the_feature_nothing_is_shared(demo: Snapshot) -> None:
    old = Features.preset("1.34")
    (cpu,) = capacity_choices(demo, Ask("dra.cpu"), old)
    assert cpu.shareable == 0
    assert "They are not shared" in cpu.sentence


def test_names_are_those_that_devices_write() -> None:
    world = cluster(
        devices(
            device("a", capacity={"memory": {"value": "1Gi"}}),
            device("b", capacity={"gpu.example.com/memory": {"value": "2Gi"}}),
            device("c"),
        )
    )
    found = capacity_choices(world, Ask("gpu"))
    assert {choice.name for choice in found} == {"memory", "gpu.example.com/memory"}
    assert all(choice.having == 1 for choice in found)
    assert "the others cannot be taken once it is asked for" in found[0].sentence


def test_the_first_amount_is_one_that_is_given_as_it_is(demo: Snapshot) -> None:
    world = cluster(
        devices(
            device(
                "g",
                allowMultipleAllocations=True,
                capacity={
                    "memory": {"value": "80Gi", "requestPolicy": STEPS},
                    "cores": {"value": "100", "requestPolicy": VALUES},
                    "odd": {"value": "what"},
                },
            )
        )
    )
    starts = {c.name: c.start for c in capacity_choices(world, Ask("gpu"))}
    assert starts == {"memory": "4Gi", "cores": "10", "odd": ""}
    for choice in capacity_choices(demo, Ask("mig.nvidia.com")):
        if choice.start:
            assert not rounded(choice.offers[0].capacity, choice.start).changed


def test_no_device_has_no_capacity(demo: Snapshot) -> None:
    assert capacity_choices(demo, Ask("no-such-class")) == []


def test_a_policy_without_limits_is_said_too() -> None:
    assert policy_words(capacity("1", {"default": "1"})) == (
        "any amount up to 1 (1 by default)"
    )
    assert policy_words(capacity("1", {"validValues": ["1"]})) == (
        "only 1 (all of it by default)"
    )
