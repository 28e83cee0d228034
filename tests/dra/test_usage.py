from __future__ import annotations

import pytest

from dra.names import DeviceID, PoolKey
from dra.snapshot import Snapshot
from dra.taints import TaintRules
from dra.usage import State, device_states, shortages
from tests.dra.builders import (
    DRIVER,
    claim,
    consumes,
    counter_set,
    device,
    piece,
    result,
    taint_rule,
)

POOL = PoolKey(DRIVER, "pool")
TAINT = {"key": "k", "effect": "NoSchedule"}


def uses(*objects):
    snapshot = Snapshot.build(objects)
    pool = snapshot.pools[POOL]
    rules = TaintRules(snapshot.taint_rules.values())
    results = snapshot.in_use.pool(POOL).results()
    return device_states(pool, results, rules.for_pool(pool))


def states(*objects):
    return {name: use.state.value for name, use in uses(*objects).items()}


def test_a_device_that_nobody_holds_is_free():
    assert states(piece("s", device("x")), claim("pending")) == {"x": "free"}


def test_a_device_of_an_allocated_claim_is_in_use():
    found = uses(piece("s", device("x")), claim("c", result("x")))
    assert found["x"].state is State.IN_USE
    assert found["x"].claim_count == 1
    assert found["x"].holders[0].claim_key == ("default", "c")


def test_a_device_with_shares_is_shared():
    found = uses(
        piece("s", device("x", allowMultipleAllocations=True)),
        claim("c1", result("x", shareID="1"), result("x", shareID="2")),
        claim("c2", result("x", shareID="3")),
    )
    assert found["x"].state is State.SHARED
    assert len(found["x"].holders) == 3
    assert found["x"].claim_count == 2


def test_one_dedicated_holder_makes_a_shared_device_in_use():
    shared, alone = claim("a", result("x", shareID="1")), claim("b", result("x"))
    assert states(piece("s", device("x")), shared, alone) == {"x": "in use"}


def test_admin_access_holds_nothing():
    found = uses(piece("s", device("x")), claim("c", result("x", adminAccess=True)))
    assert found["x"].state is State.FREE
    assert found["x"].holders == ()


@pytest.mark.parametrize(
    ("effect", "state"),
    [("NoSchedule", "tainted"), ("NoExecute", "tainted"), ("None", "free")],
)
def test_taints_of_the_slice_and_of_rules_count_alike(effect, state):
    own = piece("s", device("x", taints=[{"key": "k", "effect": effect}]))
    assert states(own) == {"x": state}
    rule = taint_rule("r", effect=effect, device="x")
    assert states(piece("s", device("x"), device("y")), rule) == {
        "x": state,
        "y": "free",
    }


def test_devices_of_an_incomplete_pool_are_incomplete():
    assert states(piece("s", device("x"), of=2)) == {"x": "incomplete"}


def test_devices_of_an_invalid_pool_are_invalid():
    bad = piece("s", device("x"), device("x"))
    assert states(bad) == {"x": "invalid"}


def test_held_comes_first_then_the_pool_then_taints():
    """in use, shared, invalid, incomplete, tainted, blocked, free."""
    devices = [device(name, taints=[TAINT]) for name in ("held", "shared", "other")]
    holders = claim("c", result("held"), result("shared", shareID="1"))
    incomplete = piece("s", *devices, of=2)
    assert states(incomplete, holders) == {
        "held": "in use",
        "shared": "shared",
        "other": "incomplete",
    }
    unreadable = device("bad", capacity={"memory": {"value": "?"}})
    both = piece("s", *devices, unreadable, of=2)
    assert states(both, holders)["other"] == "invalid"
    assert states(piece("s", *devices), holders)["other"] == "tainted"


def gpu(sets=None):
    """A whole GPU and its two halves, drawing from one counter set."""
    sets = sets or [counter_set("gpu", memory="80Gi", cores="98")]
    return [
        piece("counters", of=2, sharedCounters=sets),
        piece(
            "devices",
            device("whole", consumesCounters=[consumes("gpu", memory="80Gi")]),
            device("left", consumesCounters=[consumes("gpu", memory="40Gi")]),
            device("right", consumesCounters=[consumes("gpu", memory="40Gi")]),
            device("other"),
            of=2,
        ),
    ]


def test_the_whole_is_blocked_while_a_part_is_held():
    assert states(*gpu(), claim("c", result("left"))) == {
        "whole": "blocked",
        "left": "in use",
        "right": "free",
        "other": "free",
    }


def test_the_parts_are_blocked_while_the_whole_is_held():
    found = states(*gpu(), claim("c", result("whole")))
    assert (found["left"], found["right"]) == ("blocked", "blocked")


def test_a_shared_device_draws_its_counters_once():
    shares = [result("left", shareID=str(n)) for n in range(3)]
    found = states(*gpu(), claim("c", *shares))
    assert (found["left"], found["right"], found["whole"]) == (
        "shared",
        "free",
        "blocked",
    )


def test_a_device_held_with_admin_access_draws_nothing():
    found = states(*gpu(), claim("c", result("left", adminAccess=True)))
    assert found["whole"] == "free"


def test_a_held_device_that_is_no_longer_published_draws_nothing():
    assert states(*gpu(), claim("c", result("gone")))["whole"] == "free"


def test_tainted_comes_before_blocked():
    rule = taint_rule("r", device="whole")
    assert states(*gpu(), claim("c", result("left")), rule)["whole"] == "tainted"


def test_a_shortage_says_what_is_needed_what_is_left_and_who_has_the_rest():
    snapshot = Snapshot.build([*gpu(), claim("c", result("left"))])
    results = list(snapshot.in_use.pool(POOL).results())
    (found,) = shortages(snapshot.pools[POOL], results, "whole")
    assert (found.counter_set, found.counter) == ("gpu", "memory")
    assert [str(q) for q in (found.needed, found.left, found.total)] == [
        "80Gi",
        "40Gi",
        "80Gi",
    ]
    assert found.drawn_by == ("left",)
    assert shortages(snapshot.pools[POOL], results, "right") == ()
    assert shortages(snapshot.pools[POOL], results, "left") == (), "as if it were free"
    assert shortages(snapshot.pools[POOL], results, "nope") == ()


def test_counters_of_an_unusable_pool_are_not_computed_with():
    slices = gpu([counter_set("gpu", memory="lots")])
    assert set(states(*slices).values()) == {"invalid"}
    pool = Snapshot.build(slices).pools[POOL]
    assert shortages(pool, (), "whole") == ()


def test_the_in_use_state_is_asked_by_device():
    snapshot = Snapshot.build(
        [
            claim("b", result("x", shareID="1")),
            claim("a", result("x"), result("y", adminAccess=True)),
        ]
    )
    in_use = snapshot.in_use
    holders = in_use.holders(DeviceID(DRIVER, "pool", "x"))
    assert [h.claim for h in holders] == ["a", "b"], "by claim"
    assert in_use.holders(DeviceID(DRIVER, "pool", "y")) == ()
    assert in_use.holders(DeviceID(DRIVER, "nope", "x")) == ()
    use = in_use.pool(POOL)
    assert [h.result.device for h in use.results()] == ["x", "x", "y"]
