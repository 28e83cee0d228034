"""Each rule that the check knows, broken on purpose."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dra.allocation import DEFAULT
from dra.allocation.verify import Code, Violation, verify
from dra.objects import AllocationResult
from tests.dra.allocation.verify.alterations import (
    first_twice,
    with_first,
    with_results,
    without_last,
)
from tests.dra.allocation.verify.judging import broken, found, gpus, moved
from tests.dra.allocation.world import (
    attribute,
    cluster,
    device_class,
    devices,
    everything,
    exactly,
    first_of,
    string,
    wanted,
)
from tests.dra.builders import (
    claim,
    consumes,
    device,
    node,
    piece,
    result,
    taint_rule,
)

# --- devices and pools ----------------------------------------------------------


def test_a_violation_says_what_is_wrong_where_and_in_words():
    world = cluster(devices(*gpus()), claim("other", result("gpu-1")))
    one = wanted(exactly())
    (right,) = found(world, one)

    wrong = verify(world, [one], [with_first(right, device="gpu-1")], "n1")

    assert wrong == (
        Violation(
            code=Code.DEVICE_IN_USE,
            claim="default/wanted",
            request="r",
            device="gpu.example.com/pool/gpu-1",
            sentence="The device gpu.example.com/pool/gpu-1, given to the request r of "
            "claim default/wanted, is held by claim default/other.",
        ),
    )


def test_an_allocation_is_checked_on_a_node_that_exists():
    world = cluster(devices(*gpus()))
    one = wanted(exactly())

    assert broken(world, [one], found(world, one), "n9") == {Code.NODE_UNKNOWN}


def test_there_is_one_allocation_per_claim():
    with pytest.raises(ValueError, match="0 allocations for 1 claims"):
        verify(cluster(), [wanted(exactly())], [], "n1")


def test_devices_have_to_exist():
    world = cluster(devices(*gpus()))
    one = wanted(exactly())
    (right,) = found(world, one)

    assert broken(world, [one], [with_first(right, device="gpu-9")]) == {
        Code.DEVICE_UNKNOWN
    }
    assert broken(world, [one], [with_first(right, pool="nope")]) == {
        Code.DEVICE_UNKNOWN
    }


@pytest.mark.parametrize(
    ("now", "code"),
    [
        ([piece("s", *gpus(), of=2)], Code.POOL_UNUSABLE),
        ([piece("s", *gpus(), *gpus())], Code.POOL_UNUSABLE),
        (
            [piece("s", device("gpu-0", consumesCounters=[consumes("x", m="1")]))],
            Code.POOL_UNUSABLE,
        ),
        ([piece("s", *gpus(), nodeName="n2")], Code.NOT_ON_NODE),
        (
            [piece("s", *gpus()), piece("t", device("new"), generation=2)],
            Code.DEVICE_UNKNOWN,
        ),
        (
            [piece("s", *gpus()), piece("t", *gpus(), generation=2, nodeName="n2")],
            Code.NOT_ON_NODE,
        ),
    ],
    ids=["half there", "twice", "no counters", "elsewhere", "gone", "moved"],
)
def test_a_pool_may_have_changed_since(now: list[Any], code: Code):
    one = wanted(exactly())
    right = found(cluster(piece("s", *gpus())), one)

    assert broken(cluster(node("n1"), node("n2"), *now), [one], right) == {code}


def test_each_device_of_a_slice_may_choose_its_nodes():
    here = device("gpu-0", nodeName="n1")
    there = device("gpu-1", nodeName="n2")
    world = cluster(devices(here, there, perDeviceNodeSelection=True))

    assert moved(world, wanted(exactly()), "gpu-1") == {Code.NOT_ON_NODE}


def test_devices_with_binding_conditions_need_the_gate():
    world = cluster(devices(device("gpu-0", bindingConditions=["attached"])))
    one = wanted(exactly())
    off = DEFAULT.override({"deviceBindingAndStatus": False})

    wrong = broken(world, [one], found(world, one), features=off)

    assert wrong == {Code.FEATURE_OFF, Code.BINDING_CONDITIONS}


# --- in use ---------------------------------------------------------------------


def test_a_device_is_given_away_once():
    world = cluster(devices(*gpus()))
    one, two = wanted(exactly(), name="one"), wanted(exactly(), name="two")
    first, second = found(world, one, two)

    assert broken(world, [one, two], [first, first]) == {Code.TAKEN_TWICE}
    assert broken(world, [one, two], [second, first]) == set()


def test_what_the_claim_itself_holds_is_not_in_its_way():
    one = wanted(exactly())
    (right,) = found(cluster(devices(*gpus())), one)
    held = replace(one, status=replace(one.status, allocation=right))
    world = cluster(devices(*gpus())).edit(add=[held])

    assert broken(world, [one], [right]) == set()
    assert broken(world, [one], [with_first(right, device="gpu-1")]) == {
        Code.ALREADY_ALLOCATED
    }


def test_what_an_unreadable_claim_holds_is_in_use():
    unreadable = claim("odd", result("gpu-1"))
    unreadable["spec"] = "?"
    world = cluster(devices(*gpus()), unreadable)

    assert moved(world, wanted(exactly()), "gpu-1") == {Code.DEVICE_IN_USE}


# --- admin access ---------------------------------------------------------------


def test_admin_access_is_exempt_from_use_and_only_from_that():
    tainted = device("gpu-1", taints=[{"key": "k", "effect": "NoSchedule"}])
    world = cluster(devices(device("gpu-0"), tainted), claim("other", result("gpu-0")))

    assert moved(world, wanted(exactly(adminAccess=True)), "gpu-1") == {
        Code.TAINT_NOT_TOLERATED
    }


def test_admin_access_is_given_where_it_was_asked_for_and_nowhere_else():
    world = cluster(devices(*gpus()))
    admin, plain = wanted(exactly(adminAccess=True)), wanted(exactly())
    (given,) = found(world, admin)
    (right,) = found(world, plain)

    assert broken(world, [admin], [with_first(given, admin_access=None)]) == {
        Code.ADMIN_ACCESS
    }
    assert broken(world, [plain], [with_first(right, admin_access=True)]) == {
        Code.ADMIN_ACCESS
    }


def test_admin_access_needs_a_namespace_that_is_labelled_for_it():
    meta = {"name": "default", "labels": {}}
    namespace = {"kind": "Namespace", "metadata": meta}
    admin = wanted(exactly(adminAccess=True))
    right = found(cluster(devices(*gpus())), admin)

    plain = cluster(devices(*gpus()), namespace)
    label = {"resource.kubernetes.io/admin-access": "true"}
    labelled = cluster(
        devices(*gpus()), {**namespace, "metadata": {**meta, "labels": label}}
    )

    assert broken(plain, [admin], right) == {Code.ADMIN_ACCESS}
    assert broken(labelled, [admin], right) == set()


def test_one_claim_has_a_device_once_even_with_admin_access():
    world = cluster(devices(*gpus()))
    one = wanted(exactly("x", adminAccess=True), exactly("y", adminAccess=True))
    two = wanted(exactly("x", adminAccess=True), name="two")
    (right,) = found(world, one)

    same = with_first(right, device="gpu-1")

    assert broken(world, [one], [same]) == {Code.TAKEN_TWICE}
    assert broken(world, [one, two], [right, found(world, two)[0]]) == set()


# --- requests -------------------------------------------------------------------


def test_results_are_for_requests_of_the_claim():
    world = cluster(devices(*gpus()))
    one = wanted(exactly())
    (right,) = found(world, one)

    assert broken(world, [one], [with_first(right, request="q")]) == {
        Code.REQUEST_UNKNOWN,
        Code.WRONG_COUNT,
    }


def test_a_request_gets_as_many_devices_as_it_wants():
    world = cluster(devices(*gpus()))
    one = wanted(exactly("r", 2))
    (right,) = found(world, one)

    assert broken(world, [one], [without_last(right)]) == {Code.WRONG_COUNT}
    assert broken(world, [one], [first_twice(right)]) == {
        Code.WRONG_COUNT,
        Code.TAKEN_TWICE,
    }
    assert broken(world, [one], [AllocationResult()]) == {Code.WRONG_COUNT}


def test_all_means_every_device_that_matches():
    world = cluster(
        devices(*gpus(3, attributes={"a": string("A")}), device("odd")),
        device_class("gpu", f"{attribute('a')} == 'A'"),
    )
    picky = cluster(
        devices(*gpus(3)), device_class("gpu", 'device.driver == "gpu.example.com"')
    )
    one = wanted(everything())
    (right,) = found(picky, one)

    assert broken(picky, [one], [without_last(right)]) == {Code.NOT_ALL_DEVICES}
    assert Code.SELECTOR_ERROR in broken(world, [one], [right])


def test_all_counts_devices_that_are_in_use():
    one = wanted(everything())
    (right,) = found(cluster(devices(*gpus(2))), one)
    world = cluster(devices(*gpus(2)), claim("other", result("gpu-1")))

    assert broken(world, [one], [right]) == {Code.DEVICE_IN_USE}
    assert broken(world, [one], [without_last(right)]) == {Code.NOT_ALL_DEVICES}


def test_all_waits_for_every_pool_of_the_node():
    one = wanted(everything())
    (right,) = found(cluster(devices(*gpus())), one)
    half = piece("t", device("x"), driver="nic.example.com", of=2)

    assert broken(cluster(devices(*gpus()), half), [one], [right]) == {
        Code.POOL_UNUSABLE
    }


def test_one_alternative_is_chosen():
    world = cluster(devices(*gpus(3)))
    one = wanted(first_of("r", exactly("a", 2), exactly("b", 1)))
    (right,) = found(world, one)

    mixed = with_results(right, lambda r: [r[0], replace(r[1], request="r/b")])
    parent = with_first(right, request="r")

    assert broken(world, [one], [mixed]) == {
        Code.SEVERAL_ALTERNATIVES,
        Code.WRONG_COUNT,
    }
    assert Code.REQUEST_UNKNOWN in broken(world, [one], [parent])


def test_a_claim_gets_32_devices_at_most():
    world = cluster(devices(*gpus(40)))
    one = wanted(exactly("r", 32))
    (right,) = found(world, one)
    greedy = wanted(exactly("r", 33))

    more = with_results(right, lambda r: [*r, replace(r[0], device="gpu-35")])

    assert broken(world, [greedy], [more]) == {Code.TOO_MANY_RESULTS}


@pytest.mark.parametrize(
    ("request_", "gate"),
    [
        (first_of("r", exactly("a")), "prioritizedList"),
        (exactly(adminAccess=False), "adminAccess"),
        (exactly(capacity={"requests": {}}), "consumableCapacity"),
    ],
)
def test_requests_need_the_gates_of_what_they_use(request_: Any, gate: str):
    world = cluster(devices(*gpus()))
    one = wanted(request_)
    off = DEFAULT.override({gate: False})

    assert broken(world, [one], found(world, one), features=off) == {Code.FEATURE_OFF}


@pytest.mark.parametrize(
    "request_",
    [exactly(cls="nope"), exactly(allocationMode="Most"), {"name": "r"}],
)
def test_requests_that_cannot_be_served_are_named(request_: Any):
    world = cluster(devices(*gpus()))
    (right,) = found(world, wanted(exactly()))

    assert Code.REQUEST_INVALID in broken(world, [wanted(request_)], [right])


# --- selectors and taints -------------------------------------------------------


def test_class_and_request_selectors_have_to_be_true():
    kinds = [
        device(f"gpu-{i}", attributes={"a": string(a), "b": string(b)})
        for i, (a, b) in enumerate([("x", "x"), ("y", "x"), ("x", "y")])
    ]
    world = cluster(
        device_class("gpu", f"{attribute('a')} == 'x'"),
        devices(*kinds, device("gpu-3")),
    )
    one = wanted(exactly("r", 1, f"{attribute('b')} == 'x'"))

    assert moved(world, one, "gpu-1") == {Code.SELECTOR_FALSE}
    assert moved(world, one, "gpu-2") == {Code.SELECTOR_FALSE}
    assert moved(world, one, "gpu-3") == {Code.SELECTOR_ERROR}


def test_an_expression_that_does_not_compile_is_an_error():
    world = cluster(devices(*gpus()))
    (right,) = found(world, wanted(exactly()))

    assert broken(world, [wanted(exactly("r", 1, "nope"))], [right]) == {
        Code.SELECTOR_ERROR
    }


def test_taints_of_devices_and_of_rules_have_to_be_tolerated():
    bad = device("gpu-1", taints=[{"key": "k", "value": "v", "effect": "NoExecute"}])
    world = cluster(
        devices(device("gpu-0"), bad, device("gpu-2"), device("gpu-3")),
        taint_rule("rule", device="gpu-2"),
        taint_rule("soft", effect="None", device="gpu-3"),
    )
    one = wanted(exactly())

    for name in ("gpu-1", "gpu-2"):
        assert moved(world, one, name) == {Code.TAINT_NOT_TOLERATED}
    assert moved(world, one, "gpu-3") == set()


@pytest.mark.parametrize(
    ("toleration", "enough"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "", "operator": "Equal", "value": "v"}, True),
        ({"key": "k", "operator": "Equal", "value": "w"}, False),
        ({"key": "j", "operator": "Exists"}, False),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"operator": "Like", "key": "k"}, False),
    ],
)
def test_a_toleration_has_to_match(toleration: Any, enough: bool):
    bad = device("gpu-1", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    world = cluster(devices(device("gpu-0"), bad))
    one = wanted(exactly(tolerations=[toleration]))

    expected = set() if enough else {Code.TAINT_NOT_TOLERATED}

    assert moved(world, one, "gpu-1") == expected
