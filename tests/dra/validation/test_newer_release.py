"""What 1.37 checks beyond 1.36, as its documentation says."""

from __future__ import annotations

import dataclasses

import pytest

from dra.validation.gates import ALL_OF_1_36
from tests.dra.validation.objects import Json, claim, piece, request
from tests.dra.validation.writes import create, faults, update_status

NEWER = dataclasses.replace(
    ALL_OF_1_36,
    release=(1, 37),
    derived_attributes=True,
    device_compatibility_groups=True,
)
DRIVER = "gpu.example.com"


def test_names_with_two_slashes_are_refused():
    sent = piece(DRIVER, {"name": "gpu-0", "attributes": {"a.b/c/d": {"int": 1}}})
    assert create(sent).accepted
    assert faults(create(sent, features=NEWER)) == [
        ("spec.devices[0].attributes", "FieldValueInvalid")
    ]


def _range(default: str, **limits: str) -> Json:
    capacity = {
        "value": "8Gi",
        "requestPolicy": {"default": default, "validRange": limits},
    }
    shared = {"name": "gpu-0", "allowMultipleAllocations": True}
    return piece(DRIVER, {**shared, "capacity": {"memory": capacity}})


RANGE = "spec.devices[0].capacity[memory].requestPolicy.validRange"


def test_a_step_has_to_lead_somewhere():
    sent = _range("1Gi", min="1Gi", step="-1Gi")
    assert (f"{RANGE}.step", "FieldValueInvalid") in faults(
        create(sent, features=NEWER)
    )


def test_what_is_counted_in_steps_is_neither_negative_nor_over_64_bits():
    wrong = [(f"{RANGE}.min", "FieldValueInvalid")]
    sent = _range("0", min="-1Gi", step="1Gi")
    assert create(sent).accepted
    assert faults(create(sent, features=NEWER)) == wrong
    assert create(_range("0", min="-1Gi"), features=NEWER).accepted
    sent = _range("0", min="0", step=str(2**63))
    found = create(sent, features=NEWER)
    assert set(faults(found)) == {(f"{RANGE}.step", "FieldValueInvalid")}


def _mapped(name: str = "cpu", **resource: object) -> Json:
    device = {"name": "cpu-0", "capacity": {"cores": {"value": "8"}}}
    return piece(DRIVER, {**device, "nodeAllocatableResources": {name: resource}})


BY_DEVICE = {"deviceMultiplier": "8"}
BY_CAPACITY = {"capacityKey": "cores", "capacityMultiplier": "2"}
RESOURCES = "spec.devices[0].nodeAllocatableResources"


@pytest.mark.parametrize("mapping", [BY_DEVICE, BY_CAPACITY])
def test_a_device_stands_for_resources_of_its_node(mapping):
    overhead = {"perPod": "0", "perContainer": "1Gi"}
    assert create(_mapped(mapping=mapping), features=NEWER).accepted
    assert create(_mapped(overhead=overhead), features=NEWER).accepted
    both = _mapped(mapping=mapping, overhead=overhead)
    found = create(both, features=NEWER)
    assert found.accepted
    assert found.object["spec"]["devices"][0] == both["spec"]["devices"][0]


@pytest.mark.parametrize("name", ["pods", "example.com/gpu", ""])
def test_only_resources_that_nodes_report_can_be_mapped(name):
    found = create(_mapped(name, mapping=BY_DEVICE), features=NEWER)
    assert faults(found) == [(f"{RESOURCES}[{name}]", "FieldValueInvalid")]


@pytest.mark.parametrize(
    ("resource", "field", "reason"),
    [
        ({}, "", "Required"),
        ({"mapping": {}}, ".mapping", "Invalid"),
        ({"mapping": BY_DEVICE | BY_CAPACITY}, ".mapping", "Invalid"),
        (
            {"mapping": {"capacityKey": "cores"}},
            ".mapping.capacityMultiplier",
            "Required",
        ),
        (
            {"mapping": BY_DEVICE | {"capacityMultiplier": "2"}},
            ".mapping.capacityKey",
            "Required",
        ),
        (
            {"mapping": BY_CAPACITY | {"capacityKey": ""}},
            ".mapping.capacityKey",
            "Invalid",
        ),
        (
            {"mapping": BY_CAPACITY | {"capacityKey": "memory"}},
            ".mapping.capacityKey",
            "NotFound",
        ),
        (
            {"mapping": BY_CAPACITY | {"capacityMultiplier": "0"}},
            ".mapping.capacityMultiplier",
            "Invalid",
        ),
        (
            {"mapping": {"deviceMultiplier": "-1"}},
            ".mapping.deviceMultiplier",
            "Invalid",
        ),
        ({"overhead": {}}, ".overhead", "Invalid"),
        ({"overhead": {"perPod": "-1"}}, ".overhead.perPod", "Invalid"),
    ],
)
def test_a_bad_mapping_is_told(resource, field, reason):
    found = create(_mapped(**resource), features=NEWER)
    assert faults(found) == [(f"{RESOURCES}[cpu]{field}", f"FieldValue{reason}")]


