"""Derived attributes (Kubernetes 1.37, alpha), as the documentation describes them."""

from __future__ import annotations

from typing import Any

import pytest

from dra.allocation import (
    AllocationError,
    DoesNotFit,
    Fits,
    place,
)
from dra.objects import ResourceClaim, write
from tests.dra.allocation.deriving import (
    AGREE,
    DIFFER,
    ON,
    aligned,
    ask,
    derives,
    gpu,
    machine,
)
from tests.dra.allocation.world import (
    attribute,
    cluster,
    devices,
    distinct,
    everything,
    exactly,
    first_of,
    given,
    match,
    string,
    wanted,
)
from tests.dra.builders import DRIVER, claim, device, node, piece, result

LISTS = ON.override({"listTypeAttributes": True})


# --- what it is for -------------------------------------------------------------


def test_two_drivers_are_aligned_that_never_agreed_on_a_name():
    world = machine(gpu("g0", 0), gpu("g1", 1), nics=[("n0", 7), ("n1", 1)])

    assert given(ask(world, aligned())) == ["gpu=g1", "nic=n1"]


def test_nothing_fits_where_nothing_is_aligned():
    world = machine(gpu("g0", 0), gpu("g1", 1), nics=[("n0", 7)])

    assert isinstance(ask(world, aligned()), DoesNotFit)


def test_the_reason_counts_what_is_derived():
    world = cluster(devices(gpu("g0", 0), gpu("g1", 1), gpu("g2", 1)))
    three = wanted(exactly("r", 3, **derives(attribute("numa"))), constraints=[AGREE])

    outcome = ask(world, three)

    assert isinstance(outcome, DoesNotFit)
    assert outcome.reason == (
        "Node n1 does not have 3 free devices of class gpu with equal derived/numa: "
        "it has 2 (request r)."
    )


def test_devices_can_be_kept_apart_by_what_is_derived():
    world = cluster(devices(gpu("g0", 0), gpu("g1", 2), gpu("g2", 3)))
    parity = exactly("r", 2, **derives(f"{attribute('numa')} % 2"))

    assert given(ask(world, wanted(parity, constraints=[DIFFER]))) == ["r=g0", "r=g2"]


def test_a_part_of_a_text_can_be_compared():
    where = [("g0", "numa0-pcie1"), ("g1", "numa1-pcie1"), ("g2", "numa1-pcie2")]
    world = cluster(
        devices(*(device(n, attributes={"at": string(t)}) for n, t in where))
    )
    first_part = exactly("r", 2, **derives(f'{attribute("at")}.split("-")[0]'))

    assert given(ask(world, wanted(first_part, constraints=[AGREE]))) == [
        "r=g1",
        "r=g2",
    ]


def test_tiers_can_be_made_of_capacity():
    memory = {"g0": "40Gi", "g1": "80Gi", "g2": "96Gi"}
    world = cluster(
        devices(*(device(n, capacity={"m": {"value": v}}) for n, v in memory.items()))
    )
    big = f'device.capacity["{DRIVER}"].m.compareTo(quantity("80Gi")) >= 0'
    tiers = exactly("r", 2, **derives(f'{big} ? "tier-1" : "tier-2"'))

    assert given(ask(world, wanted(tiers, constraints=[AGREE]))) == ["r=g1", "r=g2"]


def test_each_alternative_derives_its_own():
    world = cluster(devices(gpu("g0", 0), gpu("g1", 1), gpu("g2", 1)))
    one = wanted(
        first_of(
            "r",
            exactly("alike", 3, **derives(attribute("numa"))),
            exactly("whatever", 3, **derives("0")),
        ),
        constraints=[{"requests": ["r"], **AGREE}],
    )

    assert given(ask(world, one)) == [f"r/whatever=g{i}" for i in range(3)]


