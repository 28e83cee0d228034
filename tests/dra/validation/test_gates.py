"""Feature gates: what is dropped where one is off, unless it was in use before."""

from __future__ import annotations

import copy
import dataclasses

import pytest

from dra.allocation.features import Features
from dra.validation import Gates
from dra.validation.gates import ALL_OF_1_36, GATE_NAMES
from tests.dra.validation.objects import (
    Json,
    claim,
    device_class,
    piece,
    request,
)
from tests.dra.validation.writes import create, faults, update, update_status

ADMIN = {"team": {"resource.kubernetes.io/admin-access": "true"}}
NOTHING = Gates()
SUBREQUEST = {"name": "one", "deviceClassName": "gpu"}


def _exact(**details) -> Json:
    return claim(request("gpu", "gpu", **details))


def _details(sent: Json) -> Json:
    details: Json = sent["spec"]["devices"]["requests"][0]["exactly"]
    return details


@pytest.mark.parametrize(
    ("gate", "details"),
    [
        ("device_taints", {"tolerations": [{"operator": "Exists"}]}),
        ("admin_access", {"adminAccess": True}),
        ("consumable_capacity", {"capacity": {"requests": {"memory": "1Gi"}}}),
    ],
)
def test_a_field_of_a_request_is_dropped_without_its_gate(gate, details):
    sent, name = _exact(**details), next(iter(details))
    off = Gates(**{**dataclasses.asdict(ALL_OF_1_36), gate: False})
    found = create(sent, features=off, namespaces=ADMIN)
    assert found.accepted
    assert name not in _details(found.object)
    on = create(sent, features=ALL_OF_1_36, namespaces=ADMIN)
    assert _details(on.object)[name] == details[name]


def test_a_field_that_is_stored_stays_without_its_gate():
    sent = _exact(tolerations=[{"operator": "Exists"}])
    changed = copy.deepcopy(sent)
    changed["metadata"]["labels"] = {"a": "b"}
    found = update(sent, changed, features=NOTHING)
    assert found.accepted
    assert _details(found.object)["tolerations"]


def test_without_prioritized_lists_a_request_with_alternatives_is_empty():
    sent = claim({"name": "gpu", "firstAvailable": [SUBREQUEST]})
    assert create(sent).accepted
    assert faults(create(sent, features=NOTHING)) == [
        ("spec.devices.requests[0]", "FieldValueRequired")
    ]


def test_without_consumable_capacity_a_distinct_attribute_is_dropped():
    sent = claim(request("gpu", "gpu"), constraints=[{"distinctAttribute": "a.b/c"}])
    assert create(sent).accepted
    assert faults(create(sent, features=NOTHING)) == [
        ("spec.devices.constraints[0].matchAttribute", "FieldValueRequired")
    ]


def test_without_its_gate_an_extended_resource_name_is_dropped_unseen():
    sent = device_class("gpu", extendedResourceName="not a name")
    assert not create(sent).accepted
    found = create(sent, features=NOTHING)
    assert found.accepted
    assert "extendedResourceName" not in found.object["spec"]


DEVICE: Json = {
    "name": "gpu-0",
    "attributes": {"links": {"ints": [1, 2]}, "model": {"string": "A"}},
    "allowMultipleAllocations": True,
    "capacity": {
        "memory": {
            "value": "8Gi",
            "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi"}},
        }
    },
    "taints": [{"key": "a", "effect": "None"}],
    "bindsToNode": True,
    "bindingConditions": ["ready"],
    "bindingFailureConditions": ["failed"],
    "nodeAllocatableResourceMappings": {"memory": {"capacityKey": "memory"}},
}


def test_a_slice_keeps_what_needs_no_gate():
    found = create(piece("gpu.example.com", DEVICE), features=NOTHING)
    assert faults(found) == [
        # The list was all that the attribute had.
        ("spec.devices[0].attributes[links]", "FieldValueInvalid")
    ]
    sent = {**DEVICE, "attributes": {"model": {"string": "A"}}}
    found = create(piece("gpu.example.com", sent), features=NOTHING)
    assert found.object["spec"]["devices"] == [
        {
            "name": "gpu-0",
            "attributes": {"model": {"string": "A"}},
            "capacity": {"memory": {"value": "8Gi"}},
        }
    ]


def test_a_slice_keeps_everything_with_all_gates():
    found = create(piece("gpu.example.com", DEVICE))
    assert found.accepted
    (kept,) = found.object["spec"]["devices"]
    assert set(kept) == set(DEVICE)


