"""matchAttribute and distinctAttribute."""

from __future__ import annotations

import pytest

from dra.allocation import AllocationError, DoesNotFit, Features
from tests.dra.allocation.world import (
    ask,
    attribute,
    cluster,
    devices,
    distinct,
    exactly,
    first_of,
    given,
    match,
    string,
    wanted,
)
from tests.dra.builders import DRIVER, device, piece

LISTS = Features.from_gates({"all": True})


def with_values(*values, name="a"):
    """Devices 0, 1, … with one attribute; None: without it."""
    return devices(
        *(
            device(str(i), **({} if v is None else {"attributes": {name: v}}))
            for i, v in enumerate(values)
        )
    )


def test_devices_that_agree_are_found_behind_ones_that_do_not():
    world = cluster(with_values(*map(string, "ABCBC")))

    got = ask(world, wanted(exactly(count=2), constraints=[match("a")]))

    assert given(got) == ["r=1", "r=3"]


def test_a_device_without_the_attribute_cannot_be_used():
    world = cluster(with_values(None, string("A")))

    for rule in (match("a"), distinct("a")):
        assert given(ask(world, wanted(exactly(), constraints=[rule]))) == ["r=1"]


def test_values_must_agree_in_type():
    world = cluster(with_values({"int": 1}, string("1"), {"bool": True}))

    got = ask(world, wanted(exactly(count=2), constraints=[match("a")]))

    assert isinstance(got, DoesNotFit)


def test_minus_one_is_a_value_like_any_other():
    world = cluster(with_values({"int": -1}, {"int": -1}))

    got = ask(world, wanted(exactly(count=2), constraints=[match("a")]))

    assert given(got) == ["r=0", "r=1"]


def test_versions_agree_only_when_written_the_same():
    world = cluster(with_values({"version": "1.0.0"}, {"version": "1.0.0+build"}))

    got = ask(world, wanted(exactly(count=2), constraints=[match("a")]))

    assert isinstance(got, DoesNotFit)


def test_the_attribute_with_its_domain_written_out_wins():
    values = {f"{DRIVER}/a": string("X"), "a": string("Y")}
    world = cluster(
        devices(
            device("0", attributes=values), device("1", attributes={"a": string("Y")})
        )
    )

    got = ask(world, wanted(exactly(count=2), constraints=[match("a")]))

    assert isinstance(got, DoesNotFit)


def test_a_domain_is_the_drivers_only_for_that_driver():
    """Two drivers with a name each for the same thing never agree."""
    root = "resource.kubernetes.io/pcieRoot"
    world = cluster(
        devices(device("gpu", attributes={"pciRoot": string("00")})),
        piece(
            "s",
            device("nic", attributes={root: string("00")}),
            driver="nic.example.com",
        ),
    )

    got = ask(
        world,
        wanted(exactly(count=2), constraints=[{"matchAttribute": root}]),
    )

    assert isinstance(got, DoesNotFit)
    assert root in got.reason


def test_a_constraint_concerns_only_the_requests_that_it_names():
    world = cluster(with_values(*map(string, "ABA")))

    got = ask(
        world,
        wanted(
            exactly("x"), exactly("y"), exactly("z"), constraints=[match("a", "x", "y")]
        ),
    )

    assert given(got) == ["x=0", "y=2", "z=1"]


def test_a_constraint_on_an_alternative_holds_when_that_one_is_chosen():
    world = cluster(with_values(*map(string, "AB")))
    alternatives = first_of("x", exactly("one"), exactly("two"))
    named = [match("a", "x/one", "y")]

    got = ask(world, wanted(alternatives, exactly("y"), constraints=named))

    assert given(got) == ["x/two=0", "y=1"]


def test_distinct_values_are_all_different_even_within_one_request():
    world = cluster(with_values(*map(string, "ABAC")))

    got = ask(world, wanted(exactly(count=3), constraints=[distinct("a")]))

    assert given(got) == ["r=0", "r=1", "r=3"]


def test_the_1_36_scheduler_remembers_only_the_last_of_a_request():
    world = cluster(with_values(*map(string, "ABAC")))

    got = ask(
        world, wanted(exactly(count=3), constraints=[distinct("a")]), quirks="1.36"
    )

    assert given(got) == ["r=0", "r=1", "r=2"]


def test_an_empty_constraint_is_an_error():
    world = cluster(devices(device()))

    with pytest.raises(AllocationError, match="constraint #0: empty constraint"):
        ask(world, wanted(exactly(), constraints=[{}]))


def test_lists_match_when_all_have_a_value_in_common():
    world = cluster(
        with_values({"strings": ["p", "q"]}, {"strings": ["q", "r"]}, string("q"))
    )

    got = ask(world, wanted(exactly(count=3), constraints=[match("a")]), features=LISTS)

    assert given(got) == ["r=0", "r=1", "r=2"]


def test_after_giving_a_device_up_a_list_counts_in_full_again():
    world = cluster(
        with_values({"ints": [1, 2]}, {"ints": [1]}, {"ints": [2]}, {"ints": [2, 3]})
    )
    claim = wanted(exactly("x"), exactly("y", 2), constraints=[match("a")])

    assert given(ask(world, claim, features=LISTS)) == ["x=0", "y=2", "y=3"]


def test_distinct_lists_share_nothing():
    world = cluster(with_values({"ints": [1, 2]}, {"ints": [2, 3]}, {"ints": [3]}))

    got = ask(
        world, wanted(exactly(count=2), constraints=[distinct("a")]), features=LISTS
    )

    assert given(got) == ["r=0", "r=2"]


def test_without_the_gate_a_list_is_alone_or_not_at_all():
    world = cluster(with_values({"ints": [1]}, {"ints": [1]}))

    for rule in (match("a"), distinct("a")):
        assert given(ask(world, wanted(exactly(), constraints=[rule]))) == ["r=0"]
        two = wanted(exactly(count=2), constraints=[rule])
        assert isinstance(ask(world, two), DoesNotFit)


def test_two_constraints_hold_at_once():
    world = cluster(
        devices(
            *(
                device(str(i), attributes={"a": string(a), "b": string(b)})
                for i, (a, b) in enumerate(zip("AABA", "xxyy", strict=True))
            )
        )
    )

    got = ask(world, wanted(exactly(count=2), constraints=[match("a"), distinct("b")]))

    assert given(got) == ["r=0", "r=3"]


def test_selectors_still_decide_before_constraints():
    world = cluster(with_values(*map(string, "AAB")))

    got = ask(
        world,
        wanted(exactly("r", 2, f"{attribute('a')} != 'B'"), constraints=[match("a")]),
    )

    assert given(got) == ["r=0", "r=1"]


def test_an_empty_list_beside_a_value_is_no_list():
    both = {"strings": [], "string": "a"}
    world = cluster(
        devices(*(device(n, attributes={"kind": both}) for n in ("d0", "d1")))
    )
    claim = wanted(exactly(count=2), constraints=[match("kind")])

    assert given(ask(world, claim, features=LISTS)) == ["r=d0", "r=d1"]


@pytest.mark.parametrize("quirks", ["none", "1.36"])
def test_distinct_takes_an_attribute_without_a_value_alone_or_not_at_all(quirks):
    def of(count, *values):
        claim = wanted(exactly(count=count), constraints=[distinct("a")])
        world = cluster(with_values(*values))
        return ask(world, claim, features=LISTS, quirks=quirks)

    text = {"string": "a"}
    assert given(of(1, {}, text)) == ["r=0"]
    assert given(of(2, {}, text)) == ["r=0", "r=1"]
    assert isinstance(of(2, text, {}), DoesNotFit)
