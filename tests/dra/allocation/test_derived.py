"""Derived attributes (Kubernetes 1.37, alpha), as the documentation describes them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from dra.allocation import (
    AllocationError,
    DoesNotFit,
    Features,
    Fits,
    Outcome,
    allocate,
    place,
    search,
)
from dra.allocation.placing import Question
from dra.allocation.verify import Code, verify
from dra.objects import ResourceClaim, write
from dra.snapshot import Snapshot
from tests.dra.allocation.verify.alterations import with_first
from tests.dra.allocation.world import (
    attribute,
    cluster,
    device_class,
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

ON = Features.preset("1.37").override({"DRADerivedAttributes": True})
LISTS = ON.override({"listTypeAttributes": True})
NIC = "nic.example.com"
AGREE = {"matchAttribute": "derived/numa"}
DIFFER = {"distinctAttribute": "derived/numa"}


def derives(expression: str, name: str = "derived/numa") -> Any:
    return {"derivedAttributes": [{"name": name, "expression": expression}]}


def ask(
    world: Snapshot, *claims: ResourceClaim, features: Features = ON, **options: Any
) -> Outcome:
    """The outcome; what is found has to be right by the rules."""
    outcome = allocate(world, claims, "n1", features=features, **options)
    if isinstance(outcome, Fits):
        found = verify(world, claims, outcome.allocations, "n1", features=features)
        assert found == ()
    return outcome


def gpu(name: str, numa: int, **fields: Any) -> Any:
    return device(name, attributes={"numa": {"int": numa}}, **fields)


def machine(*gpus: Any, nics: Any) -> Snapshot:
    """The documentation's example: two drivers, two names for one thing."""
    return cluster(
        device_class("gpu", f'device.driver == "{DRIVER}"'),
        device_class("nic", f'device.driver == "{NIC}"'),
        devices(*gpus),
        piece(
            "nics",
            *(device(n, attributes={"numaNode": {"int": i}}) for n, i in nics),
            driver=NIC,
        ),
    )


def aligned(**fields: Any) -> ResourceClaim:
    return wanted(
        exactly("gpu", **derives(attribute("numa"))),
        exactly(
            "nic",
            cls="nic",
            **derives(f'device.attributes["{NIC}"].numaNode'),
            **fields,
        ),
        constraints=[{"requests": ["gpu", "nic"], **AGREE}],
    )


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


# --- the gate -------------------------------------------------------------------


def test_the_older_allocator_of_the_scheduler_is_not_asked():
    """It is for stable features alone; it knows no distinctAttribute."""
    world = cluster(devices(gpu("g0", 0), gpu("g1", 1)))
    only = Features.from_gates({"derivedAttributes": True})
    one = wanted(exactly("r", 2, **derives(attribute("numa"))), constraints=[DIFFER])

    assert given(ask(world, one, features=only, quirks="1.36")) == ["r=g0", "r=g1"]


def test_with_the_gate_off_it_is_ignored():
    """As the scheduler does for claims that were made while the gate was on."""
    off = ON.override({"derivedAttributes": False})
    world = cluster(devices(gpu("g0", 0), gpu("g1", 0)))
    aligned_ = wanted(exactly("r", 2, **derives("7")), constraints=[AGREE])
    shadowed = wanted(
        exactly("r", 2, **derives("7", f"{DRIVER}/numa")), constraints=[match("numa")]
    )

    assert isinstance(ask(world, aligned_, features=off), DoesNotFit)
    assert given(ask(world, shadowed, features=off)) == ["r=g0", "r=g1"]
    assert not Features.preset("1.37").derived_attributes


# --- the check ------------------------------------------------------------------


def test_the_check_sees_devices_that_are_not_aligned():
    world = machine(gpu("g0", 0), gpu("g1", 1), nics=[("n0", 7), ("n1", 1)])
    one = aligned()
    outcome = ask(world, one)
    assert isinstance(outcome, Fits)

    wrong = with_first(outcome.allocations[0], device="g0")

    found = verify(world, [one], [wrong], "n1", features=ON)
    assert [v.code for v in found] == [Code.CONSTRAINT_BROKEN]


