"""Values and ready terms for selectors: right on every device they are offered for."""

from __future__ import annotations

import numpy as np
import pytest

from claims.authoring.choices import (
    Ask,
    selector_snippets,
    values_of,
    wanted,
)
from dra import cel
from dra.allocation import DEFAULT, Features
from dra.cel.selection import ERROR, TRUE
from dra.snapshot import Snapshot
from tests.dra.allocation.world import cluster, devices
from tests.dra.builders import DRIVER, Json, device

CLASSES = ("gpu.nvidia.com", "mig.nvidia.com", "gpu.amd.com", "rdma.dra.net", "dra.cpu")


def passing(snapshot: Snapshot, ask: Ask, expression: str) -> int:
    """On how many devices of the request; it must fail on none."""
    table = snapshot.devices()
    rows = wanted(snapshot, ask, DEFAULT).rows
    outcomes = table.select(cel.compile(expression)).outcomes[rows]
    assert not (outcomes == ERROR).any(), expression
    return int(np.count_nonzero(outcomes == TRUE))


@pytest.mark.parametrize("name", CLASSES)
def test_a_snippet_matches_as_many_devices_as_it_says(
    demo: Snapshot, name: str
) -> None:
    found = selector_snippets(demo, Ask(name))
    assert found
    for snippet in found:
        assert passing(demo, Ask(name), snippet.expression) == snippet.devices
        assert 0 < snippet.devices <= snippet.of


ODD: list[Json] = [
    {"name": "a"},
    {"name": "b", "attributes": {"model": {"string": 'a "quoted" \\ text'}}},
    {"name": "c", "attributes": {"model": {"string": ""}, "sriov": {"bool": False}}},
    {"name": "d", "attributes": {"numaNode": {"int": -1}, "rdma": {"bool": True}}},
    {"name": "e", "attributes": {"numaNode": {"int": 0}, "driverVersion": {"version": "0.0.0"}}},
    {"name": "f", "attributes": {"driverVersion": {"version": "1.2.3"}, "in": {"string": "x"}}},
    {"name": "g", "attributes": {"model": {"int": 7}, "in": {"string": "y"}}},
    {"name": "h", "capacity": {"memory": {"value": "80Gi"}, "size": {"value": "0"}}},
    {"name": "i", "capacity": {"memory": {"value": "81920Mi"}}, "allowMultipleAllocations": True},
    {"name": "j", "capacity": {"memory": {"value": "40G"}}, "attributes": {"numaNode": {"int": 0}}},
]  # fmt: skip


@pytest.mark.parametrize("count", range(1, len(ODD) + 1))
def test_odd_devices_get_terms_that_are_right(count: int) -> None:
    world = cluster(devices(*ODD[:count]))
    ask = Ask("gpu")
    for snippet in selector_snippets(world, ask):
        assert passing(world, ask, snippet.expression) == snippet.devices
    for read in world.devices().columns:
        if not read.domain:
            continue
        name = f"{read.domain}/{read.identifier}"
        for value in values_of(world, ask, name, kind=read.kind).values:
            if value.expression:
                assert passing(world, ask, value.expression) >= value.devices


def test_terms_that_leave_devices_out_come_first(demo: Snapshot) -> None:
    found = selector_snippets(demo, Ask("gpu.nvidia.com"))
    assert found[0].label == "productName is NVIDIA H100 80GB HBM3"
    narrow = [snippet.devices < snippet.of for snippet in found]
    assert narrow == sorted(narrow, reverse=True)


def test_what_numbers_the_devices_of_a_node_is_no_term(demo: Snapshot) -> None:
    labels = [snippet.label for snippet in selector_snippets(demo, Ask("gpu.amd.com"))]
    assert not [label for label in labels if label.startswith(("cardIndex", "pciAddr"))]


def test_sharing_is_a_term_where_the_version_knows_it() -> None:
    world = cluster(devices(device("a"), device("b", allowMultipleAllocations=True)))
    labels = [snippet.label for snippet in selector_snippets(world, Ask("gpu"))]
    assert labels == ["shared by several claims", "not shared"]
    assert selector_snippets(world, Ask("gpu"), Features.preset("1.34")) == []


def test_the_most_common_values_come_first(demo: Snapshot) -> None:
    found = values_of(demo, Ask("gpu.nvidia.com"), "gpu.nvidia.com/productName")
    assert [(value.text, value.devices) for value in found.values] == [
        ("NVIDIA H100 80GB HBM3", 64),
        ("NVIDIA A100-SXM4-40GB", 20),
    ]
    assert (found.type, found.having, found.distinct) == ("string", 84, 2)
    assert found.sentence == (
        "84 of 84 devices that match publish it, with 2 different values."
    )


def test_values_narrow_with_the_request(demo: Snapshot) -> None:
    h100 = 'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'
    found = values_of(
        demo, Ask("gpu.nvidia.com", (h100,)), "gpu.nvidia.com/productName"
    )
    assert [value.text for value in found.values] == ["NVIDIA H100 80GB HBM3"]


def test_capacities_have_values_too(demo: Snapshot) -> None:
    found = values_of(demo, Ask("dra.cpu"), "dra.cpu/cpu", kind="capacity")
    assert [(v.text, v.label) for v in found.values] == [
        ("64", "cpu at least 64"),
        ("96", "cpu at least 96"),
    ]


def test_unknown_names_have_no_values(demo: Snapshot) -> None:
    found = values_of(demo, Ask("dra.cpu"), "dra.cpu/nothing")
    assert (found.values, found.sentence) == ((), "No device publishes it.")
    none = values_of(demo, Ask("dra.cpu"), "gpu.amd.com/family")
    assert none.sentence == "None of 40 devices that match publishes it."
    with pytest.raises(ValueError, match="map of a device"):
        values_of(demo, Ask("dra.cpu"), "x/y", kind="driver")


def test_a_selector_that_is_being_written_is_passed_over(demo: Snapshot) -> None:
    whole = wanted(demo, Ask("gpu.amd.com"), DEFAULT)
    half = wanted(demo, Ask("gpu.amd.com", ("device.attributes[",)), DEFAULT)
    assert len(half) == len(whole)
    assert half.left_out == ("device.attributes[",)


def test_an_ask_is_read_from_any_json() -> None:
    assert Ask.of({}) == Ask("")
    assert Ask.of(
        {
            "deviceClassName": 7,
            "count": "two",
            "selectors": [None, {"cel": "x"}, {"cel": {"expression": "true"}}],
        }
    ) == Ask("", ("true",))
    assert Ask.of(
        {"deviceClassName": "c", "count": 3, "allocationMode": "All"}, "r"
    ) == (Ask("c", name="r", count=3, everything=True))
    assert DRIVER not in repr(Ask("c"))