def test_a_constraint_on_one_alternative_leaves_the_other_alone():
    world = cluster(devices(gpu("g0", 0), gpu("g1", 1)))
    one = wanted(
        first_of("r", exactly("a", 2, **derives(attribute("numa"))), exactly("b", 2)),
        constraints=[{"requests": ["r/a"], **AGREE}],
    )

    assert given(ask(world, one)) == ["r/b=g0", "r/b=g1"]


def test_nothing_of_it_is_in_the_result():
    world = machine(gpu("g0", 0), nics=[("n0", 0)])
    outcome = ask(world, aligned())

    assert isinstance(outcome, Fits)
    assert "derived" not in str(write(outcome.allocations[0]))


# --- names and scope ------------------------------------------------------------


def test_a_derived_attribute_shadows_that_of_the_driver_for_its_request_alone():
    world = cluster(devices(gpu("g0", 0), gpu("g1", 1)))
    name = f"{DRIVER}/numa"
    shadowing = exactly("r", 2, **derives("7", name))
    plain = exactly("s", 2)

    assert given(ask(world, wanted(shadowing, constraints=[match("numa", "r")]))) == [
        "r=g0",
        "r=g1",
    ]
    assert isinstance(
        ask(world, wanted(plain, constraints=[match("numa", "s")])), DoesNotFit
    )
    both = wanted(
        exactly("r", **derives("1", name)), exactly("s"), constraints=[match("numa")]
    )
    assert given(ask(world, both)) == ["r=g0", "s=g1"]


def test_an_attribute_without_its_domain_is_shadowed_by_its_full_name():
    world = cluster(devices(gpu("g0", 0), gpu("g1", 0)))
    apart = exactly("r", 2, **derives(attribute("numa"), "gpu.example.com/other"))

    assert isinstance(
        ask(world, wanted(apart, constraints=[distinct("numa")])), DoesNotFit
    )


def test_selectors_do_not_see_it():
    world = cluster(devices(gpu("g0", 0)))
    curious = exactly(
        "r", 1, 'device.attributes["derived"].numa == 0', **derives(attribute("numa"))
    )

    with pytest.raises(AllocationError, match="no such key: numa"):
        ask(world, wanted(curious, constraints=[AGREE]))


def test_it_does_not_see_others():
    world = cluster(devices(gpu("g0", 0)))
    chain = exactly(
        "r",
        derivedAttributes=[
            {"name": "derived/a", "expression": attribute("numa")},
            {
                "name": "derived/numa",
                "expression": 'device.attributes["derived"].a',
            },
        ],
    )

    with pytest.raises(AllocationError, match="no such key: a"):
        ask(world, wanted(chain, constraints=[AGREE]))


# --- when it is evaluated, and when it fails ------------------------------------


def test_an_error_ends_the_allocation_although_another_device_would_do():
    world = cluster(devices(device("odd"), gpu("g1", 1)))
    one = wanted(exactly(**derives(attribute("numa"))), constraints=[AGREE])

    with pytest.raises(AllocationError) as caught:
        ask(world, one)

    assert str(caught.value) == (
        "claim default/wanted, request r: derived attribute derived/numa: "
        "CEL runtime error: no such key: numa"
    )
    assert not caught.value.node_only


def test_a_careful_expression_has_no_errors():
    world = cluster(devices(device("odd"), gpu("g1", 1)))
    careful = f'device.attributes["{DRIVER}"].?numa.orValue(-1)'
    one = wanted(exactly("r", 2, **derives(careful)), constraints=[DIFFER])

    assert given(ask(world, one)) == ["r=odd", "r=g1"]


def test_devices_that_the_selectors_leave_out_are_not_asked():
    world = cluster(devices(device("odd"), gpu("g1", 1)))
    careful = exactly(
        "r", 1, f'"numa" in device.attributes["{DRIVER}"]', **derives(attribute("numa"))
    )

    assert given(ask(world, wanted(careful, constraints=[AGREE]))) == ["r=g1"]