@pytest.mark.parametrize("expression", ["nonsense", attribute("nope"), "dyn(1.5)"])
def test_the_check_sees_an_expression_without_answer(expression: str):
    world = cluster(devices(gpu("g0", 0)))
    fits = ask(world, wanted(exactly()))
    assert isinstance(fits, Fits)
    one = wanted(exactly(**derives(expression)), constraints=[AGREE])

    found = verify(world, [one], fits.allocations, "n1", features=ON)

    assert [v.code for v in found] == [Code.DERIVED_ATTRIBUTE]


# --- laws -----------------------------------------------------------------------

parts = st.lists(
    st.tuples(st.sampled_from("xy"), st.integers(0, 2)), min_size=1, max_size=7
)
requests = st.lists(
    st.tuples(st.sampled_from(["x", "y", ""]), st.integers(1, 3)),
    min_size=1,
    max_size=3,
)
rules = st.lists(
    st.tuples(st.booleans(), st.sampled_from([[], ["r0"], ["r0", "r1"]])), max_size=2
)
HIDDEN = f'device.attributes["{DRIVER}"].?left.or(device.attributes["{DRIVER}"].?right)'


def in_slice(found: Any, *, published: bool, name: str = "n1") -> Any:
    """Devices that publish a value as ``a``, or hide it behind two names."""
    return piece(
        f"slice-{name}",
        *(
            device(
                f"g{i}",
                attributes={
                    "kind": string(kind),
                    "a" if published else {"x": "left", "y": "right"}[kind]: {
                        "int": value
                    },
                },
            )
            for i, (kind, value) in enumerate(found)
        ),
        pool=name,
        nodeName=name,
    )


def waiting(asked: Any, compared: Any, *, published: bool) -> ResourceClaim:
    name = f"{DRIVER}/a" if published else "derived/a"
    return wanted(
        *(
            exactly(
                f"r{i}",
                count,
                *([f"{attribute('kind')} == '{kind}'"] if kind else []),
                **({} if published else derives(f"{HIDDEN}.value()", name)),
            )
            for i, (kind, count) in enumerate(asked)
        ),
        constraints=[
            {
                "distinctAttribute" if apart else "matchAttribute": name,
                **({"requests": names} if names else {}),
            }
            for apart, names in compared
        ],
    )


@pytest.mark.parametrize("patience", [search.PATIENCE, -1], ids=["plain", "insight"])
@settings(max_examples=150)
@examples(found=parts, asked=requests, compared=rules)
def test_what_is_derived_counts_like_what_is_published(
    patience: int, found: Any, asked: Any, compared: Any
):
    usual, search.PATIENCE = search.PATIENCE, patience
    try:
        published, derived = (
            ask(
                cluster(in_slice(found, published=way)),
                waiting(asked, compared, published=way),
            )
            for way in (True, False)
        )
    finally:
        search.PATIENCE = usual

    assert isinstance(published, Fits) == isinstance(derived, Fits)
    if isinstance(published, Fits):
        assert given(published) == given(derived)


@settings(max_examples=60)
@examples(
    machines=st.lists(parts, min_size=4, max_size=8), asked=requests, compared=rules
)
def test_many_nodes_get_the_answers_of_one_at_a_time(
    machines: Any, asked: Any, compared: Any
):
    names = [f"n{i}" for i in range(len(machines))]
    world = cluster(
        *(node(name) for name in names),
        *(
            in_slice(found, published=False, name=name)
            for name, found in zip(names, machines, strict=True)
        ),
    )
    one = waiting(asked, compared, published=False)

    together = Question(world, [one], features=ON).on_nodes(names)

    for name in names:
        alone = allocate(world, [one], name, features=ON)
        same = together[name]
        assert isinstance(same, Fits) == isinstance(alone, Fits)
        if isinstance(alone, Fits):
            assert isinstance(same, Fits)
            assert given(same) == given(alone)
