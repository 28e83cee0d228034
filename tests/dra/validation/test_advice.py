"""What an author is told that the API server would let pass, from situations people met."""

from __future__ import annotations

import pytest

from dra.snapshot import EMPTY
from dra.validation import Request, validate
from dra.validation.advice import advise
from tests.dra.validation.objects import (
    claim,
    device_class,
    namespace,
    of_driver,
    piece,
    request,
    template,
)
from tests.dra.validation.world import advice, codes, only

GPU = "gpu.example.com"
GPU_CLASS = of_driver("gpu", GPU)
GPUS = piece(
    GPU,
    {"name": "gpu-0", "attributes": {"model": {"string": "A"}, "index": {"int": 0}}},
    {"name": "gpu-1", "attributes": {"model": {"string": "A"}, "index": {"int": 1}}},
)
DEVICES = "spec.devices"
FIRST = f"{DEVICES}.requests[0].exactly"
SELECTOR = f"{FIRST}.selectors[0].cel.expression"


def test_a_claim_that_can_be_met_needs_no_advice():
    assert codes(claim(request("g", "gpu", count=2)), GPU_CLASS, GPUS) == []


# --- classes --------------------------------------------------------------------------


def test_a_class_that_does_not_exist_is_told_with_the_one_that_was_meant():
    found = only(claim(request("g", "gpus")), GPU_CLASS, GPUS)
    assert (found.code, found.field) == ("class-missing", f"{FIRST}.deviceClassName")
    assert found.suggestion == "gpu"
    assert found.message == "The device class gpus does not exist; did you mean gpu?"


def test_without_a_like_class_those_that_exist_are_listed():
    found = only(claim(request("g", "fpga")), GPU_CLASS, GPUS)
    assert found.message == "The device class fpga does not exist; there are gpu"
    found = only(claim(request("g", "fpga")), GPUS)
    assert found.message.endswith("there is none at all")


def test_fields_of_a_template_have_their_own_path():
    found = only(template(claim(request("g", "gpus"))), GPU_CLASS, GPUS)
    assert found.field == ("spec.spec.devices.requests[0].exactly.deviceClassName")


def test_an_alternative_has_its_own_path():
    sent = claim(
        {
            "name": "g",
            "firstAvailable": [
                {"name": "a", "deviceClassName": "gpu"},
                {"name": "b", "deviceClassName": "gpus"},
            ],
        }
    )
    found = only(sent, GPU_CLASS, GPUS)
    assert found.field == f"{DEVICES}.requests[0].firstAvailable[1].deviceClassName"


def test_a_class_without_devices_is_told():
    found = only(claim(request("g", "tpu")), of_driver("tpu", "tpu.example.com"), GPUS)
    assert found.code == "class-empty"


def test_a_class_without_selectors_is_every_device():
    """Seen where a claim got a device of another driver."""
    found = only(claim(request("g", "any")), device_class("any"), GPUS)
    assert found.code == "class-everything"
    assert "every one of the 2 devices" in found.message


# --- selectors ------------------------------------------------------------------------


def test_a_selector_that_matches_none_is_told_where_it_is():
    sent = claim(request("g", "gpu", f'device.attributes["{GPU}"].model == "B"'))
    found = {a.code: a for a in advice(sent, GPU_CLASS, GPUS)}
    assert found["selector-matches-none"].field == SELECTOR
    assert found["selector-matches-none"].message == (
        "None of 2 devices of the class gpu matches this selector."
    )


def test_a_selector_that_reads_what_a_driver_does_not_publish_any_more_is_told():
    """The driver dropped ``index``; the scheduler aborts the whole attempt."""
    gpus = piece(GPU, {"name": "gpu-0", "attributes": {"model": {"string": "A"}}})
    sent = claim(request("g", "gpu", f'device.attributes["{GPU}"].index == 1'))
    found = advice(sent, GPU_CLASS, gpus)
    assert any(
        a.code.startswith("selector:") and a.field == SELECTOR and "index" in a.message
        for a in found
    )


def test_a_misspelt_attribute_is_told_with_the_one_that_was_meant():
    sent = claim(request("g", "gpu", f'device.attributes["{GPU}"].modle == "A"'))
    assert any(
        a.field == SELECTOR and "model" in (a.suggestion or a.message)
        for a in advice(sent, GPU_CLASS, GPUS)
    )


def test_a_selector_that_works_only_because_of_the_order_of_devices_is_told():
    everything = device_class("any")
    nics = piece("nic.example.com", {"name": "eth1"})
    sent = claim(request("r", "any", f'device.attributes["{GPU}"].model == "A"'))
    found = [a for a in advice(sent, everything, GPUS, nics) if a.field == SELECTOR]
    assert any("model" in told.message and "1" in told.message for told in found)


def test_a_size_nearly_that_of_the_devices_is_told():
    """An 80 GB card publishes 81559Mi."""
    name = "gpu.nvidia.com"
    cards = piece(name, {"name": "gpu-0", "capacity": {"memory": {"value": "81559Mi"}}})
    wanted = f'device.capacity["{name}"].memory.compareTo(quantity("80Gi")) >= 0'
    sent = claim(request("r", "gpu", wanted))
    found = advice(sent, of_driver("gpu", name), cards)
    assert any(a.field == SELECTOR and "81559Mi" in a.message for a in found)


