"""Taints and tolerations, admin access, binding conditions, feature gates."""

from __future__ import annotations

import pytest

from dra.allocation import AllocationError, DoesNotFit, Features, Fits
from tests.dra.allocation.world import (
    ask,
    cluster,
    devices,
    exactly,
    given,
    results,
    wanted,
)
from tests.dra.builders import claim, device, piece, result, taint_rule

TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


def tainted(**changes):
    return cluster(
        devices(device("bad", taints=[{**TAINT, **changes}]), device("good"))
    )


def two(*tolerations):
    return wanted(exactly(count=2, tolerations=list(tolerations)))


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_taint_keeps_claims_away(effect):
    assert given(ask(tainted(effect=effect), wanted(exactly()))) == ["r=good"]


@pytest.mark.parametrize("effect", ["None", "Whatever"])
def test_other_effects_do_not(effect):
    assert given(ask(tainted(effect=effect), wanted(exactly()))) == ["r=bad"]


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"key": "k", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "k", "operator": "Equal", "value": "v"},
        {"key": "k", "value": "v"},
        {"operator": "Equal", "value": "v"},
    ],
)
def test_a_toleration_lets_the_claim_in_and_is_copied_to_the_result(toleration):
    got = ask(tainted(), two(toleration))

    assert given(got) == ["r=bad", "r=good"]
    assert isinstance(got, Fits)
    (first, _) = results(got.allocations[0])
    assert first.tolerations is not None
    assert len(first.tolerations) == 1


@pytest.mark.parametrize(
    "toleration",
    [
        {"key": "other", "operator": "Exists"},
        {"key": "k", "operator": "Equal", "value": "w"},
        {"key": "k", "operator": "Exists", "effect": "NoExecute"},
        {"key": "k", "operator": "Somehow"},
    ],
)
def test_a_toleration_of_something_else_does_not(toleration):
    got = ask(tainted(), two(toleration))

    assert isinstance(got, DoesNotFit)
    assert "1 tainted" in got.reason


def test_a_taint_rule_counts_like_the_devices_own_taint():
    world = cluster(devices(device("bad"), device("good")), taint_rule(device="bad"))

    assert given(ask(world, wanted(exactly()))) == ["r=good"]


def test_without_the_gate_taints_mean_nothing():
    off = Features.preset("1.36").override({"deviceTaints": False})

    assert given(ask(tainted(), wanted(exactly()), features=off)) == ["r=bad"]


# --- admin access --------------------------------------------------------------


def admin(name="r", count=1):
    return exactly(name, count, adminAccess=True)


def test_admin_access_sees_devices_in_use():
    world = cluster(devices(device("gpu-0")), claim("other", result()))

    got = ask(world, wanted(admin()))

    assert given(got) == ["r=gpu-0"]
    assert isinstance(got, Fits)
    assert results(got.allocations[0])[0].admin_access is True


def test_what_others_have_with_admin_access_is_not_in_use():
    world = cluster(devices(device("gpu-0")), claim("other", result(adminAccess=True)))

    assert given(ask(world, wanted(exactly()))) == ["r=gpu-0"]


def test_admin_access_does_not_open_tainted_devices():
    world = cluster(devices(device("bad", taints=[TAINT])))

    assert isinstance(ask(world, wanted(admin())), DoesNotFit)


def test_one_claim_never_has_a_device_twice_even_with_admin_access():
    world = cluster(devices(device("gpu-0")))

    for requests in ((admin("x"), admin("y")), (admin("x"), exactly("y"))):
        assert isinstance(ask(world, wanted(*requests)), DoesNotFit)


def test_another_claims_admin_access_does_not_take_the_device():
    world = cluster(devices(device("gpu-0")))
    watch, work = wanted(admin("x"), name="watch"), wanted(exactly("y"), name="work")

    assert given(ask(world, work, watch)) == ["y=gpu-0", "x=gpu-0"]
    assert given(ask(world, watch, work)) == ["x=gpu-0", "y=gpu-0"]
    assert isinstance(ask(world, watch, work, quirks="1.36"), DoesNotFit)


def test_admin_access_needs_its_gate():
    off = Features.preset("1.36").override({"adminAccess": False})

    with pytest.raises(AllocationError, match="feature is disabled"):
        ask(cluster(devices(device())), wanted(admin()), features=off)


# --- binding conditions and features unknown to us ------------------------------


def test_binding_conditions_go_into_the_result_only_with_their_gate():
    attached = device(
        "a", bindingConditions=["attached"], bindingFailureConditions=["failed"]
    )
    world = cluster(devices(attached))
    off = Features.preset("1.36").override({"deviceBindingAndStatus": False})

    got = ask(world, wanted(exactly()))

    assert isinstance(got, Fits)
    (only,) = results(got.allocations[0])
    assert only.binding_conditions == ["attached"]
    assert only.binding_failure_conditions == ["failed"]
    assert isinstance(ask(world, wanted(exactly()), features=off), DoesNotFit)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (exactly(cls=""), "missing device class name"),
        (exactly(cls="nope"), "could not retrieve device class nope"),
        (exactly(allocationMode="Most"), "unsupported count mode Most"),
        ({"name": "r"}, "neither exactly nor firstAvailable"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_before_the_search(request_, words):
    with pytest.raises(
        AllocationError, match=f"claim default/wanted, request r: .*{words}"
    ):
        ask(cluster(), wanted(request_))


STABLE = Features(admin_access=True, prioritized_list=True, device_taints=True)
"""Gates with which 1.36 takes its older allocator."""


def test_the_older_allocator_does_not_mind_capacity_requests():
    world = cluster(devices(device()))
    claim = wanted(exactly(capacity={"requests": {"memory": "1Gi"}}))

    assert given(ask(world, claim, features=STABLE, quirks="1.36")) == ["r=gpu-0"]
    with pytest.raises(AllocationError, match="DRAConsumableCapacity"):
        ask(world, claim, features=STABLE)


def test_the_older_allocator_knows_no_device_that_binds_to_a_node():
    everywhere = {"nodeName": None, "allNodes": True}
    world = cluster(devices(device(bindsToNode=True), **everywhere))

    bound = []
    for quirks in ("1.36", "none"):
        got = ask(world, wanted(exactly()), features=STABLE, quirks=quirks)
        assert isinstance(got, Fits)
        bound.append(got.allocations[0].node_selector is not None)
    assert bound == [False, True]


def test_the_older_allocator_tells_selectors_of_no_device_that_is_shared():
    shared = device("shared", allowMultipleAllocations=True)
    world = cluster(devices(shared, device("alone")))
    either = [
        wanted(exactly("r", 1, expression))
        for expression in (
            "device.allowMultipleAllocations",
            "!device.allowMultipleAllocations",
        )
    ]

    assert isinstance(ask(world, either[0], features=STABLE, quirks="1.36"), DoesNotFit)
    assert given(ask(world, either[1], features=STABLE, quirks="1.36")) == ["r=shared"]
    assert given(ask(world, either[0], features=STABLE)) == ["r=shared"]
    assert given(ask(world, either[1], features=STABLE)) == ["r=alone"]


def test_the_older_allocator_keeps_the_order_of_slices_that_have_shared_devices():
    slices = [
        piece(name, device(name, allowMultipleAllocations=shared), of=3)
        for name, shared in (("c", True), ("b", False), ("a", True))
    ]
    world = cluster(*slices)

    got = ask(world, wanted(exactly(count=3)), features=STABLE, quirks="1.36")

    assert given(got) == ["r=c", "r=b", "r=a"]
