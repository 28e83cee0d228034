"""Small claims that cannot fit are answered at once, by counts, not by trying.

The budgets are what a search takes before it thinks and a little more. Trying would take
millions of steps, in the scheduler too.
"""

from __future__ import annotations

import pytest

from dra.allocation import AllocationError, Budget, DoesNotFit, Features
from tests.dra.allocation.world import (
    ask,
    attribute,
    cluster,
    devices,
    distinct,
    everything,
    exactly,
    first_of,
    given,
    match,
    selector,
    wanted,
)
from tests.dra.builders import DRIVER, consumes, counter_set, device, piece

SOON = Budget(steps=1_500)
LISTS = Features.preset("1.36").override({"listTypeAttributes": True})


def numbered(count, **attributes):
    """``numbered(24, a=4)``: 24 devices, their ``a`` is 0, 1, 2, 3, 0, 1 …"""
    return [
        device(
            f"g{i:02}",
            attributes={name: {"int": i % n} for name, n in attributes.items()},
        )
        for i in range(count)
    ]


def partitions(gpus=4):
    """GPUs of seven slices each: as seven small, three middle or one whole device."""
    sets, parts = [], []
    for g in range(gpus):
        sets.append(counter_set(f"gpu{g}", slices="7", memory="8"))
        for kind, number, slices, memory in (
            ("small", 7, 1, 1),
            ("middle", 3, 2, 2),
            ("large", 2, 3, 4),
            ("whole", 1, 7, 8),
        ):
            parts += [
                device(
                    f"{g}-{kind}-{n}",
                    attributes={"kind": {"string": kind}, "gpu": {"int": g}},
                    consumesCounters=[
                        consumes(f"gpu{g}", slices=str(slices), memory=str(memory))
                    ],
                )
                for n in range(number)
            ]
    return cluster(piece("s-1", of=2, sharedCounters=sets), piece("s-2", *parts, of=2))


def part(name, count, kind):
    return exactly(name, count, f'{attribute("kind")} == "{kind}"')


def assert_hopeless(world, *requests, constraints=(), **options):
    asked = wanted(*requests, constraints=list(constraints))
    assert isinstance(ask(world, asked, budget=SOON, **options), DoesNotFit)


MODES = pytest.mark.parametrize("quirks", ["none", "1.36"])


@MODES
def test_more_than_the_counters_hold(quirks):
    world = partitions()
    on = {"quirks": quirks, "features": Features.preset("1.36")}
    assert_hopeless(world, exactly("r", 29), **on)
    assert_hopeless(world, part("r", 9, "large"), **on)
    assert_hopeless(
        world,
        part("r", 5, "large"),
        part("s", 6, "middle"),
        part("t", 5, "small"),
        **on,
    )


@MODES
def test_more_of_one_gpu_than_it_has(quirks):
    on = {"quirks": quirks, "features": Features.preset("1.36")}
    three = [part("r", 1, "large"), part("s", 2, "middle"), part("t", 1, "small")]
    assert_hopeless(partitions(), *three, constraints=[match("gpu")], **on)


def test_more_different_gpus_than_there_are():
    assert_hopeless(partitions(), exactly("r", 5), constraints=[distinct("gpu")])


@MODES
def test_more_different_values_than_there_are(quirks):
    eight = [exactly(f"r{i}") for i in range(8)]
    world = cluster(devices(*numbered(24, a=7, own=24)))
    rules = [distinct("own"), distinct("a")]
    assert_hopeless(world, *eight, constraints=rules, quirks=quirks)


def test_values_that_two_requests_would_both_need():
    world = cluster(devices(*numbered(24, a=8)))
    few = f"{attribute('a')} < 3"
    assert_hopeless(
        world,
        exactly("r", 2, few),
        exactly("s", 2, few),
        exactly("t", 2),
        constraints=[distinct("a")],
    )


def test_devices_that_requests_would_both_need():
    world = cluster(devices(*numbered(24, a=24)))
    assert_hopeless(
        world,
        exactly("r", 8, f"{attribute('a')} < 12"),
        first_of("s", exactly("x", 6, f"{attribute('a')} < 12"), exactly("y", 25)),
    )