def test_a_class_whose_selector_fails_is_told_at_the_class():
    broken = device_class("broken", f'device.attributes["{GPU}"].size == 1')
    found = {a.code: a for a in advice(claim(request("g", "broken")), broken, GPUS)}
    told = found["selector-fails"]
    assert told.field == f"{FIRST}.deviceClassName"
    assert "Fails on 2 of 2 devices (no such key: size" in told.message


@pytest.mark.parametrize(
    "expression",
    [
        f'device.attributes["{GPU}"].productName == NVIDIA A10',
        f'device.attributes["{GPU}"].productName == "NVIDIA "A10" 24GB"',
        f'device.attributes["{GPU}"].model == A',
    ],
)
def test_text_pasted_without_quotes_is_told(expression):
    sent = claim(request("g", "gpu", expression))
    assert not validate(Request("ResourceClaim", sent, "team")).accepted
    assert any(
        a.code == "selector:does-not-compile" and a.field == SELECTOR
        for a in advice(sent, GPU_CLASS, GPUS)
    )


# --- capacity -------------------------------------------------------------------------

NET_CLASS = of_driver("net", "net.example.com")
NICS = piece(
    "net.example.com",
    {
        "name": "nic-0",
        "allowMultipleAllocations": True,
        "capacity": {
            "bandwidth": {
                "value": "10G",
                "requestPolicy": {
                    "default": "1G",
                    "validRange": {"min": "100M", "max": "8G", "step": "100M"},
                },
            }
        },
    },
)


def _bandwidth(**amounts: str) -> dict:
    return claim(request("n", "net", capacity={"requests": amounts}))


def test_a_misspelt_capacity_is_told_with_the_one_that_was_meant():
    found = only(_bandwidth(bandwith="1G"), NET_CLASS, NICS)
    assert found.code == "capacity-unknown"
    assert found.field == f"{FIRST}.capacity.requests[bandwith]"
    assert found.suggestion == "bandwidth"


def test_more_capacity_than_the_policy_allows_is_told():
    found = only(_bandwidth(bandwidth="9G"), NET_CLASS, NICS)
    assert found.code == "capacity-too-big"
    assert found.message.endswith("the most is 8G.")
    assert codes(_bandwidth(bandwidth="8G"), NET_CLASS, NICS) == []


# --- numbers --------------------------------------------------------------------------

CPU_CLASS = of_driver("cpu", "dra.cpu")
CPUS = piece("dra.cpu", *({"name": f"cpu-{i}"} for i in range(40)))


def test_more_devices_than_a_claim_holds_are_told():
    assert codes(claim(request("c", "cpu", count=32)), CPU_CLASS, CPUS) == []
    sent = claim(request("c", "cpu", count=33))
    assert codes(sent, CPU_CLASS, CPUS) == [("too-many-devices", f"{DEVICES}.requests")]
    together = claim(request("a", "cpu", count=20), request("b", "cpu", count=20))
    assert codes(together, CPU_CLASS, CPUS) == [
        ("too-many-devices", f"{DEVICES}.requests")
    ]


def test_a_smaller_alternative_saves_the_claim():
    sent = claim(
        {
            "name": "c",
            "firstAvailable": [
                {"name": "many", "deviceClassName": "cpu", "count": 33},
                {"name": "few", "deviceClassName": "cpu", "count": 8},
            ],
        }
    )
    assert codes(sent, CPU_CLASS, CPUS) == [
        ("too-many-devices", f"{DEVICES}.requests[0].firstAvailable[0].count")
    ]


def test_all_of_more_devices_than_a_claim_holds_is_told():
    sent = claim(request("c", "cpu", allocationMode="All"))
    assert codes(sent, CPU_CLASS, CPUS) == [
        ("too-many-devices", f"{FIRST}.allocationMode")
    ]


def test_more_devices_than_any_node_has_are_told():
    other = piece(GPU, {"name": "gpu-0"}, node="n2")
    sent = claim(request("g", "gpu", count=3))
    assert codes(sent, GPU_CLASS, GPUS, other) == [
        ("never-fits-node", f"{FIRST}.count")
    ]


def test_devices_that_many_nodes_reach_count_everywhere():
    shared = piece(GPU, {"name": "gpu-0"}, node="net", allNodes=True)
    sent = claim(request("g", "gpu", count=3))
    assert codes(sent, GPU_CLASS, GPUS, shared) == []


def test_requests_that_fit_alone_and_not_together_are_told():
    sent = claim(request("a", "gpu", count=2), request("b", "gpu"))
    assert codes(sent, GPU_CLASS, GPUS) == [("never-fits-node", f"{DEVICES}.requests")]


def test_a_shared_device_serves_any_number():
    sent = claim(request("a", "net", count=3), request("b", "net"))
    assert codes(sent, NET_CLASS, NICS) == []


# --- constraints ----------------------------------------------------------------------

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


# --- the rest -------------------------------------------------------------------------


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