def test_each_release_has_its_own_field_for_resources_of_the_node():
    old = {"name": "cpu-0", "nodeAllocatableResourceMappings": {"pods": {}}}
    new = {"name": "cpu-0", "nodeAllocatableResources": {"cpu": {}}}
    for device, features in ((old, NEWER), (new, ALL_OF_1_36)):
        found = create(piece(DRIVER, device), features=features)
        assert found.accepted
        assert found.object["spec"]["devices"] == [{"name": "cpu-0"}]
    off = dataclasses.replace(NEWER, node_allocatable_resources=False)
    assert create(piece(DRIVER, new), features=off).accepted


def test_a_default_outside_the_range_is_told_at_the_default():
    sent = _range("1Gi", min="2Gi")
    assert faults(create(sent)) == [(f"{RANGE}.min", "FieldValueInvalid")]
    assert faults(create(sent, features=NEWER)) == [
        (f"{RANGE}.default", "FieldValueInvalid")
    ]


def test_tolerations_of_results_are_looked_at():
    sent = claim(request("gpu", "gpu"))
    result: Json = {"request": "gpu", "driver": DRIVER, "pool": "n1", "device": "gpu-0"}
    result["tolerations"] = [{"operator": "Maybe"}]
    status = {"allocation": {"devices": {"results": [result]}}}
    assert update_status(sent, status).accepted
    assert faults(update_status(sent, status, features=NEWER)) == [
        (
            "status.allocation.devices.results[0].tolerations[0].operator",
            "FieldValueNotSupported",
        )
    ]


def test_both_attributes_of_a_constraint_are_looked_at():
    constraint = {"matchAttribute": "a.com/rack", "distinctAttribute": "rack"}
    sent = claim(request("gpu", "gpu"), constraints=[constraint])
    assert create(sent).accepted
    assert faults(create(sent, features=NEWER)) == [
        ("spec.devices.constraints[0].distinctAttribute", "FieldValueInvalid")
    ]


# --- derived attributes ---------------------------------------------------------------------

DERIVED = "spec.devices.requests[0].exactly.derivedAttributes"


def _derived(*attributes: Json, **constraint: object) -> Json:
    return claim(
        request("gpu", "gpu", derivedAttributes=list(attributes)),
        request("nic", "nic"),
        constraints=[{"matchAttribute": "a.com/rack", **constraint}],
    )


RACK = {"name": "a.com/rack", "expression": 'device.attributes["a.com"].rack'}


def test_a_derived_attribute_that_a_constraint_uses_is_accepted():
    assert create(_derived(RACK), features=NEWER).accepted
    assert create(_derived(RACK, requests=["gpu"]), features=NEWER).accepted


def test_a_derived_attribute_that_no_constraint_of_its_request_uses_is_told():
    found = create(_derived(RACK, requests=["nic"]), features=NEWER)
    assert faults(found) == [(f"{DERIVED}[0].name", "FieldValueInvalid")]


@pytest.mark.parametrize(
    "expression",
    ['"text"', "1", "device.driver", 'semver("1.2.3")', "[1, 2]", "true"],
)
def test_a_derived_attribute_has_the_type_of_an_attribute(expression):
    sent = _derived({**RACK, "expression": expression})
    assert create(sent, features=NEWER).accepted


@pytest.mark.parametrize("expression", ["1.5", "{}", 'quantity("1Gi")', "device"])
def test_a_derived_attribute_of_another_type_is_told(expression):
    found = create(_derived({**RACK, "expression": expression}), features=NEWER)
    assert faults(found) == [(f"{DERIVED}[0].expression", "FieldValueInvalid")]


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"name": ""}, [("name", "FieldValueRequired")]),
        ({"expression": ""}, [("expression", "FieldValueRequired")]),
        ({"expression": "device."}, [("expression", "FieldValueInvalid")]),
        ({"expression": "1" * 10_241}, [("expression", "FieldValueTooLong")]),
    ],
)
def test_a_derived_attribute_has_a_name_and_an_expression(changed, wrong):
    found = create(_derived({**RACK, **changed}), features=NEWER)
    assert faults(found) == [(f"{DERIVED}[0].{name}", why) for name, why in wrong]


