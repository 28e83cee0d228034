"""Advice on constraints, and on what is not about requests."""

from __future__ import annotations

import pytest

from dra.snapshot import EMPTY
from dra.validation import Request, validate
from dra.validation.advice import advise
from tests.dra.validation.advised import DEVICES, FIRST, GPU, GPU_CLASS, GPUS
from tests.dra.validation.objects import (
    claim,
    namespace,
    of_driver,
    piece,
    request,
)
from tests.dra.validation.world import advice, codes, only

# --- constraints ---------------------------------------------------------------------


NIC_CLASS = of_driver("nic", "nic.example.com")


def _nic(**attributes) -> dict:
    return piece("nic.example.com", {"name": "nic-0", "attributes": attributes})


def _both(attribute: str, **more) -> dict:
    return claim(
        request("gpu", "gpu"),
        request("nic", "nic"),
        constraints=[{"requests": ["gpu", "nic"], "matchAttribute": attribute, **more}],
    )


def test_an_attribute_that_one_driver_calls_otherwise_is_told_with_the_other_name():
    gpus = piece(GPU, {"name": "gpu-0", "attributes": {"pciRoot": {"string": "00"}}})
    root = {"resource.kubernetes.io/pcieRoot": {"string": "pci0000:00"}}
    sent = _both("resource.kubernetes.io/pcieRoot")
    found = only(sent, GPU_CLASS, NIC_CLASS, gpus, _nic(**root))
    assert found.code == "constraint-attribute-missing"
    assert found.field == f"{DEVICES}.constraints[0].matchAttribute"
    assert found.message == (
        "The only device that the request gpu can take lacks "
        "resource.kubernetes.io/pcieRoot, so the constraint can never be met; it has "
        f"{GPU}/pciRoot."
    )
    assert found.suggestion == f"{GPU}/pciRoot"


def test_an_attribute_that_no_partition_has_is_told_with_those_that_would_do():
    """A vendor's example: partitions publish what their parent is, under two names."""
    partitions = [
        {
            "name": f"gpu-{index}",
            "attributes": {
                "type": {"string": "partition"},
                "parentDeviceID": {"string": f"99491394031889249{index // 2}"},
                "parentPciAddr": {"string": f"0000:0{index // 2}:00.0"},
                "cardIndex": {"int": index},
            },
        }
        for index in range(4)
    ]
    sent = claim(
        request("p0", "gpu"),
        request("p1", "gpu"),
        constraints=[{"matchAttribute": f"{GPU}/deviceID"}],
    )
    found = only(sent, GPU_CLASS, piece(GPU, *partitions))
    assert found.code == "constraint-attribute-missing"
    assert found.message == (
        f"None of the 4 devices that the request p0 can take has {GPU}/deviceID, so the "
        f"constraint can never be met; they have {GPU}/parentDeviceID and "
        f"{GPU}/parentPciAddr."
    )
    assert found.suggestion == f"{GPU}/parentDeviceID"


def test_types_that_differ_between_drivers_are_told():
    name = "resource.kubernetes.io/numaNode"
    gpus = piece(GPU, {"name": "gpu-0", "attributes": {name: {"int": 0}}})
    found = advice(
        _both(name), GPU_CLASS, NIC_CLASS, gpus, _nic(**{name: {"string": "0"}})
    )
    told = {a.code: a.message for a in found}
    assert told["constraint-types-differ"] == (
        f"{name} is an integer on the devices for gpu and a text on those for nic: "
        "they are never the same."
    )


def test_values_that_are_never_the_same_are_told():
    """24 GPUs in group 0 and a NIC in group 1: seen as a search of ten seconds."""
    gpus = piece(
        GPU,
        *({"name": f"gpu-{i}", "attributes": {"group": {"int": 0}}} for i in range(24)),
    )
    sent = claim(
        request("gpus", "gpu", count=8),
        request("nic", "nic"),
        constraints=[{"matchAttribute": f"{GPU}/group"}],
    )
    nic = _nic(**{f"{GPU}/group": {"int": 1}})
    found = only(sent, GPU_CLASS, NIC_CLASS, gpus, nic)
    assert found.code == "constraint-never-met"


def test_equal_values_on_different_nodes_do_not_help():
    name = f"{GPU}/rack"

    def pair(node: str, gpu: str, nic: str) -> tuple[dict, dict]:
        return (
            piece(
                GPU,
                {"name": "gpu-0", "attributes": {"rack": {"string": gpu}}},
                node=node,
            ),
            piece(
                "nic.example.com",
                {"name": "nic-0", "attributes": {name: {"string": nic}}},
                node=node,
            ),
        )

    crossed = (*pair("n1", "r1", "r2"), *pair("n2", "r2", "r1"))
    assert codes(_both(name), GPU_CLASS, NIC_CLASS, *crossed) == [
        ("constraint-never-met", f"{DEVICES}.constraints[0].matchAttribute")
    ]
    straight = (*pair("n1", "r1", "r2"), *pair("n2", "r2", "r2"))
    assert codes(_both(name), GPU_CLASS, NIC_CLASS, *straight) == []


def test_too_few_devices_with_the_same_value_are_told():
    sent = claim(
        request("g", "gpu", count=2),
        constraints=[{"matchAttribute": f"{GPU}/index"}],
    )
    assert codes(sent, GPU_CLASS, GPUS) == [
        ("constraint-never-met", f"{DEVICES}.constraints[0].matchAttribute")
    ]


