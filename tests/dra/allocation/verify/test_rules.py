"""Each rule that the check knows, broken on purpose."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dra.allocation import DEFAULT, Features, Fits, allocate
from dra.allocation.verify import Code, Violation, verify
from dra.objects import AllocationResult, NodeSelector, ResourceClaim
from dra.snapshot import Snapshot
from tests.dra.allocation.verify.alterations import (
    first_twice,
    with_first,
    with_results,
    without_config,
    without_last,
)
from tests.dra.allocation.world import (
    attribute,
    cluster,
    device_class,
    devices,
    distinct,
    everything,
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
    taint_rule,
)

GROUPS = DEFAULT.override({"deviceCompatibilityGroups": True})
LISTS = DEFAULT.override({"listTypeAttributes": True})


def gpus(count: int = 2, **fields: Any) -> list[Any]:
    return [device(f"gpu-{i}", **fields) for i in range(count)]


def found(
    world: Snapshot, *claims: ResourceClaim, features: Features = DEFAULT
) -> list[AllocationResult]:
    """What the engine gives the claims, which has to be right."""
    outcome = allocate(world, claims, "n1", features=features)
    assert isinstance(outcome, Fits), outcome
    assert verify(world, claims, outcome.allocations, "n1", features=features) == ()
    return list(outcome.allocations)


def broken(
    world: Snapshot,
    claims: list[ResourceClaim],
    allocations: list[AllocationResult],
    node_name: str = "n1",
    **options: Any,
) -> set[Code]:
    return {v.code for v in verify(world, claims, allocations, node_name, **options)}


def moved(
    world: Snapshot, one: ResourceClaim, to: str, features: Features = DEFAULT
) -> set[Code]:
    """What is wrong once the claim's first result names the device ``to``."""
    right = found(world, one, features=features)
    return broken(world, [one], [with_first(right[0], device=to)], features=features)


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


# --- counters and groups --------------------------------------------------------


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


# --- capacity -------------------------------------------------------------------


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


# --- constraints ----------------------------------------------------------------


def labelled(**values: Any) -> list[Any]:
    return [device(name, attributes={"a": value}) for name, value in values.items()]


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


# --- what the result repeats ----------------------------------------------------


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