def _loops(depth: int) -> str:
    """An expression that goes over ten numbers in ten steps for each of ten numbers ..."""
    expression = "1"
    for name in "abcdefg"[:depth]:
        expression = f"{list(range(10))}.map({name}, {expression}).size()"
    return expression


def _derived_in_many(count: int, expression: str) -> Json:
    """One attribute in each of ``count`` requests."""
    names = [f"a.com/n{number}" for number in range(count)]
    requests = (
        request(
            f"r{number}",
            "gpu",
            derivedAttributes=[{"name": name, "expression": expression}],
        )
        for number, name in enumerate(names)
    )
    return claim(*requests, constraints=[{"matchAttribute": name} for name in names])


def test_derived_attributes_of_a_claim_share_the_cost_of_one_selector():
    too_much = ("spec.devices", "FieldValueForbidden")
    assert create(_derived_in_many(6, _loops(4)), features=NEWER).accepted
    found = create(_derived_in_many(7, _loops(4)), features=NEWER)
    assert faults(found) == [too_much]
    found = create(_derived({**RACK, "expression": _loops(5)}), features=NEWER)
    assert faults(found) == [(f"{DERIVED}[0].expression", too_much[1]), too_much]


def test_a_derived_attribute_is_there_once():
    found = create(_derived(RACK, RACK), features=NEWER)
    assert faults(found) == [(f"{DERIVED}[1]", "FieldValueDuplicate")]


def test_too_many_derived_attributes_hide_their_form_only():
    odd = {"name": "rack", "expression": "device."}
    found = create(_derived(*[RACK] * 31, odd, {"name": ""}), features=NEWER)
    assert set(faults(found)) == {
        (DERIVED, "FieldValueTooMany"),
        (f"{DERIVED}[31].name", "FieldValueInvalid"),
        (f"{DERIVED}[31].expression", "FieldValueInvalid"),
        *((f"{DERIVED}[{index}]", "FieldValueDuplicate") for index in range(1, 31)),
    }


def test_where_nobody_looks_into_a_request_nobody_looks_at_its_attributes():
    unused = {"name": "a.com/other", "expression": "device."}
    details = {"deviceClassName": "gpu", "derivedAttributes": [unused]}
    alternatives = [{"name": f"r{number}", **details} for number in range(9)]
    many = [{"name": f"r{number}", "exactly": details} for number in range(33)]
    at, requests = "spec.devices.requests[0]", "spec.devices.requests"
    for sent, wrong in (
        (
            [{"name": "r", "exactly": details, "firstAvailable": alternatives[:1]}],
            (at, "FieldValueInvalid"),
        ),
        (
            [{"name": "r", "firstAvailable": alternatives}],
            (f"{at}.firstAvailable", "FieldValueTooMany"),
        ),
        (many, (requests, "FieldValueTooMany")),
    ):
        assert faults(create(claim(*sent), features=NEWER)) == [wrong]


def test_without_the_gate_derived_attributes_are_dropped():
    found = create(_derived({"name": "", "expression": ""}))
    assert found.accepted
    details = found.object["spec"]["devices"]["requests"][0]["exactly"]
    assert "derivedAttributes" not in details


# --- compatibility groups ------------------------------------------------------------------


def _groups(*groups: str) -> Json:
    use = {"counterSet": "set", "counters": {"memory": {"value": "1Gi"}}}
    device = {
        "name": "gpu-0",
        "consumesCounters": [{**use, "compatibilityGroups": list(groups)}],
    }
    return piece(DRIVER, device)


def test_a_device_has_up_to_two_compatibility_groups():
    assert create(_groups("a", "b"), features=NEWER).accepted
    field = "spec.devices[0].consumesCounters[0].compatibilityGroups"
    assert faults(create(_groups("a", "b", "c"), features=NEWER)) == [
        (field, "FieldValueTooMany")
    ]
    assert faults(create(_groups("a", "a"), features=NEWER)) == [
        (f"{field}[1]", "FieldValueDuplicate")
    ]


def test_a_compatibility_group_is_named_like_a_device():
    found = create(_groups("a", "B c"), features=NEWER)
    field = "spec.devices[0].consumesCounters[0].compatibilityGroups[1]"
    assert faults(found) == [(field, "FieldValueInvalid")]