def test_too_few_different_values_are_told():
    def sent(name: str) -> dict:
        return claim(
            request("g", "gpu", count=2),
            constraints=[{"distinctAttribute": f"{GPU}/{name}"}],
        )

    assert codes(sent("index"), GPU_CLASS, GPUS) == []
    assert codes(sent("model"), GPU_CLASS, GPUS) == [
        ("constraint-never-met", f"{DEVICES}.constraints[0].distinctAttribute")
    ]


def test_devices_without_the_attribute_are_counted():
    gpus = piece(
        GPU,
        {"name": "gpu-0", "attributes": {"root": {"string": "a"}}},
        {"name": "gpu-1", "attributes": {"root": {"string": "a"}}},
        {"name": "gpu-2"},
    )
    sent = claim(
        request("g", "gpu", count=2), constraints=[{"matchAttribute": f"{GPU}/root"}]
    )
    found = only(sent, GPU_CLASS, gpus)
    assert found.code == "constraint-attribute-partly"
    assert "Only 2 of the 3 devices" in found.message


def test_minus_one_as_a_common_value_is_told():
    gpus = piece(
        GPU,
        {"name": "gpu-0", "attributes": {"numa_node": {"int": -1}}},
        {"name": "gpu-1", "attributes": {"numa_node": {"int": -1}}},
    )
    sent = claim(
        request("g", "gpu", count=2),
        constraints=[{"matchAttribute": f"{GPU}/numa_node"}],
    )
    assert only(sent, GPU_CLASS, gpus).code == "constraint-unknown-value"


def test_a_distinct_attribute_beside_a_match_is_told():
    sent = claim(
        request("g", "gpu", count=2),
        constraints=[
            {"matchAttribute": f"{GPU}/model", "distinctAttribute": f"{GPU}/index"}
        ],
    )
    assert codes(sent, GPU_CLASS, GPUS) == [
        ("distinct-ignored", f"{DEVICES}.constraints[0].distinctAttribute")
    ]


# --- the rest ------------------------------------------------------------------------


def test_admin_access_outside_a_labelled_namespace_is_told():
    sent = claim(request("g", "gpu", adminAccess=True))
    label = {"resource.kubernetes.io/admin-access": "true"}
    assert codes(sent, GPU_CLASS, GPUS, namespace("team")) == [
        ("admin-access", f"{FIRST}.adminAccess")
    ]
    assert codes(sent, GPU_CLASS, GPUS, namespace("team", **label)) == []


def test_the_old_layout_under_a_new_header_is_told_and_put_right():
    sent = claim()
    sent["spec"]["devices"]["requests"] = [
        {"name": "g", "deviceClassName": "gpu", "allocationMode": "all", "x": 1}
    ]
    found = only(sent, GPU_CLASS, GPUS)
    assert found.code == "old-layout"
    assert found.field == f"{DEVICES}.requests[0].deviceClassName"
    assert found.replacement["spec"]["devices"]["requests"] == [
        {
            "name": "g",
            "exactly": {"deviceClassName": "gpu", "allocationMode": "all", "x": 1},
        }
    ]
    outcome = validate(Request("ResourceClaim", found.replacement, "team"))
    assert [(c.field, c.reason) for c in outcome.causes] == [
        (f"{FIRST}.allocationMode", "FieldValueNotSupported")
    ]


def test_a_slice_in_the_old_layout_is_put_right():
    sent = piece("dra.net", {"name": "d", "basic": {"attributes": {"a": {"int": 1}}}})
    found = only(sent)
    assert found.field == "spec.devices[0].basic"
    assert found.replacement["spec"]["devices"] == [
        {"name": "d", "attributes": {"a": {"int": 1}}}
    ]
    assert validate(Request("ResourceSlice", found.replacement)).accepted


def test_two_classes_with_one_extended_resource_are_told():
    taken = of_driver("gpu.example.com", GPU)
    taken["spec"]["extendedResourceName"] = "example.com/gpu"
    sent = of_driver("shared", GPU)
    sent["spec"]["extendedResourceName"] = "example.com/gpu"
    found = {a.code: a for a in advice(sent, taken, GPUS)}["resource-name-taken"]
    assert found.message == (
        "example.com/gpu is also that of gpu.example.com; the newest class wins, so "
        "pods would get devices of this one."
    )


def test_a_class_that_selects_nothing_is_told():
    found = {a.code for a in advice(of_driver("tpu", "tpu.example.com"), GPUS)}
    assert "selector-matches-none" in found


def test_names_that_are_accepted_by_accident_are_told():
    sent = piece(
        "d.example.com",
        {
            "name": "d",
            "attributes": {
                "a.example.com/b/c": {"int": 1},
                "model": {"string": "x"},
                "d.example.com/model": {"string": "y"},
            },
        },
    )
    assert validate(Request("ResourceSlice", sent)).accepted
    assert codes(sent) == [
        ("name-unchecked", "spec.devices[0].attributes"),
        ("name-twice", "spec.devices[0].attributes"),
    ]


@pytest.mark.parametrize("sent", [None, [], {}, {"kind": 5}, {"kind": "Pod"}])
def test_of_what_is_no_object_of_dra_nothing_is_said(sent):
    assert advise(sent, EMPTY) == ()