@pytest.mark.parametrize(
    "more",
    [
        {"taints": [{"key": "k", "effect": "NoSchedule"}]},
        {"capacity": {"m": {"value": "1"}}, "name": "used"},
    ],
    ids=["tainted", "in use"],
)
def test_devices_that_cannot_be_had_are_not_asked(more: Any):
    odd = {**device("odd"), **more}
    world = cluster(devices(odd, gpu("g1", 1)), claim("other", result("used")))
    one = wanted(exactly(**derives(attribute("numa"))), constraints=[AGREE])

    assert given(ask(world, one)) == ["r=g1"]


def test_what_no_constraint_compares_is_not_evaluated():
    world = cluster(devices(gpu("g0", 0)))
    unused = exactly(**derives("nonsense", "derived/unused"))

    assert given(ask(world, wanted(unused))) == ["r=g0"]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("nonsense", "CEL compile error"),
        ("1.5", "must evaluate to a primitive scalar"),
        ("dyn(1.5)", "CEL runtime error: unsupported CEL return type: double"),
        ("[1]", "CEL runtime error: .* DRAListTypeAttributes is off"),
    ],
)
def test_what_is_no_attribute_is_an_error(expression: str, words: str):
    world = cluster(devices(gpu("g0", 0)))

    with pytest.raises(AllocationError, match=words):
        ask(world, wanted(exactly(**derives(expression)), constraints=[AGREE]))


def test_a_request_for_all_devices_ends_where_they_do_not_agree():
    world = cluster(devices(gpu("g0", 0), gpu("g1", 1)))

    def all_of(expression: str) -> ResourceClaim:
        return wanted(everything(**derives(expression)), constraints=[AGREE])

    assert given(ask(world, all_of("1"))) == ["r=g0", "r=g1"]
    with pytest.raises(AllocationError, match="constraint would not be satisfied"):
        ask(world, all_of(attribute("numa")))


def test_an_error_on_one_node_does_not_hide_another():
    world = cluster(
        node("n1"),
        node("n2"),
        piece("a", device("odd"), pool="n1", nodeName="n1"),
        piece("b", gpu("g", 0), pool="n2", nodeName="n2"),
    )
    one = wanted(exactly(**derives(attribute("numa"))), constraints=[AGREE])

    assert given(place(world, [one], features=ON)) == ["r=g"]
    with pytest.raises(AllocationError, match="no such key"):
        place(world, [one], features=ON, quirks="1.36")


# --- lists and types ------------------------------------------------------------


def test_lists_have_to_meet():
    pairs = {"g0": (1, 2), "g1": (3, 4), "g2": (5, 1)}
    world = cluster(
        devices(
            *(
                device(name, attributes={"p": {"int": p}, "q": {"int": q}})
                for name, (p, q) in pairs.items()
            )
        )
    )
    both = exactly("r", 2, **derives(f"[{attribute('p')}, {attribute('q')}]"))
    meeting = wanted(both, constraints=[AGREE])
    apart = wanted(both, constraints=[DIFFER])

    assert given(ask(world, meeting, features=LISTS)) == ["r=g0", "r=g2"]
    assert given(ask(world, apart, features=LISTS)) == ["r=g0", "r=g1"]


def test_an_empty_list_goes_with_nothing():
    world = cluster(devices(gpu("g0", 0)))
    one = wanted(exactly(**derives("[]")), constraints=[AGREE])

    assert isinstance(ask(world, one, features=LISTS), DoesNotFit)


def test_values_of_different_types_never_agree():
    world = cluster(devices(gpu("g0", 0), gpu("g1", 1)))
    one = wanted(
        exactly("x", **derives("0")),
        exactly("y", **derives('"0"')),
        constraints=[AGREE],
    )

    assert isinstance(ask(world, one), DoesNotFit)


def test_a_version_agrees_with_that_of_a_driver():
    published = device("g1", attributes={"v": {"version": "1.2.3"}})
    world = cluster(devices(gpu("g0", 0), published))
    one = wanted(
        exactly("x", **derives('semver("1.2.3")', f"{DRIVER}/v")),
        exactly("y"),
        constraints=[match("v")],
    )

    assert given(ask(world, one)) == ["x=g0", "y=g1"]
