"""Slices as drivers publish them: every fault told at its place, nothing stored in part."""

from __future__ import annotations

import pytest

from tests.dra.validation.objects import Json, piece
from tests.dra.validation.writes import create, faults, refused, said, with_spec

LIMITS = "limits.example.com"


def _with_version(version: str) -> Json:
    attributes = {"driverVersion": {"version": version}, "index": {"int": 0}}
    return piece("gpu.amd.com", {"name": "gpu-0", "attributes": attributes})


@pytest.mark.parametrize("version", ["580.159.04", "1.2", "v1.2.3", "", "1.2.3.4"])
def test_a_version_that_is_none_refuses_the_whole_slice(version):
    found = create(_with_version(version))
    assert faults(found) == [
        ("spec.devices[0].attributes[driverVersion].version", "FieldValueInvalid")
    ]
    assert "semver.org spec 2.0.0" in said(found)


@pytest.mark.parametrize("version", ["1.2.3-rc.1", "0.0.0", "1.2.3+build.5"])
def test_versions_with_all_their_parts_are_accepted(version):
    assert create(_with_version(version)).accepted


def test_values_at_and_over_the_limits_are_told_one_by_one():
    devices = {
        "ok-64-bytes": {"pciDevice": {"string": "0" * 64}},
        "bad-67-bytes": {"pciDevice": {"string": "0" * 67}},
        "bad-utf8-count": {"label": {"string": "ü" * 40}},
        "bad-identifier": {"numa-1": {"int": 1}},
        "bad-no-value": {"numaNode": {}},
        "bad-two-values": {"numaNode": {"int": 1, "string": "1"}},
        "accepted-by-accident": {"a.example.com/b/c": {"int": 1}},
        "big-int": {"serial": {"int": 2**63 - 1}},
    }
    found = create(
        piece(
            LIMITS,
            *({"name": name, "attributes": held} for name, held in devices.items()),
        )
    )
    at = "spec.devices[{}].attributes{}".format
    assert faults(found) == [
        (at(1, "[pciDevice].string"), "FieldValueTooLong"),
        (at(2, "[label].string"), "FieldValueTooLong"),
        (at(3, ""), "FieldValueInvalid"),
        (at(4, "[numaNode]"), "FieldValueInvalid"),
        (at(5, "[numaNode]"), "FieldValueInvalid"),
    ]


def test_a_number_over_64_bits_cannot_be_decoded():
    device = {"name": "gpu-0", "attributes": {"serial": {"int": 2**63}}}
    found = create(piece(LIMITS, device))
    assert (found.code, refused(found).reason) == (400, "BadRequest")
    assert "spec.devices[0].attributes" in refused(found).field


def _capacity(**policy: object) -> Json:
    capacity = {"memory": {"value": "8Gi", "requestPolicy": policy}}
    shared = {"name": "gpu-0", "allowMultipleAllocations": True, "capacity": capacity}
    return piece(LIMITS, shared)


POLICY = "spec.devices[0].capacity[memory].requestPolicy"


@pytest.mark.parametrize(
    ("policy", "wrong"),
    [
        ({"default": "1Gi"}, []),
        ({}, []),
        ({"validValues": ["1Gi"]}, [(".default", "FieldValueRequired")]),
        ({"default": "1Gi", "validRange": {}}, [(".validRange.min", "FieldValueRequired")]),
        (
            {"default": "3Gi", "validValues": ["1Gi", "2Gi"]},
            [(".validValues", "FieldValueInvalid")],
        ),
        (
            {"default": "2Gi", "validValues": ["2Gi", "1Gi"]},
            [(".validValues[1]", "FieldValueInvalid")],
        ),
        (
            {"default": "1Gi", "validValues": ["1Gi", "1024Mi"]},
            [(".validValues[1]", "FieldValueDuplicate")],
        ),
        (
            {"default": "1Gi", "validValues": ["1Gi", "9Gi"]},
            [(".validValues[1]", "FieldValueInvalid")],
        ),
        (
            {"default": "1Gi", "validValues": ["1Gi"], "validRange": {"min": "1Gi"}},
            [("", "FieldValueForbidden")],
        ),
    ],
)  # fmt: skip
def test_a_policy_has_one_way_to_limit_requests(policy, wrong):
    expected = [(f"{POLICY}{field}", reason) for field, reason in wrong]
    assert faults(create(_capacity(**policy))) == expected


