from __future__ import annotations

from typing import Any

import pytest

from dra.errors import ObjectError
from dra.objects import (
    KINDS,
    DeviceAttribute,
    Pod,
    ResourceClaim,
    ResourceSlice,
    read,
    write,
)
from tests.dra import builders


def problem(raw, cls=ResourceSlice):
    with pytest.raises(ObjectError) as caught:
        read(raw, cls)
    return caught.value


def the_device(raw) -> Any:
    """The only device of a slice."""
    spec: Any = read(raw, ResourceSlice).spec
    (device,) = spec.devices
    return device


def test_unknown_fields_are_passed_over():
    raw = builders.piece() | {"future": {"x": 1}}
    raw["spec"]["tomorrow"] = [1]
    assert read(raw, ResourceSlice) == read(builders.piece(), ResourceSlice)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_absent_and_null_parts_take_the_zero_value(kind):
    cls = KINDS[kind]
    empty = read({}, cls)
    nulls = dict.fromkeys(("metadata", "spec", "status"))
    assert read(nulls, cls) == empty


def test_null_in_a_text_field_is_an_empty_text():
    raw = {"metadata": {"name": "p", "uid": None}, "spec": {"nodeName": None}}
    pod = read(raw, Pod)
    assert (pod.metadata.uid, pod.spec.node_name) == ("", "")


def test_a_null_attribute_is_one_without_a_value():
    raw = builders.piece("s", builders.device(attributes={"a": None, "b": {"int": 1}}))
    device = the_device(raw)
    assert device.attributes == {"a": DeviceAttribute(), "b": DeviceAttribute(int_=1)}


def test_null_inside_opaque_parameters_is_kept():
    raw = builders.claim()
    opaque = {"driver": "d", "parameters": {"a": None}}
    raw["spec"]["devices"]["config"] = [{"opaque": opaque}]
    raw["status"] = None
    devices: Any = read(raw, ResourceClaim).spec.devices
    (config,) = devices.config
    assert config.opaque.parameters == {"a": None}


def test_an_allocation_with_nothing_in_it_is_an_allocation():
    raw = builders.claim() | {"status": {"allocation": {"devices": None}}}
    allocation = read(raw, ResourceClaim).status.allocation
    assert allocation is not None
    assert allocation.devices.results is None


def test_a_wrong_type_names_the_object_and_the_field():
    raw = builders.claim("c", namespace="team")
    raw["spec"]["devices"]["requests"][0]["exactly"]["count"] = "two"
    found = problem(raw, ResourceClaim)
    assert found.path == "spec.devices.requests[0].exactly.count"
    assert str(found) == (
        "ResourceClaim team/c: spec.devices.requests[0].exactly.count: "
        "Expected `int`, got `str`"
    )


def test_a_field_path_names_the_key_of_a_map():
    capacity = {"cores": {"value": "1"}, "gpu/memory": {"value": ["80Gi"]}}
    raw = builders.piece("s", builders.device(), builders.device("x"))
    raw["spec"]["devices"][1]["capacity"] = capacity
    assert problem(raw).path == "spec.devices[1].capacity[gpu/memory].value"


def test_a_key_is_named_when_the_map_ends_the_path():
    raw = builders.piece()
    raw["metadata"]["labels"] = {"a": "b", "c": 1}
    assert problem(raw).path == "metadata.labels[c]"


def test_a_key_that_is_no_text_is_a_problem_with_a_path():
    raw = builders.piece()
    raw["metadata"]["labels"] = {1: "x"}
    found = problem(raw)
    assert found.path == "metadata.labels"
    assert found.reason == "Expected `str`, got `int` as a key"


@pytest.mark.parametrize("raw", [None, [], "x", 1])
def test_what_is_no_object_is_refused(raw):
    assert problem(raw).name == "(no name)"


def test_metadata_of_the_wrong_type_is_a_problem_with_a_path():
    assert problem({"metadata": "x"}).path == "metadata"
    assert problem({"metadata": {"name": 5}}).path == "metadata.name"


def test_writing_leaves_out_defaults_and_reads_back():
    raw = builders.claim("c", builders.result(shareID="s", adminAccess=False))
    claim = read(raw, ResourceClaim)
    written = write(claim)
    assert "bindingConditions" not in written["status"]["allocation"]["devices"]
    assert written["status"]["allocation"]["devices"]["results"][0]["shareID"] == "s"
    assert read(written, ResourceClaim) == claim


def test_quantities_stay_as_they_were_written():
    raw = builders.piece("s", builders.device(capacity={"memory": {"value": "80 GB"}}))
    device = the_device(raw)
    assert device.capacity["memory"].value == "80 GB"
