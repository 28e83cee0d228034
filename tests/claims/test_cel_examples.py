"""Expressions to start from: each is right for the devices that there are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claims.views.cel.examples import examples
from claims.views.cel.wording import cost, outcome, share
from cluster.standin.generator import generate
from dra import cel
from dra.cel.cost import Range
from dra.cel.selection import ERROR, TRUE
from dra.cel.writing import literal
from dra.snapshot import EMPTY, Snapshot
from inventory.selecting import Scope
from tests.inventory.views.conftest import named, slice_

Json = dict[str, Any]


def snapshot(*objects: Json) -> Snapshot:
    return EMPTY.refresh(objects, (), seq=1)


def found(world: Snapshot) -> dict[tuple[str, str], str]:
    return {
        (group.title, example.label): example.expression
        for group in examples(world, world.devices())
        for example in group.examples
    }


def counts(world: Snapshot, expression: str) -> tuple[int, int]:
    """Devices that match, devices without an answer."""
    outcomes = world.devices().select(cel.compile(expression)).outcomes
    return int((outcomes == TRUE).sum()), int((outcomes == ERROR).sum())


def test_every_example_of_the_demo_matches_something_and_never_fails() -> None:
    world = snapshot(*generate(nodes=20))
    said = found(world)
    assert {title for title, _ in said} == {
        "Classes of this cluster",
        "gpu.nvidia.com",
        "gpu.amd.com",
        "dra.net",
        "dra.cpu",
        "Any driver",
    }
    assert len(said) > 15
    for expression in said.values():
        matched, failed = counts(world, expression)
        assert matched, expression
        assert not failed, expression


def test_values_are_those_that_are_published() -> None:
    world = snapshot(*generate(nodes=20))
    said = found(world)
    assert ("gpu.nvidia.com", "memory at least 81559Mi") in said
    assert ("gpu.nvidia.com", "profile is 1g.5gb") in said
    assert ("dra.net", "rdma") in said


DEVICES: list[Json] = [
    {"name": "a"},
    {"name": "b", "attributes": {"odd-name": {"string": "x"}, "in": {"int": 1}}},
    {"name": "c", "attributes": {"profile": {"string": 'a "quoted" \\ \n text'}}},
    {"name": "d", "attributes": {"driverVersion": {"version": "no version"}}},
    {"name": "e", "attributes": {"model": {"string": "x"}, "healthy": {"bool": False}}},
    {"name": "f", "attributes": {"model": {"int": 3}, "list": {"ints": [1]}}},
    {"name": "g", "capacity": {"memory": {"value": "80Gi"}}},
]


@pytest.mark.parametrize("number", range(1, len(DEVICES) + 1))
def test_odd_devices_get_examples_that_compile(number: int) -> None:
    world = snapshot(slice_("s", DEVICES[:number]))
    for expression in found(world).values():
        counts(world, expression)


def test_no_class_and_no_device_give_no_example() -> None:
    assert found(snapshot()) == {}
    everything = named("DeviceClass", "all", {})
    assert found(snapshot(everything)) == {}


def test_a_class_with_several_selectors_is_one_expression() -> None:
    spec = {"selectors": [{"cel": {"expression": text}} for text in ("true", "false")]}
    said = found(snapshot(named("DeviceClass", "both", spec)))
    assert said == {("Classes of this cluster", "both"): "(true) && (false)"}


@given(st.text())
def test_a_text_is_written_as_cel_reads_it(text: str) -> None:
    driver = text.encode("utf-8", "replace").decode()
    program = cel.compile(f"device.driver == {literal(driver)}")
    assert program.evaluate(cel.DeviceInput(driver=driver)) is True


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((0, 0, 0), "The cluster has no device to try it on."),
        ((1, 1, 0), "Matches the only device."),
        ((1, 0, 0), "Does not match the only device."),
        ((1, 0, 1), "The only device has no answer: the scheduler would stop at it."),
        (
            (10245, 8192, 12),
            "Matches 8,192 of 10,245 devices; 12 have no answer, so the scheduler would "
            "stop at the first of them.",
        ),
        (
            (9, 0, 1),
            "Matches none of 9 devices; 1 has no answer, so the scheduler would stop at it.",
        ),
    ],
)
def test_the_answer_is_a_sentence(numbers: tuple[int, int, int], said: str) -> None:
    assert outcome(Scope(), *numbers) == said


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (0, 10, ""),
        (10, 10, "100 %"),
        (799, 1000, "79.9 %"),
        (1, 100_000, "<0.1 %"),
        (99_999, 100_000, ">99.9 %"),
    ],
)
def test_a_share_is_never_rounded_to_all_or_nothing(
    part: int, whole: int, said: str
) -> None:
    assert share(part, whole) == said


def test_the_cost_names_the_limit() -> None:
    assert cost(Range(3, 3), 10).startswith("Costs 3 of the 10 ")
    assert cost(Range(3, 9), 10).startswith("Costs 3 to 9 of the 10 ")
    assert cost(Range(3, 12), 10) == "May cost up to 12; the API server allows 10."
