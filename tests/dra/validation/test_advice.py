"""What an author is told that the API server would let pass, from situations people met."""

from __future__ import annotations

from functools import partial

import pytest

from dra.snapshot import Snapshot
from dra.validation import Gates, Request, validate
from dra.validation.advice import advise
from tests.dra.validation.advised import DEVICES, FIRST, GPU, GPU_CLASS, GPUS
from tests.dra.validation.objects import (
    claim,
    device_class,
    of_driver,
    piece,
    request,
    template,
)
from tests.dra.validation.world import advice, codes, only

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


def test_devices_of_one_size_may_give_different_amounts():
    strict = {"name": "nic-0", "allowMultipleAllocations": True}
    policy = {"default": "1G", "validRange": {"min": "1G", "max": "2G"}}
    strict["capacity"] = {"bandwidth": {"value": "10G", "requestPolicy": policy}}
    free = strict | {"name": "nic-1", "capacity": {"bandwidth": {"value": "10G"}}}
    nics = piece("nic.example.com", strict, free)
    net = of_driver("net", "nic.example.com")
    assert codes(_bandwidth(bandwidth="9G"), net, nics) == []


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


# --- derived attributes ------------------------------------------------------------------


def deriving(name: str) -> dict[str, object]:
    made = [{"name": name, "expression": "device.driver"}]
    return claim(
        request("g", "gpu", count=2, derivedAttributes=made),
        constraints=[{"matchAttribute": "example.com/own"}],
    )


def test_an_attribute_that_the_request_makes_itself_is_not_missed():
    snapshot = Snapshot.build([GPU_CLASS, GPUS])
    on = Gates.of_cluster("v1.37.0", {"DRADerivedAttributes": True})
    asked = partial(advise, snapshot=snapshot, namespace="default")
    assert asked(deriving("example.com/own"), features=on) == ()
    (found,) = asked(deriving("example.com/other"), features=on)
    assert found.code == "constraint-attribute-missing"
    (found,) = asked(deriving("example.com/own"), features=Gates.preset("1.37"))
    assert found.code == "constraint-attribute-missing"
