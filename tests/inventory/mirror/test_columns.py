"""One kind's object → its columns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dra import objects
from dra.taints import TaintRules
from inventory.mirror import columns
from inventory.mirror.devices import device_columns, facts
from inventory.mirror.reading import key_of, meta_columns, moment, storable

Json = dict[str, Any]


def node(**fields: Any) -> columns.Columns:
    return columns.node_columns(objects.read(fields, objects.Node))


def condition(type_: str, status: str) -> Json:
    return {"status": {"conditions": [{"type": type_, "status": status}]}}


@pytest.mark.parametrize(
    ("fields", "ready"),
    [
        ({}, True),
        (condition("Ready", "True"), True),
        (condition("Ready", "False"), False),
        (condition("Ready", "Unknown"), False),
        (condition("MemoryPressure", "False"), True),
    ],
)
def test_a_node_is_ready_unless_its_condition_says_otherwise(
    fields: Json, *, ready: bool
) -> None:
    assert node(**fields)["ready"] is ready


def test_a_node_tells_zone_and_type_by_new_or_old_labels() -> None:
    new = {"topology.kubernetes.io/zone": "a", "node.kubernetes.io/instance-type": "t"}
    old = {
        "failure-domain.beta.kubernetes.io/zone": "a",
        "beta.kubernetes.io/instance-type": "t",
    }
    for labels in (new, old):
        found = node(metadata={"labels": labels})
        assert (found["zone"], found["instance_type"]) == ("a", "t")
    assert node()["zone"] == ""


@pytest.mark.parametrize(("value", "access"), [("true", True), ("True", False)])
def test_only_the_exact_label_value_allows_admin_access(
    value: str, *, access: bool
) -> None:
    labels = {columns.ADMIN_ACCESS_LABEL: value}
    namespace = objects.Namespace(metadata=objects.Meta(labels=labels))
    assert columns.namespace_columns(namespace) == {"admin_access": access}


def test_a_rule_without_a_selector_asks_for_nothing() -> None:
    rule = objects.read({"spec": {"taint": {}}}, objects.DeviceTaintRule)
    assert columns.rule_columns(rule) == {
        "driver": "",
        "pool": "",
        "device": "",
        "effect": "",
    }


def test_a_slice_is_counted() -> None:
    raw = {
        "spec": {
            "driver": "d",
            "allNodes": True,
            "pool": {"name": "p", "generation": 3, "resourceSliceCount": 2},
            "devices": [{"name": "a"}, {"name": "b"}],
            "sharedCounters": None,
        }
    }
    assert columns.slice_columns(objects.read(raw, objects.ResourceSlice)) == {
        "driver": "d",
        "pool_name": "p",
        "generation": 3,
        "slice_count": 2,
        "node_name": "",
        "all_nodes": True,
        "device_count": 2,
        "counter_set_count": 0,
    }


@pytest.mark.parametrize("spec", [None, [], {"driver": 7, "pool": "x"}, {"pool": {}}])
def test_of_a_slice_that_cannot_be_read_only_text_is_taken(spec: Any) -> None:
    assert columns.salvaged_slice_columns({"spec": spec}) == {}


def device(raw: Json, driver: str = "d.example.com") -> columns.Columns:
    body = {"driver": driver, "pool": {"name": "p"}, "devices": [raw]}
    piece = objects.read({"spec": body}, objects.ResourceSlice)
    return device_columns(piece, 0, raw, TaintRules([]))


def test_names_of_attributes_are_qualified_and_values_kept_as_published() -> None:
    found = device(
        {
            "name": "gpu-0",
            "attributes": {
                "model": {"string": "A", "future": 1},
                "resource.kubernetes.io/numaNode": {"int": -1},
            },
            "capacity": {
                "memory": {"value": "80Gi", "requestPolicy": {"default": "1"}}
            },
        }
    )
    assert found["attributes"] == {
        "d.example.com/model": {"string": "A", "future": 1},
        "resource.kubernetes.io/numaNode": {"int": -1},
    }
    assert found["capacity"] == {
        "d.example.com/memory": {"value": "80Gi", "requestPolicy": {"default": "1"}}
    }
    assert found["facts"] == (
        "\nd.example.com/model=A\nresource.kubernetes.io/numaNode=-1"
        "\nd.example.com/memory=80Gi\n"
    )


def test_a_name_written_out_wins_over_the_short_one() -> None:
    attributes = {"d.example.com/a": {"int": 1}, "a": {"int": 2}}
    found = device({"name": "x", "attributes": attributes})
    assert found["attributes"] == {"d.example.com/a": {"int": 1}}


def test_facts_have_a_line_per_value() -> None:
    attributes: dict[str, Json] = {
        "a": {"bool": False},
        "b": {"strings": ["x", "y\nz"]},
        "c": {"futureType": 1},
    }
    assert facts(attributes, {}) == "\na=false\nb=x\nb=y z\n"
    assert facts({}, {}) == ""


def test_a_device_may_name_its_own_node() -> None:
    assert device({"name": "x", "nodeName": "n"})["node_name"] == "n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-15T08:00:00Z", datetime(2026, 1, 15, 8, tzinfo=UTC)),
        ("2026-01-15T08:00:00.5+00:00", datetime(2026, 1, 15, 8, 0, 0, 500_000, UTC)),
        ("2026-01-15", datetime(2026, 1, 15, tzinfo=UTC)),
        ("yesterday", None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_a_time_that_cannot_be_read_is_none(
    text: Any, expected: datetime | None
) -> None:
    assert moment(text) == expected


@pytest.mark.parametrize("raw", [{}, {"metadata": None}, {"metadata": {"uid": 7}}])
def test_metadata_of_any_shape_gives_columns(raw: Json) -> None:
    assert meta_columns(raw) == {
        "uid": "",
        "resource_version": "",
        "created_at": None,
        "deleting": False,
    }
    assert key_of(raw) is None


def test_an_object_that_can_be_stored_is_not_copied() -> None:
    plain = {"a": ["b\\u0000", "😀", {"c": 1.5}]}
    assert storable(plain) == plain
    good = {"a": "b"}
    assert storable(good) is good
