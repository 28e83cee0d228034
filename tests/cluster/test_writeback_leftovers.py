"""What a killed writer leaves, and who may take it away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cluster.errors import ClusterError
from cluster.standin.access import Rule, User
from cluster.standin.caching import Habits
from cluster.writeback import Step
from cluster.writeback.carrier import CarrierWriter
from cluster.writeback.guarded import GuardedWriter
from cluster.writeback.leftovers import Leftover, leftovers, sweep
from cluster.writeback.tags import Role
from tests.cluster.guarded_world import QUICK, REFUSED, GuardedWorld, options
from tests.cluster.standin import scheduled as small
from tests.cluster.writeback_faults import DiedError

LATER = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path) as world:
        yield world


def never(_leftover: Leftover) -> bool:
    return False


def always(_leftover: Leftover) -> bool:
    return True


def kill(world: GuardedWorld, writer: Any, step: Step, **order: Any) -> None:
    """A writer is killed ahead of ``step``."""

    def die(at: Step, _request: object) -> None:
        if at is step:
            raise DiedError

    world.add()
    with pytest.raises(DiedError):
        writer.write(world.order(**order), before=die)


def carrier(world: GuardedWorld, **changes: Any) -> CarrierWriter:
    return CarrierWriter(world.client, options(**changes), patience=QUICK)


def guarded(world: GuardedWorld, **changes: Any) -> GuardedWriter:
    return GuardedWriter(world.client, options(**changes), patience=QUICK)


RULE = {"by": "rule", "taint_rules": "safe"}


@pytest.mark.parametrize(
    ("guard", "roles"),
    [
        (RULE, [Role.BARRIER, Role.GUARD, Role.MARK]),
        ({"by": "node-taint"}, [Role.BARRIER, Role.GUARD, Role.MARK]),
    ],
    ids=["rule", "node taint"],
)
def test_what_a_guarded_write_left_is_found_and_removed_when_it_expired(
    world: GuardedWorld, guard: dict[str, Any], roles: list[Role]
):
    kill(world, guarded(world, **guard), Step.BARRIER_OFF)

    found = leftovers(world.client)

    assert sorted(one.role for one in found) == roles
    assert {one.run for one in found} == {"run-1"}
    assert sweep(world.client, found, ended=never) == []
    swept = sweep(world.client, found, ended=never, now=LATER)
    assert [s.problem for s in swept] == ["", "", ""]
    assert world.nothing_left()
    assert "finalizers" not in world.claim()["metadata"]
    assert "annotations" not in world.claim()["metadata"]
    assert leftovers(world.client) == []


def test_what_expired_by_a_clock_that_is_ahead_stays_for_the_write_that_needs_it(
    world: GuardedWorld,
):
    kill(world, guarded(world, **RULE), Step.BARRIER_OFF)
    found = leftovers(world.client)
    ends = {one.tags.expires for one in found if one.tags.expires}
    just_before = min(ends) + timedelta(minutes=5, seconds=-1)
    assert sweep(world.client, found, ended=never, now=just_before) == []
    just_after = max(ends) + timedelta(minutes=5)
    assert len(sweep(world.client, found, ended=never, now=just_after)) == 3
    assert world.nothing_left()


def test_a_carrier_of_a_run_that_is_over_goes_and_its_allocation_with_it(
    world: GuardedWorld,
):
    kill(world, carrier(world), Step.PIN)
    (found,) = leftovers(world.client)
    assert found.role is Role.CARRIER
    assert str(found).startswith("the carrier pod lab/dra-portal-carrier-")
    sweep(world.client, [found], ended=lambda one: one.run == "run-1")
    small.eventually(lambda: world.devices() == [])
    assert world.nothing_left()


@pytest.mark.parametrize("later_run", [False, True])
def test_an_allocation_that_nobody_reserved_goes_with_its_carrier(
    tmp_path: Path, later_run: bool
):
    """As after a binding that a policy refused: no controller takes it back. It stays
    where the caller says that it may be what a later run wrote."""
    with GuardedWorld(tmp_path, habits=REFUSED) as world:
        kill(world, carrier(world), Step.PIN)
        small.eventually(lambda: world.devices() and not world.reserved())
        found = leftovers(world.client)
        wanted = [(found[0], "one")] if later_run else []
        (swept,) = sweep(
            world.client, found, ended=always, wanted=lambda *of: of in wanted
        )
        if later_run:
            assert world.devices() == ["n1/gpu-0"]
            return
        assert swept.problem == ""
        assert world.devices() == []
        assert world.nothing_left()
        assert "finalizers" not in world.claim()["metadata"]


def test_an_allocation_that_a_pod_has_reserved_stays_when_a_carrier_goes(
    world: GuardedWorld,
):
    kill(world, carrier(world), Step.PIN)
    world.store.put(small.pod("user", "one"))
    small.eventually(lambda: small.scheduled(world.store, "user") == "True")
    sweep(world.client, leftovers(world.client), ended=always)
    small.eventually(lambda: world.reserved() == ["pods"])
    assert world.devices() == ["n1/gpu-0"]


def test_a_pin_stays_until_somebody_says_that_it_is_not_wanted(world: GuardedWorld):
    kill(world, carrier(world), Step.CARRIER_OFF)
    found = leftovers(world.client)
    assert sorted(one.role for one in found) == [Role.CARRIER, Role.PIN]
    sweep(world.client, found, ended=never, now=LATER)
    small.eventually(lambda: world.reserved() == ["allocationpins"])
    assert world.devices() == ["n1/gpu-0"]

    (pin,) = leftovers(world.client)
    assert sweep(world.client, [pin], ended=always)[0].problem == ""
    assert world.devices() == []


def test_a_pin_that_goes_while_pods_use_the_claim_leaves_it_to_them(
    world: GuardedWorld,
):
    kill(world, carrier(world), Step.CARRIER_OFF)
    small.eventually(lambda: "allocationpins" in world.reserved())
    world.store.put(small.pod("user", "one"))
    small.eventually(lambda: small.scheduled(world.store, "user") == "True")
    sweep(world.client, leftovers(world.client), ended=always)
    small.eventually(lambda: world.reserved() == ["pods"])
    assert world.devices() == ["n1/gpu-0"]
    world.store.delete("Pod", "user", "lab")
    small.eventually(lambda: world.devices() == [])


def test_the_pin_of_a_claim_that_is_being_deleted_goes_and_the_claim_with_it(
    world: GuardedWorld,
):
    kill(world, carrier(world), Step.CARRIER_OFF)
    sweep(world.client, leftovers(world.client), ended=never, now=LATER)
    small.eventually(lambda: world.reserved() == ["allocationpins"])
    claim = world.claim()
    claim["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z"
    world.store.put(claim)

    (pin,) = leftovers(world.client)
    assert pin.deleting
    assert [s.problem for s in sweep(world.client, [pin], ended=never)] == [""]
    small.eventually(lambda: world.store.get("ResourceClaim", "one", "lab") is None)


def test_another_portals_things_are_not_looked_at(world: GuardedWorld):
    told = replace(options(**RULE), owner="south")
    kill(
        world,
        GuardedWriter(world.client, told, patience=QUICK),
        Step.BARRIER_OFF,
    )
    assert leftovers(world.client) == []
    assert not world.nothing_left()


def test_the_things_of_one_run_are_found_by_it(world: GuardedWorld):
    kill(world, guarded(world, **RULE), Step.STATUS, run="a run with spaces")
    assert len(leftovers(world.client, run="a run with spaces")) == 2
    assert leftovers(world.client, run="run-1") == []


def test_what_somebody_else_made_of_the_name_is_not_touched(world: GuardedWorld):
    kill(world, carrier(world), Step.PIN)
    (found,) = leftovers(world.client)
    stranger = replace(found, uid="another")
    assert sweep(world.client, [stranger], ended=always)[0].problem == ""
    assert world.pods() == [found.name]


def test_a_thing_that_cannot_be_removed_is_told_and_the_others_go(tmp_path: Path):
    given = Rule(("get", "list"), ("*",)), Rule(("delete",), ("devicetaintrules",))
    users = {
        "t": User("portal", given),
        "admin": User("admin", (Rule(("*",), ("*",)),)),
    }
    with GuardedWorld(tmp_path, users=users, token="admin") as world:
        kill(world, guarded(world, **RULE), Step.BARRIER_OFF)
        found = leftovers(world.client)
    again = GuardedWorld(tmp_path, users=users, token="t", habits=Habits())
    again.server.store.load(
        obj
        for kind in ("Pod", "DeviceTaintRule", "ResourceClaim")
        for obj in world.store.objects(kind)
    )
    with again:
        swept = sweep(again.client, found, ended=always)
        problems = {s.leftover.role: s.problem for s in swept}
        assert problems[Role.GUARD] == ""
        assert "could not be removed" in problems[Role.BARRIER]
        assert again.store.objects("DeviceTaintRule") == []


def test_kinds_that_we_may_not_list_are_left_out(tmp_path: Path):
    users = {"t": User("portal", (Rule(("get", "list"), ("resourceclaims",)),))}
    with GuardedWorld(tmp_path, users=users, token="t") as world:
        assert leftovers(world.client) == []


def test_credentials_that_are_not_accepted_do_not_mean_that_nothing_is_left(
    tmp_path: Path,
):
    users = {"t": User("portal", (Rule(("*",), ("*",)),))}
    with (
        GuardedWorld(tmp_path, users=users, token="other") as world,
        pytest.raises(ClusterError, match="credentials"),
    ):
        leftovers(world.client)