def test_a_slice_that_uses_a_feature_keeps_it_without_its_gate():
    sent = piece("gpu.example.com", DEVICE)
    more = copy.deepcopy(sent)
    more["spec"]["devices"].append({**DEVICE, "name": "gpu-1"})
    found = update(sent, more, features=NOTHING)
    assert found.accepted
    assert [set(kept) for kept in found.object["spec"]["devices"]] == [set(DEVICE)] * 2


def test_without_partitions_a_slice_loses_its_counters_and_nodes():
    counters = {"memory": {"value": "8Gi"}}
    whole = piece(
        "gpu.example.com",
        nodeName="n1",
        sharedCounters=[{"name": "set", "counters": counters}],
    )
    whole["spec"].pop("devices")
    assert create(whole).accepted
    found = create(whole, features=NOTHING)
    assert found.accepted
    assert "sharedCounters" not in found.object["spec"]
    per_device = piece(
        "gpu.example.com",
        {"name": "gpu-0", "nodeName": "n1"},
        perDeviceNodeSelection=True,
    )
    assert create(per_device).accepted
    assert faults(create(per_device, features=NOTHING)) == [
        ("spec", "FieldValueRequired")
    ]


RESULT: Json = {
    "request": "gpu",
    "driver": "gpu.example.com",
    "pool": "n1",
    "device": "gpu-0",
}


def _status(result: Json, *devices: Json) -> Json:
    return {
        "allocation": {"devices": {"results": [{**RESULT, **result}]}},
        "devices": list(devices),
    }


def test_a_status_loses_what_needs_gates():
    result = {
        "adminAccess": True,
        "shareID": "0b1ecf9f-0d5c-4b0a-9d4b-3f3a3f0b6d11",
        "consumedCapacity": {"memory": "1Gi"},
        "bindingConditions": ["ready"],
        "bindingFailureConditions": ["failed"],
    }
    device = {name: RESULT[name] for name in ("driver", "pool", "device")}
    device["shareID"] = result["shareID"]
    sent = _status(result, device)
    found = update_status(_exact(), sent, features=NOTHING)
    assert found.accepted
    assert found.object["status"]["allocation"]["devices"]["results"] == [RESULT]
    assert "devices" not in found.object["status"]
    found = update_status(_exact(), sent, namespaces=ADMIN)
    assert found.accepted
    (kept,) = found.object["status"]["allocation"]["devices"]["results"]
    assert kept == {**RESULT, **result}
    assert found.object["status"]["devices"][0]["shareID"] == result["shareID"]


def test_the_status_of_a_device_that_is_released_goes_with_it():
    device = {name: RESULT[name] for name in ("driver", "pool", "device")}
    allocated = {**_exact(), "status": _status({}, device)}
    found = update_status(allocated, {"devices": [device]})
    assert found.accepted
    assert "devices" not in found.object["status"]


# --- where gates come from ----------------------------------------------------------------


def test_a_version_has_its_defaults():
    assert not Gates.preset("1.32").device_status
    assert Gates.preset("v1.33.4").device_status
    assert Gates.preset("1.36").extended_resource
    assert not Gates.preset("1.36").strict
    assert Gates.preset("1.37.0-alpha.1").strict


def test_what_is_known_of_a_cluster_goes_before_the_defaults():
    known = dataclasses.replace(Features.preset("1.34"), consumable_capacity=True)
    gates = Gates.of(known, "1.34")
    assert gates.consumable_capacity
    assert gates.cel.consumable_capacity
    assert not gates.extended_resource


def test_gates_can_be_named_in_either_way():
    named = Gates.from_names({"DRAPrioritizedList": True, "deviceStatus": True})
    assert (named.prioritized_list, named.device_status) == (True, True)
    assert Gates.from_names({"all": True, "deviceStatus": False}) == (
        dataclasses.replace(ALL_OF_1_36, device_status=False)
    )


@pytest.mark.parametrize("version", ["", "one", "1"])
def test_a_version_that_is_none_is_told(version):
    with pytest.raises(ValueError, match="version"):
        Gates.of(Features.preset("1.36"), version)


def test_a_gate_that_is_none_is_told():
    with pytest.raises(ValueError, match="DRANothing"):
        Gates.from_names({"DRANothing": True})


def test_what_somebody_set_otherwise_counts_before_the_version():
    gates = Gates.of_cluster(
        "v1.37.1",
        {"DRADerivedAttributes": True, "DRAExtendedResource": False},
    )
    assert gates.derived_attributes
    assert not gates.extended_resource
    assert gates.consumable_capacity
    assert gates.release == (1, 37)
    assert Gates.of_cluster("", {}) == Gates.preset("1.36")


def test_every_name_that_a_cluster_may_set_is_one_that_counts():
    for name in GATE_NAMES:
        on, off = (
            Gates.of_cluster("v1.37.1", {name: value}) for value in (True, False)
        )
        assert on != off, name
