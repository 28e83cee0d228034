"""The rules about what devices offer: counters, capacity, attributes, and what the
result repeats of them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dra.allocation import DEFAULT, Fits, allocate
from dra.allocation.verify import Code
from dra.objects import NodeSelector
from tests.dra.allocation.verify.alterations import (
    with_first,
    with_results,
    without_config,
)
from tests.dra.allocation.verify.judging import broken, found, gpus, labelled, moved
from tests.dra.allocation.world import (
    cluster,
    device_class,
    devices,
    distinct,
    exactly,
    first_of,
    match,
    string,
    wanted,
)
from tests.dra.builders import (
    claim,
    consumes,
    counter_set,
    device,
    node,
    piece,
    result,
)

GROUPS = DEFAULT.override({"deviceCompatibilityGroups": True})
LISTS = DEFAULT.override({"listTypeAttributes": True})


# --- counters and groups -------------------------------------------------------------


def partitions(*draws: str, total: str = "4", **fields: Any) -> list[Any]:
    made = [
        device(f"gpu-{i}", consumesCounters=[{**consumes("set", m=d), **fields}])
        for i, d in enumerate(draws)
    ]
    sets = [counter_set("set", m=total)]
    return [piece("s-1", of=2, sharedCounters=sets), piece("s-2", *made, of=2)]


def test_counters_cannot_be_overdrawn():
    world = cluster(*partitions("2", "2", "3"), claim("other", result("gpu-1")))
    one, two = wanted(exactly(), name="one"), wanted(exactly(), name="two")

    assert moved(world, one, "gpu-2") == {Code.COUNTERS_OVERDRAWN}
    free = cluster(*partitions("2", "2", "3"))
    first, second = found(free, one, two)
    assert broken(free, [one, two], [first, with_first(second, device="gpu-2")]) == {
        Code.COUNTERS_OVERDRAWN
    }


def test_devices_on_one_counter_set_share_a_compatibility_group():
    pieces = partitions("1", "1", "1")
    for made, groups in zip(
        pieces[1]["spec"]["devices"], (["mig"], ["vgpu"], ["mig", "vgpu"]), strict=True
    ):
        made["consumesCounters"][0]["compatibilityGroups"] = groups
    world = cluster(*pieces)
    one = wanted(exactly("r", 2))
    (right,) = found(world, one, features=GROUPS)

    wrong = with_results(right, lambda r: [r[0], replace(r[1], device="gpu-1")])

    assert broken(world, [one], [wrong], features=GROUPS) == {Code.GROUPS_INCOMPATIBLE}
    assert broken(world, [one], [wrong]) == set()
    held = cluster(*pieces, claim("other", result("gpu-1")))
    assert broken(held, [one], [right], features=GROUPS) == {Code.GROUPS_INCOMPATIBLE}


def test_devices_that_draw_from_counters_need_the_gate():
    world = cluster(*partitions("1"))
    one = wanted(exactly())
    off = DEFAULT.override({"partitionableDevices": False})

    assert broken(world, [one], found(world, one), features=off) != set()


# --- capacity ------------------------------------------------------------------------


def shareable(**policy: Any) -> Any:
    memory: dict[str, Any] = {"value": "8Gi"}
    if policy:
        memory["requestPolicy"] = policy
    return device("nic", allowMultipleAllocations=True, capacity={"memory": memory})


def asks_for(amount: str, name: str = "r") -> Any:
    return exactly(name, capacity={"requests": {"memory": amount}})


def used(amount: str, share_id: str = "s") -> Any:
    return result("nic", shareID=share_id, consumedCapacity={"memory": amount})


def test_shares_fit_together():
    one = wanted(asks_for("3Gi"))
    right = found(cluster(devices(shareable())), one)

    for held, code in (("5Gi", set()), ("6Gi", {Code.CAPACITY_EXCEEDED})):
        world = cluster(devices(shareable()), claim("other", used(held)))
        assert broken(world, [one], right) == code


def test_the_result_says_what_the_request_consumes():
    world = cluster(devices(shareable(validRange={"min": "1Gi", "step": "1Gi"})))
    one = wanted(asks_for("1500Mi"))
    (right,) = found(world, one)

    for consumed in ({"memory": "1500Mi"}, {"memory": "9Gi"}, {}, {"memory": "?"}):
        wrong = with_first(right, consumed_capacity=consumed)
        assert broken(world, [one], [wrong]) == {Code.CONSUMED_CAPACITY}
    assert (
        broken(
            world, [one], [with_first(right, consumed_capacity={"memory": "2048Mi"})]
        )
        == set()
    )


@pytest.mark.parametrize(
    ("policy", "amount", "enough"),
    [
        ({"validRange": {"min": "1Gi", "max": "4Gi"}}, "5Gi", False),
        ({"validRange": {"min": "1Gi", "max": "4Gi"}}, "1", True),
        (
            {"validRange": {"min": "1Gi", "step": "1Gi", "max": "1900Mi"}},
            "1.5Gi",
            False,
        ),
        ({"validValues": ["1Gi", "2Gi"], "default": "1Gi"}, "3Gi", False),
        ({"validValues": ["1Gi", "2Gi"], "default": "3Gi"}, "3Gi", True),
        ({}, "9Gi", False),
    ],
)
def test_a_policy_offers_some_amounts(policy: Any, amount: str, enough: bool):
    world = cluster(devices(shareable(**policy)))
    one = wanted(asks_for(amount))
    outcome = allocate(world, [one], "n1")
    (right,) = found(cluster(devices(shareable())), wanted(exactly()))

    assert isinstance(outcome, Fits) is enough
    assert (Code.CAPACITY_EXCEEDED in broken(world, [one], [right])) is not enough


def test_a_capacity_that_the_device_does_not_have_cannot_be_had():
    world = cluster(devices(shareable()))
    other = wanted(exactly("r", capacity={"requests": {"cores": "1"}}))

    wrong = broken(world, [other], found(world, wanted(exactly())))

    assert wrong == {Code.CAPACITY_EXCEEDED}


def test_a_share_has_an_id_of_its_own_and_other_devices_have_none():
    world = cluster(devices(shareable()), claim("other", used("1Gi", "taken")))
    one = wanted(asks_for("1Gi", "x"), asks_for("1Gi", "y"))
    (right,) = found(world, one)
    results = right.devices.results or []

    for share_id in (None, "", "taken", results[1].share_id):
        wrong = with_first(right, share_id=share_id)
        assert broken(world, [one], [wrong]) == {Code.SHARE_ID}
    whole = cluster(devices(device("gpu-0")))
    alone = wanted(exactly())
    (given,) = found(whole, alone)
    assert broken(whole, [alone], [with_first(given, share_id="s")]) == {Code.SHARE_ID}


def test_a_device_that_is_no_longer_shareable_waits_for_its_last_share():
    one = wanted(exactly())
    right = found(cluster(devices(device("nic"))), one)
    world = cluster(devices(device("nic")), claim("other", used("1Gi")))

    assert broken(world, [one], right) == {Code.DEVICE_IN_USE}


def test_a_request_takes_a_shareable_device_once():
    world = cluster(devices(shareable()))
    one = wanted(asks_for("1Gi", "x"), asks_for("1Gi", "y"))
    (right,) = found(world, one)
    both = wanted(exactly("x", 2, capacity={"requests": {"memory": "1Gi"}}))

    twice = with_results(right, lambda r: [r[0], replace(r[1], request="x")])

    assert broken(world, [both], [twice]) == {Code.TAKEN_TWICE}


# --- constraints ---------------------------------------------------------------------


def test_matching_devices_agree():
    world = cluster(
        devices(*labelled(a=string("A"), b=string("A"), c=string("B")), device("d"))
    )
    one = wanted(exactly("r", 2), constraints=[match("a")])
    (right,) = found(world, one)

    for name in ("c", "d"):
        wrong = with_first(right, device=name)
        assert broken(world, [one], [wrong]) == {Code.CONSTRAINT_BROKEN}


def test_values_of_different_types_neither_match_nor_repeat():
    world = cluster(devices(*labelled(a={"int": 1}, b={"string": "1"}, c={"int": 1})))
    apart = wanted(exactly("r", 2), constraints=[distinct("a")])
    alike = wanted(exactly("r", 2), constraints=[match("a")])
    (differing,) = found(world, apart)
    (equal,) = found(world, alike)

    assert broken(world, [alike], [differing]) == {Code.CONSTRAINT_BROKEN}
    assert broken(world, [apart], [equal]) == {Code.CONSTRAINT_BROKEN}


def test_constraints_concern_the_requests_that_they_name():
    world = cluster(devices(*labelled(a=string("A"), b=string("B"), c=string("A"))))
    one = wanted(
        exactly("x"), exactly("y"), exactly("z"), constraints=[match("a", "x")]
    )
    two = wanted(
        exactly("x"), exactly("y"), exactly("z"), constraints=[match("a", "x", "y")]
    )
    right = found(world, one)

    assert broken(world, [two], right) == {Code.CONSTRAINT_BROKEN}


def test_lists_match_in_one_value_and_differ_in_all():
    world = cluster(
        devices(
            *labelled(
                a={"strings": ["A", "B"]}, b={"strings": ["B", "C"]}, c=string("A")
            )
        )
    )
    alike = wanted(exactly("r", 2), constraints=[match("a")])
    apart = wanted(exactly("r", 2), constraints=[distinct("a")])
    (equal,) = found(world, alike, features=LISTS)
    (differing,) = found(world, apart, features=LISTS)
    all_three = wanted(exactly("r", 3), constraints=[match("a")])
    three = with_results(equal, lambda r: [*r, replace(r[0], device="c")])

    assert broken(world, [apart], [equal], features=LISTS) == {Code.CONSTRAINT_BROKEN}
    assert broken(world, [alike], [differing], features=LISTS) == {
        Code.CONSTRAINT_BROKEN
    }
    assert broken(world, [all_three], [three], features=LISTS) == {
        Code.CONSTRAINT_BROKEN
    }


def test_a_list_equals_nothing_while_lists_are_off():
    world = cluster(devices(*labelled(a={"strings": ["A"]}, b={"strings": ["A"]})))
    one = wanted(exactly("r", 2), constraints=[match("a")])
    free = wanted(exactly("r", 2))

    assert broken(world, [one], found(world, free)) == {Code.CONSTRAINT_BROKEN}


def test_a_constraint_has_to_constrain_something():
    world = cluster(devices(*gpus()))
    one = wanted(exactly(), constraints=[{"requests": ["r"]}])

    assert broken(world, [one], found(world, wanted(exactly()))) == {
        Code.REQUEST_INVALID
    }


# --- what the result repeats ---------------------------------------------------------


def test_tolerations_and_binding_conditions_are_copied():
    bound = device(
        "gpu-0", bindingConditions=["attached"], bindingFailureConditions=["failed"]
    )
    world = cluster(devices(bound))
    one = wanted(exactly(tolerations=[{"operator": "Exists", "key": "k"}]))
    (right,) = found(world, one)

    assert broken(world, [one], [with_first(right, tolerations=None)]) == {
        Code.TOLERATIONS
    }
    for field in ("binding_conditions", "binding_failure_conditions"):
        wrong = with_first(right, **{field: None})
        assert broken(world, [one], [wrong]) == {Code.BINDING_CONDITIONS}


def test_configuration_comes_from_classes_and_from_the_claim():
    opaque = {"opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}
    world = cluster(device_class("gpu", config=[opaque]), devices(*gpus()))
    one = wanted(
        first_of("r", exactly("a"), exactly("b")),
        exactly("s"),
        config=[
            {"requests": ["r/a", "s"], **opaque},
            {"requests": ["r/b"], **opaque},
            opaque,
        ],
    )
    (right,) = found(world, one)
    config = right.devices.config or []

    assert [(c.source, c.requests) for c in config] == [
        ("FromClass", ["r/a", "s"]),
        ("FromClaim", ["r/a", "s"]),
        ("FromClaim", None),
    ]
    assert broken(world, [one], [without_config(right)]) == {Code.CONFIG_WRONG}


def test_the_node_selector_is_that_of_the_devices():
    zone = {"key": "zone", "operator": "In", "values": ["a", "b"]}
    again = {"key": "zone", "operator": "In", "values": ["b", "a"]}
    world = cluster(
        node("n1", zone="a"),
        *(
            piece(
                f"s{i}",
                device(f"d{i}"),
                pool=f"p{i}",
                nodeSelector={"nodeSelectorTerms": [{"matchExpressions": [term]}]},
            )
            for i, term in enumerate([zone, again])
        ),
    )
    one = wanted(exactly("r", 2))
    (right,) = found(world, one)

    assert right.node_selector is not None
    for wrong in (None, NodeSelector()):
        changed = replace(right, node_selector=wrong)
        assert broken(world, [one], [changed]) == {Code.NODE_SELECTOR}


def test_an_allocation_made_for_one_node_is_not_for_another():
    world = cluster(
        node("n1"),
        node("n2"),
        devices(*gpus(), allNodes=True),
        device_class(),
        piece("t", device("local"), pool="pool-of-n1"),
    )
    anywhere, local = wanted(exactly()), wanted(exactly("r", 3))

    assert broken(world, [anywhere], found(world, anywhere), "n2") == set()
    assert broken(world, [local], found(world, local), "n2") == {Code.NOT_ON_NODE}
