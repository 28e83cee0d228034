from __future__ import annotations

import pytest

from dra.objects import ResourceSlice, read
from dra.pools import make_pool
from tests.dra.builders import consumes, counter_set, device, piece


def pool(*raws):
    return make_pool(read(raw, ResourceSlice) for raw in raws)


def test_a_pool_with_all_its_slices_is_usable():
    found = pool(piece("b", device("1"), of=2), piece("a", device("0"), of=2))
    assert found.usable
    assert found.problem == ""
    assert (found.present, found.wanted, len(found.older)) == (2, 2, 0)
    assert [d.name for d in found.devices()] == ["0", "1"], "slices by name"


def test_a_missing_slice_makes_a_pool_incomplete():
    found = pool(piece("a", of=3), piece("b", of=3))
    assert not found.complete
    assert found.valid
    assert found.problem == "2 of 3 slices of generation 1"


def test_only_the_newest_generation_counts_and_leftovers_are_told():
    found = pool(
        piece("a", device("new"), generation=7, of=2),
        piece("b", device("old"), generation=6, of=2),
    )
    assert found.generation == 7
    assert [d.name for d in found.devices()] == ["new"]
    assert found.problem == (
        "1 of 2 slices of generation 7; generation 6 still has 1 slice"
    )


def test_leftovers_of_older_generations_do_not_spoil_a_complete_pool():
    found = pool(piece("a", generation=2), piece("b", generation=1))
    assert found.usable
    assert [s.metadata.name for s in found.older] == ["b"]


def test_every_older_generation_is_told():
    found = pool(
        piece("a", generation=9, of=2),
        piece("b", generation=8, of=2),
        piece("c", generation=3, of=2),
        piece("d", generation=3, of=2),
    )
    assert found.problem == (
        "1 of 2 slices of generation 9; generation 8 still has 1 slice; "
        "generation 3 still has 2 slices"
    )


def test_a_count_of_zero_is_never_complete():
    found = pool(piece("a", of=0))
    assert not found.complete
    assert found.problem == "1 slice of generation 1 present, 0 announced"


def test_more_slices_than_announced_are_incomplete_too():
    found = pool(piece("a"), piece("b"))
    assert found.problem == "2 slices of generation 1 present, 1 announced"


def test_slices_that_disagree_on_the_count_are_incomplete():
    found = pool(piece("a", of=2), piece("b", of=7))
    assert not found.complete
    assert found.problem == "slices of generation 1 announce different counts: 2 and 7"


@pytest.mark.parametrize(
    ("slices", "problem"),
    [
        (
            [piece("a", device("x"), of=2), piece("b", device("x"), of=2)],
            'device "x" is published twice',
        ),
        (
            [
                piece("a", of=2, sharedCounters=[counter_set("s")]),
                piece("b", of=2, sharedCounters=[counter_set("s")]),
            ],
            'counter set "s" is published twice',
        ),
        (
            [piece("a", device("x", consumesCounters=[consumes("s", m="1")]))],
            'device "x" consumes from counter set "s", which the pool does not have',
        ),
        (
            [
                piece("a", of=2, sharedCounters=[counter_set("s", m="1")]),
                piece("b", device("x", consumesCounters=[consumes("s", n="1")]), of=2),
            ],
            'device "x" consumes counter "n", which counter set "s" does not have',
        ),
    ],
)
def test_a_complete_pool_that_contradicts_itself_is_invalid(slices, problem):
    found = pool(*slices)
    assert found.complete
    assert not found.valid
    assert found.problem == problem


def test_contradictions_are_not_looked_for_in_an_incomplete_pool():
    """The counter set may be in the slice that is still missing."""
    found = pool(piece("a", device("x", consumesCounters=[consumes("s", m="1")]), of=2))
    assert found.valid
    assert not found.complete


def test_devices_of_a_slice_with_counters_are_no_devices():
    found = pool(piece("a", device("x"), sharedCounters=[counter_set("s")]))
    assert list(found.devices()) == []
    assert [s.metadata.name for s in found.counter_slices] == ["a"]
    assert found.device_slices == ()


def test_a_quantity_that_does_not_parse_makes_the_pool_invalid():
    found = pool(piece("a", device("x", capacity={"memory": {"value": "80 GB"}})))
    assert found.complete
    assert not found.valid
    assert found.problem.startswith(
        'slice a: spec.devices[0].capacity[memory].value: "80 GB" is not a quantity'
    )


def test_a_pool_can_be_invalid_and_incomplete():
    found = pool(piece("a", sharedCounters=[counter_set("s", m="?")], of=2))
    assert (found.valid, found.complete) == (False, False)
    assert found.problem.endswith("; 1 of 2 slices of generation 1")


def test_an_unreadable_value_of_an_older_generation_does_no_harm():
    bad = piece("b", device("x", capacity={"memory": {"value": "?"}}), generation=1)
    assert pool(piece("a", generation=2), bad).usable


def test_the_node_of_a_pool_is_that_of_all_its_slices():
    assert pool(piece("a", of=2), piece("b", of=2)).node_name == "n1"
    assert pool(piece("a", of=2), piece("b", of=2, nodeName="n2")).node_name == ""
    assert pool(piece("a", allNodes=True)).node_name == ""


def test_the_order_of_arrival_does_not_change_a_pool():
    raws = [piece("a", of=2), piece("b", of=7), piece("c", generation=0)]
    assert pool(*raws) == pool(*reversed(raws))
