"""Any scenario has an answer: the same one each time, and nothing is given away twice."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dra.audits import Code, audit
from dra.snapshot import Snapshot
from dra.whatif import (
    Result,
    ScenarioError,
    of_scenario,
    read_scenario,
    simulate,
    write_scenario,
)
from dra.whatif.text import as_text
from tests.dra.audits.world import GPU, NIC, NODES, NOW, PART, clean, is_driver
from tests.dra.builders import claim
from tests.dra.whatif.world import asking_for

BOOKING = {
    Code.DEVICE_BOOKED_TWICE,
    Code.COUNTERS_OVERCOMMITTED,
    Code.CAPACITY_OVERCOMMITTED,
}
WAITS = [claim("waits-1"), claim("waits-2")]
GPUS = "deviceclass.resource.kubernetes.io/gpu"
"""The extended resource that the class gpu has by its name."""
SNAPSHOT = Snapshot.build([*clean(), *WAITS])

nodes = st.lists(st.sampled_from(NODES), min_size=1, max_size=3, unique=True)
drivers = st.sampled_from([GPU, NIC, PART])
choices = st.one_of(
    st.builds(lambda n: {"node": n}, st.sampled_from(NODES)),
    st.builds(lambda d: {"driver": d}, drivers),
    st.builds(lambda d: {"cel": is_driver(d)}, drivers),
    st.just({"device": "gpu-0"}),
)
taints = st.builds(
    lambda effect: {"key": "k", "effect": effect},
    st.sampled_from(["NoSchedule", "NoExecute", "None"]),
)


def edit(name: str, /, **fields: Any) -> Any:
    return st.fixed_dictionaries({"edit": st.just(name), **fields})


edits = st.one_of(
    edit("drain", nodes=nodes),
    edit("cordon", nodes=nodes),
    edit("removeNodes", nodes=nodes),
    edit("addNodes", like=st.sampled_from(NODES), count=st.integers(1, 3)),
    edit("taint", devices=choices, taint=taints),
    edit("untaint", devices=choices),
    edit("taintByRule", name=st.sampled_from(["r", "s"]), taint=taints, driver=drivers),
    edit("changeDevices", devices=choices, remove=st.just(True)),
    edit(
        "changeDevices",
        devices=choices,
        drop=st.just(["index"]),
        capacity=st.just({"speed": "2G"}),
    ),
    edit("release", namespace=st.just("default")),
    edit("setClass", name=st.just("gpu"), spec=st.just({})),
    edit("removeClass", name=st.sampled_from(["gpu", "part"])),
    edit("features", version=st.sampled_from(["1.34", "1.36", "1.37"])),
)
claims = st.builds(
    lambda count, cls: asking_for(count, deviceClassName=cls),
    st.integers(1, 3),
    st.sampled_from(["gpu", "nic", "part"]),
)
pods = st.fixed_dictionaries(
    {
        "name": st.just("p"),
        "copies": st.integers(1, 3),
        "resources": st.sampled_from([{}, {GPUS: 1}, {GPUS: "2"}]),
        "claims": st.lists(
            st.one_of(
                st.builds(lambda c: {"claim": c}, claims),
                st.just({"claimName": "waits-1"}),
                st.just({"templateName": "fine"}),
            ),
            min_size=1,
            max_size=3,
        ),
    }
)
work = st.one_of(
    st.builds(
        lambda c, n: {"place": "claim", "claim": c, "copies": n},
        claims,
        st.integers(1, 12),
    ),
    st.just({"place": "claim", "existing": "default/waits-2"}),
    st.builds(lambda pod: {"place": "pod", **pod}, pods),
    st.builds(
        lambda some, n: {"place": "group", "name": "g", "pods": some, "copies": n},
        st.lists(pods, min_size=1, max_size=2),
        st.integers(1, 2),
    ),
    st.just({"place": "waiting"}),
)


@settings(max_examples=100)
@given(
    st.lists(edits, max_size=4),
    st.lists(work, max_size=4),
    st.sampled_from(["firstFit", "spread", "pack"]),
)
def test_any_scenario_has_one_answer_and_gives_nothing_away_twice(some, items, policy):
    scenario = read_scenario({"edits": some, "workload": items, "policy": policy})
    with contextlib.suppress(ScenarioError):
        _check(scenario, some, items)


@settings(max_examples=60)
@given(
    st.lists(edits, max_size=3),
    st.lists(work, min_size=1, max_size=4),
    st.sampled_from(["firstFit", "spread", "pack"]),
    st.integers(1, 3),
)
def test_who_looks_at_the_answer_so_far_changes_nothing(some, items, policy, every):
    scenario = read_scenario({"edits": some, "workload": items, "policy": policy})
    seen: list[Result] = []
    calls: list[int] = []

    def look(so_far):
        calls.append(1)
        if not len(calls) % every:
            seen.append(so_far().result)

    with contextlib.suppress(ScenarioError):
        found = simulate(SNAPSHOT, scenario, partly=look)
        assert found == simulate(SNAPSHOT, scenario)
        for one in seen:
            assert not one.complete
            assert not one.fits
            assert one.sentence.startswith("So far")
            assert one.placements == found.result.placements[: len(one.placements)]
        sums = [sum(item.placed for item in one.items) for one in seen]
        assert sums == sorted(sums)


@settings(max_examples=80)
@given(
    st.lists(edits, max_size=3),
    st.lists(work, max_size=3),
    st.integers(0, 400),
    st.booleans(),
)
def test_a_stopped_run_is_not_complete_or_the_whole_answer(some, items, calls, always):
    """Whenever the time is over: what is called complete is what others get too."""
    scenario = read_scenario({"edits": some, "workload": items})
    left = [calls]

    def stop():
        left[0] -= 1
        return left[0] < 0

    with contextlib.suppress(ScenarioError):
        found = simulate(SNAPSHOT, scenario, stop=stop, count_always=always).result
        if found.complete:
            assert found == simulate(SNAPSHOT, scenario).result
        else:
            assert not found.fits
            assert found.sentence.startswith("The run was stopped; until then ")


def _check(scenario, some, items):
    found = simulate(SNAPSHOT, scenario)
    again = simulate(SNAPSHOT, read_scenario(write_scenario(scenario)))
    assert again.result == found.result
    assert again.after == found.after
    codes = {one.code for one in audit(found.after, now=NOW)}
    lowered = any("capacity" in one for one in some)
    assert not codes & (BOOKING - ({Code.CAPACITY_OVERCOMMITTED} if lowered else set()))
    assert found.result.sentence.endswith(".")
    assert as_text(found.result).startswith(found.result.sentence)
    assert len(of_scenario(scenario)) == len(some) + len(items)
    for item in found.result.items:
        assert item.placed <= item.copies
        assert (item.verdict == "fits") == (item.placed == item.copies)


def test_a_scenario_changes_nothing_of_the_snapshot():
    """The law above shares one snapshot: it is as it was built."""
    simulate(
        SNAPSHOT,
        read_scenario(
            {
                "edits": [{"edit": "removeNodes", "nodes": ["n1"]}],
                "workload": [{"place": "waiting"}],
            }
        ),
    )

    assert Snapshot.build([*clean(), *WAITS]) == SNAPSHOT