@MODES
def test_lists_that_have_too_little_in_common(quirks):
    parts = [
        device(f"g{i}", attributes={"roots": {"ints": [i % 6, (i + 1) % 6]}})
        for i in range(24)
    ]
    rules = [match("roots")]
    nine = exactly("r", 9)
    assert_hopeless(
        cluster(devices(*parts)), nine, constraints=rules, quirks=quirks, features=LISTS
    )


def test_more_shares_than_there_is_capacity_for():
    parts = [
        device(
            f"g{i}",
            allowMultipleAllocations=True,
            attributes={"a": {"int": i}},
            capacity={"memory": {"value": f"{80 + i}Gi"}},
        )
        for i in range(8)
    ]
    nine = [
        exactly(f"r{i}", capacity={"requests": {"memory": "44Gi"}}) for i in range(9)
    ]
    assert_hopeless(cluster(devices(*parts)), *nine, features=Features.preset("1.36"))


def pairs(number, *, apart):
    """Requests for a GPU and a NIC each that share a root; ``apart``: all GPUs first."""
    requests = [
        exactly(f"{kind}{n}", 1, f'device.driver == "{driver}"')
        for n in range(number)
        for kind, driver in (("gpu", DRIVER), ("nic", "nic.example.com"))
    ]
    if apart:
        requests.sort(key=lambda request: request["name"][:3])
    rules = [match("root", f"gpu{n}", f"nic{n}") for n in range(number)]
    return requests, rules


def rooted(gpus, nics):
    """A node with GPUs and NICs on these roots."""
    return cluster(
        devices(
            *(
                device(f"g{i}", attributes={"root": {"int": r}})
                for i, r in enumerate(gpus)
            )
        ),
        piece(
            "t",
            *(
                device(f"n{i}", attributes={f"{DRIVER}/root": {"int": r}})
                for i, r in enumerate(nics)
            ),
            driver="nic.example.com",
        ),
    )


@MODES
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    "nics",
    [[0, 1, 2, 3, 4, 5, 6, 9], [9, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 3, 2, 1, 0]],
)
def test_pairs_of_which_one_has_nowhere_to_go(quirks, apart, nics):
    requests, rules = pairs(8, apart=apart)
    assert_hopeless(rooted(range(8), nics), *requests, constraints=rules, quirks=quirks)


@MODES
def test_pairs_that_fit_in_one_way_are_found(quirks):
    """Every GPU has one NIC, and the GPUs are all asked for first."""
    requests, rules = pairs(8, apart=True)
    asked = wanted(*requests, constraints=rules)
    world = rooted(range(8), reversed(range(8)))
    got = ask(world, asked, budget=Budget(steps=5_000), quirks=quirks)
    assert given(got)[8:] == [f"nic{n}=n{7 - n}" for n in range(8)]


@MODES
def test_a_request_for_all_devices_does_not_get_its_turn(quirks):
    world = cluster(
        devices(*numbered(24, group=1)),
        piece(
            "t",
            device("nic", attributes={f"{DRIVER}/group": {"int": 2}}),
            driver="nic.example.com",
        ),
    )
    nic = selector('device.driver == "nic.example.com"')
    assert_hopeless(
        world,
        exactly("r", 8, f'device.driver == "{DRIVER}"'),
        exactly("s", selectors=[nic]),
        everything("t", "device.driver == 'nic.example.com'"),
        constraints=[match("group")],
        quirks=quirks,
    )


@MODES
def test_a_request_for_all_devices_that_gets_its_turn_still_ends_in_an_error(quirks):
    """The one after it can never be served, which nobody gets to see."""
    world = cluster(devices(*numbered(24, a=3)))
    asked = wanted(
        exactly("r", 2),
        everything("s", f"{attribute('a')} == 1"),
        exactly("t", 20),
        constraints=[match("a")],
    )
    with pytest.raises(AllocationError, match="request s: cannot add device"):
        ask(world, asked, budget=SOON, quirks=quirks)
