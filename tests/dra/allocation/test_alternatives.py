"""firstAvailable: the first alternative with which everything else still fits."""

from __future__ import annotations

import pytest

from dra.allocation import AllocationError, DoesNotFit, Features
from tests.dra.allocation.world import (
    ask,
    attribute,
    cluster,
    devices,
    everything,
    exactly,
    first_of,
    given,
    match,
    string,
    wanted,
)
from tests.dra.builders import device


def kinds(*named):
    return devices(*(device(n, attributes={"kind": string(n[0])}) for n in named))


def of_kind(kind, name, count=1):
    return exactly(name, count, f'{attribute("kind")} == "{kind}"')


def test_the_first_alternative_is_preferred():
    got = ask(
        cluster(kinds("a1", "b1")),
        wanted(first_of("x", of_kind("b", "big"), of_kind("a", "small"))),
    )

    assert given(got) == ["x/big=b1"]


def test_a_later_alternative_serves_when_the_first_cannot():
    got = ask(
        cluster(kinds("a1", "a2")),
        wanted(first_of("x", of_kind("b", "big"), of_kind("a", "small", 2))),
    )

    assert given(got) == ["x/small=a1", "x/small=a2"]


def test_what_follows_counts_too():
    got = ask(
        cluster(kinds("a1", "b1")),
        wanted(first_of("x", exactly("any"), of_kind("b", "b")), of_kind("a", "y")),
    )

    assert given(got) == ["x/any=b1", "y=a1"]


def test_an_earlier_request_moves_before_the_second_alternative_is_tried():
    got = ask(
        cluster(kinds("b1", "c1")),
        wanted(exactly("w"), first_of("x", of_kind("b", "b"), of_kind("c", "c"))),
    )

    assert given(got) == ["w=b1", "x/c=c1"]


def test_a_smaller_alternative_saves_a_claim_from_the_limit():
    world = cluster(devices(*(device(f"d{i:02}") for i in range(60))))
    claim = wanted(
        first_of("x", exactly("big", 20), exactly("small", 2)), exactly("y", 20)
    )

    got = given(ask(world, claim))

    assert len(got) == 22
    assert got[:2] == ["x/small=d00", "x/small=d01"]


def test_a_broken_alternative_is_an_error_though_the_first_would_fit():
    with pytest.raises(AllocationError, match=r"request bad: .*device class nope"):
        ask(
            cluster(kinds("a1")),
            wanted(first_of("x", exactly("good"), exactly("bad", cls="nope"))),
        )


def test_all_under_a_constraint_is_an_error_though_a_later_alternative_would_fit():
    claim = wanted(
        first_of("x", everything("all"), exactly("one")), constraints=[match("kind")]
    )

    with pytest.raises(AllocationError, match="request all: cannot add device"):
        ask(cluster(kinds("a1", "b1")), claim)


def test_alternatives_need_their_gate():
    with pytest.raises(AllocationError, match="DRAPrioritizedList feature is disabled"):
        ask(
            cluster(kinds("a1")),
            wanted(first_of("x", exactly("a"))),
            features=Features(),
        )


def test_the_reason_goes_through_the_alternatives():
    got = ask(
        cluster(kinds("a1")),
        wanted(first_of("x", of_kind("b", "big"), of_kind("a", "small", 2))),
    )

    assert isinstance(got, DoesNotFit)
    assert got.reason == (
        "No alternative of request x can be served: x/big wants 1, at most 0 can be "
        "had; x/small wants 2, at most 1 can be had."
    )


def test_one_pods_claims_are_planned_together_and_two_pods_one_after_another():
    world = cluster(kinds("f1", "h1", "h2"))
    full_or_half = first_of("r", of_kind("f", "full"), of_kind("h", "half"))
    one, two = wanted(full_or_half, name="one"), wanted(full_or_half, name="two")

    assert given(ask(world, one, two)) == ["r/full=f1", "r/half=h1"]


def test_an_alternative_that_leads_to_too_many_devices_is_tried_all_the_same():
    """What fails on the way there is an error, as if the rest could still follow."""
    world = cluster(devices(*(device(f"d{i:02}") for i in range(20))))
    claim = wanted(
        first_of("x", everything("all"), exactly("one")),
        everything("rest"),
        constraints=[match("absent", "x")],
    )

    with pytest.raises(AllocationError, match="constraint would not be satisfied"):
        ask(world, claim)


def test_devices_before_a_request_for_too_many_are_not_exchanged():
    """Only the first of them is looked at, so the selector never fails on the others."""
    kind = f'{attribute("kind")} != "x"'
    made = [device("d00", attributes={"kind": string("a")})]
    made += [device(f"d{i:02}") for i in range(1, 33)]
    claim = wanted(
        exactly("w", 1, kind), first_of("x", exactly("all", 32), exactly("few", 1))
    )

    assert given(ask(cluster(devices(*made)), claim)) == ["w=d00", "x/few=d01"]
