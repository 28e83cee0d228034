"""Derived attributes in the check and beside the brute force search."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from dra.allocation import (
    DoesNotFit,
    Features,
    Fits,
    allocate,
    search,
)
from dra.allocation.placing import Question
from dra.allocation.verify import Code, verify
from dra.objects import ResourceClaim
from tests.dra.allocation.deriving import (
    AGREE,
    DIFFER,
    ON,
    aligned,
    ask,
    derives,
    gpu,
    machine,
    requests,
)
from tests.dra.allocation.verify.alterations import with_first
from tests.dra.allocation.world import (
    attribute,
    cluster,
    devices,
    exactly,
    given,
    match,
    string,
    wanted,
)
from tests.dra.builders import DRIVER, device, node, piece

# --- the gate ------------------------------------------------------------------------


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


# --- the check -----------------------------------------------------------------------


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


# --- laws ----------------------------------------------------------------------------


parts = st.lists(
    st.tuples(st.sampled_from("xy"), st.integers(0, 2)), min_size=1, max_size=7
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