def test_a_negative_fraction_of_a_binary_amount_rounds_up_for_its_steps():
    assert create(
        _capacity(default="-306", validRange={"min": "-0.3Ki", "step": "1000"})
    ).accepted
    sent = _capacity(default="-305", validRange={"min": "-0.3Ki", "step": "1000"})
    assert faults(create(sent)) == [(f"{POLICY}.validRange.step", "FieldValueInvalid")]


def test_a_policy_needs_a_device_that_is_shared():
    sent = _capacity(default="1Gi")
    del sent["spec"]["devices"][0]["allowMultipleAllocations"]
    assert faults(create(sent)) == [(POLICY, "FieldValueForbidden")]


def _mapped(resource: str, **mapping: str) -> Json:
    device: Json = {"name": "cpu-0", "capacity": {"cores": {"value": "8"}}}
    mappings = {resource: mapping}
    return piece(LIMITS, {**device, "nodeAllocatableResourceMappings": mappings})


@pytest.mark.parametrize(
    "resource", ["cpu", "hugepages-2Mi", "pods", "anything", "kubernetes.io/batteries"]
)
def test_every_resource_of_kubernetes_itself_can_be_mapped(resource):
    assert create(_mapped(resource, capacityKey="cores")).accepted


def test_an_extended_resource_cannot_be_mapped():
    field = "spec.devices[0].nodeAllocatableResourceMappings[example.com/gpu]"
    assert faults(create(_mapped("example.com/gpu"))) == [(field, "FieldValueInvalid")]


def test_a_mapping_names_a_capacity_of_its_device_or_none():
    field = "spec.devices[0].nodeAllocatableResourceMappings[cpu].capacityKey"
    assert faults(create(_mapped("cpu", capacityKey="memory"))) == [
        (field, "FieldValueNotFound")
    ]
    assert faults(create(_mapped("cpu", capacityKey=""))) == [
        (field, "FieldValueInvalid")
    ]


def test_devices_of_one_name_are_told():
    found = create(piece(LIMITS, {"name": "a"}, {"name": "b"}, {"name": "a"}))
    assert faults(found) == [("spec.devices[2]", "FieldValueDuplicate")]
    assert '"a"' in said(found)


@pytest.mark.parametrize(
    "extra",
    [
        {"taints": [{"key": "a", "effect": "None"}]},
        {"attributes": {"links": {"ints": [1]}}},
    ],
)
def test_one_device_with_taints_or_lists_halves_the_limit(extra):
    plain = [{"name": f"d-{index}"} for index in range(128)]
    assert create(piece(LIMITS, *plain)).accepted
    found = create(piece(LIMITS, *plain[:64], {"name": "last", **extra}))
    assert faults(found) == [("spec.devices", "FieldValueTooMany")]
    assert create(piece(LIMITS, *plain[:63], {"name": "last", **extra})).accepted


def test_more_devices_or_names_than_fit_are_refused():
    devices = [{"name": f"d-{index}"} for index in range(129)]
    assert faults(create(piece(LIMITS, *devices))) == [
        ("spec.devices", "FieldValueTooMany")
    ]
    attributes = {f"a{index}": {"int": index} for index in range(33)}
    many = piece(LIMITS, {"name": "gpu-0", "attributes": attributes})
    assert [code for _, code in faults(create(many))] == ["FieldValueInvalid"]
    del attributes["a32"]
    assert create(piece(LIMITS, {"name": "gpu-0", "attributes": attributes})).accepted


def test_upper_case_in_a_driver_name_is_only_warned_of():
    sent = piece("gpu.example.com", {"name": "gpu-0"})
    found = create(with_spec(sent, driver="GPU.example.com"))
    assert found.accepted
    assert found.warnings == (
        "spec.driver: driver names should be lowercase; "
        '"GPU.example.com" contains uppercase characters',
    )
