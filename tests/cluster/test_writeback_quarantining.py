"""Keeping a scheduler off a device until somebody lifts it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cluster.standin.access import Rule, User
from cluster.standin.caching import Habits
from cluster.writeback import Refusal, Refused
from cluster.writeback.leftovers import leftovers, sweep
from cluster.writeback.quarantining import Lifted
from cluster.writeback.tags import Role
from tests.cluster.guarded_world import GuardedWorld
from tests.cluster.repair_world import (
    GPU,
    REPAIR,
    SAFE,
    put,
    quarantine,
    quarantiner,
    third,
)
from tests.cluster.standin import scheduled as small

BY_NODE: dict[str, Any] = {}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path) as world:
        yield world


@pytest.mark.parametrize("told", [SAFE, BY_NODE], ids=["rule", "node taint"])
def test_nobody_gets_the_device_until_it_is_lifted(
    world: GuardedWorld, told: dict[str, Any]
):
    done = put(world, told)
    assert done.means == ("rule" if told else "node-taint")
    assert done.note == ""
    third(world)
    assert small.scheduled(world.store, "three") == "False"
    assert isinstance(quarantiner(world, **told).lift(quarantine()), Lifted)
    assert leftovers(world.client) == []
    small.eventually(lambda: world.devices("third") == ["n1/gpu-0"])


def test_a_rule_says_whose_it_is_why_and_until_when(world: GuardedWorld):
    wanted = quarantine()
    put(world, SAFE, expires=wanted.expires)
    (rule,) = world.store.objects("DeviceTaintRule")
    labels = rule["metadata"]["labels"]
    assert labels["dra-portal.io/owner"] == "dra-portal"
    assert labels["dra-portal.io/role"] == "quarantine"
    assert labels["dra-portal.io/finding"] == "12"
    assert wanted.expires is not None
    assert labels["dra-portal.io/expires"] == str(int(wanted.expires.timestamp()))
    assert rule["metadata"]["annotations"] == {"dra-portal.io/created-by": "ada"}
    taint = rule["spec"]["taint"]
    assert taint["key"] == "dra-portal.io/quarantine"
    assert (taint["value"], taint["effect"]) == (REPAIR, "NoSchedule")


@pytest.mark.parametrize(
    "scheduler", ["", "1.36.0", "v1.36.1", "1.36.2", "1.36.2-fork.1", "1.35.4"]
)
def test_no_rule_is_made_where_one_could_kill_the_scheduler(
    world: GuardedWorld, scheduler: str
):
    done = put(world, {"version": scheduler})
    assert done.means == "node-taint"
    assert world.store.objects("DeviceTaintRule") == []
    asked = quarantiner(world, version=scheduler).put(quarantine(wish="rule"))
    assert isinstance(asked, Refused)
    assert asked.refusal is Refusal.UNGUARDED
    assert world.store.objects("DeviceTaintRule") == []


def test_an_administrator_may_say_that_rules_are_safe_all_the_same(
    world: GuardedWorld,
):
    told = {"version": "1.36.2", "taint_rules": "safe"}
    assert put(world, told).means == "rule"


def test_a_device_that_several_nodes_reach_needs_a_rule(world: GuardedWorld):
    (piece,) = world.store.objects("ResourceSlice")
    piece["spec"].pop("nodeName")
    piece["spec"]["allNodes"] = True
    world.store.put(piece)
    refused = quarantiner(world).put(quarantine())
    assert isinstance(refused, Refused)
    assert "several nodes" in refused.reason
    assert "Nothing was written" in refused.reason
    assert put(world, SAFE).means == "rule"


def test_devices_that_draw_on_the_same_counters_are_kept_free_too(world: GuardedWorld):
    (piece,) = world.store.objects("ResourceSlice")
    draws = [{"counterSet": "c", "counters": {"m": {"value": "1"}}}]
    piece["spec"]["devices"] = [
        {"name": "gpu-0", "consumesCounters": draws},
        {"name": "half", "consumesCounters": draws},
        {"name": "other"},
    ]
    world.store.put(piece)
    done = put(world, SAFE)
    assert [device.device for device in done.devices] == ["gpu-0", "half"]
    assert len(world.store.objects("DeviceTaintRule")) == 2


@pytest.mark.parametrize("told", [SAFE, BY_NODE], ids=["rule", "node taint"])
def test_it_is_prolonged_without_a_gap(world: GuardedWorld, told: dict[str, Any]):
    put(world, told)
    later = datetime(2030, 1, 1, tzinfo=UTC)
    put(world, told, expires=later)
    put(world, told, expires=later)
    (found,) = leftovers(world.client)
    assert found.role is Role.QUARANTINE
    assert found.tags.expires == later
    assert found.tags.finding == "12"


@pytest.mark.parametrize("told", [SAFE, BY_NODE], ids=["rule", "node taint"])
def test_the_sweep_of_leftovers_lets_it_stand_until_it_expires(
    world: GuardedWorld, told: dict[str, Any]
):
    put(world, told)
    (found,) = leftovers(world.client)
    assert str(found).startswith("the quarantine by the taint")
    assert sweep(world.client, [found], ended=lambda _: False) == []
    later = datetime.now(UTC) + timedelta(hours=2)
    (swept,) = sweep(world.client, [found], ended=lambda _: False, now=later)
    assert swept.problem == ""
    assert world.nothing_left()


def test_other_taints_of_the_node_stay(world: GuardedWorld):
    other = {"key": "theirs", "value": "x", "effect": "NoSchedule"}
    world.store.put(small.node("n1", taints=[other]))
    put(world, BY_NODE)
    quarantiner(world).lift(quarantine())
    (node,) = world.store.objects("Node")
    assert node["spec"]["taints"] == [other]
    assert node["metadata"].get("annotations", {}) == {}


def test_who_tolerates_everything_is_named(world: GuardedWorld):
    world.add("greedy", tolerations=[{"operator": "Exists"}])
    assert "lab/greedy" in put(world, SAFE).note
    world.store.put(
        small.pod(
            "stubborn",
            "greedy",
            nodeSelector={"no": "node"},
            tolerations=[{"operator": "Exists"}],
        )
    )
    assert "lab/stubborn" in put(world, BY_NODE).note


def test_a_missing_right_is_named(tmp_path: Path):
    users = {"t": User("portal", (Rule(("get", "list"), ("*",)),))}
    with GuardedWorld(tmp_path, users=users, token="t") as world:
        refused = quarantiner(world).put(quarantine())
        assert isinstance(refused, Refused)
        assert refused.missing == "get and patch nodes"
        refused = quarantiner(world, **SAFE).put(quarantine())
        assert isinstance(refused, Refused)
        assert refused.missing == "create devicetaintrules"


def test_an_api_server_that_is_away_is_told(world: GuardedWorld):
    world.server.stop()
    refused = quarantiner(world).put(quarantine())
    assert isinstance(refused, Refused)
    assert refused.refusal is Refusal.UNAVAILABLE
    world.server.start()


def test_a_scheduler_that_ignores_rules_is_why_there_are_node_taints(tmp_path: Path):
    habits = Habits(delay=0.0, heeds_rules=False)
    with GuardedWorld(tmp_path, habits=habits) as world:
        put(world, SAFE)
        third(world)
        assert world.devices("third") == ["n1/gpu-0"]
    assert GPU.device == "gpu-0"
