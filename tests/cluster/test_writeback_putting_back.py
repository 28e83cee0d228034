"""A rewriting whose second half is refused, comes late, or was done already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cluster.standin.faults import Fault
from cluster.writeback import Refusal, Refused, Request, Step
from cluster.writeback.leftovers import leftovers, sweep
from cluster.writeback.putting_back import Rewrite, Rewritten, Stranded, Unfinished
from tests.cluster.guarded_world import GuardedWorld
from tests.cluster.repair_world import (
    SAFE,
    book_twice,
    put,
    quarantine,
    quarantiner,
    release,
    rewrite_order,
    rewriter,
    third,
)
from tests.cluster.standin import scheduled as small
from tests.cluster.writeback_faults import DiedError

HELD = ["n1/gpu-0"]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    """Quarantined by a taint of the node, the other one released."""
    with GuardedWorld(tmp_path) as world:
        book_twice(world)
        put(world, {})
        release(world, "second")
        yield world


def refusing(world: GuardedWorld, status: int) -> Callable[[Step, Request], None]:
    """The API server answers the request that puts the allocation back with this."""

    def refuse(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            world.server.faults.plan(Fault(status))

    return refuse


def strand(world: GuardedWorld, told: Any = None) -> Rewrite:
    """The order of a rewriting that left the claim without its allocation."""
    order = rewrite_order(world)
    outcome = rewriter(world, **told or {}).rewrite(order, before=refusing(world, 422))
    assert isinstance(outcome, Stranded), outcome
    assert world.devices("first") == []
    return rewrite_order(
        world, status=order.status, seen=order.seen, resumed=True, returned=True
    )


@pytest.mark.parametrize(
    ("status", "missing"),
    [(403, "patch resourceclaims/status"), (404, ""), (422, "")],
)
def test_a_refusal_tells_what_was_refused_and_why(
    world: GuardedWorld, status: int, missing: str
) -> None:
    order = rewrite_order(world)
    outcome = rewriter(world).rewrite(order, before=refusing(world, status))
    assert isinstance(outcome, Stranded), outcome
    assert outcome.reason.startswith("The allocation was not put back. The ")
    assert "Nothing was written" not in outcome.reason
    assert outcome.missing == missing
    (request,) = outcome.requests
    assert request.as_json()["body"]["status"]["allocation"]


def test_it_can_be_put_back_later_as_it_was(world: GuardedWorld) -> None:
    before = world.claim("first")["status"]
    late = strand(world)
    steps: list[Step] = []
    done = rewriter(world).rewrite(late, before=lambda step, _r: steps.append(step))
    assert isinstance(done, Rewritten), done
    assert steps[-1] is Step.STATUS
    assert Step.CLEARED not in steps
    assert world.claim("first")["status"] == before
    quarantiner(world).lift(quarantine())
    third(world)
    assert world.devices("third") == []


def test_a_look_that_is_refused_while_it_is_away_is_no_end(world: GuardedWorld) -> None:
    late = strand(world)
    world.server.faults.plan(Fault(403))
    outcome = rewriter(world).rewrite(late)
    assert isinstance(outcome, Stranded)
    assert outcome.reason
    assert isinstance(rewriter(world).rewrite(late), Rewritten)


def test_what_was_put_back_already_is_not_taken_away_again(world: GuardedWorld) -> None:
    order = rewrite_order(world)
    assert isinstance(rewriter(world).rewrite(order), Rewritten)
    again = rewrite_order(
        world, status=order.status, seen=order.seen, resumed=True, returned=True
    )
    steps: list[Step] = []
    done = rewriter(world).rewrite(again, before=lambda step, _r: steps.append(step))
    assert isinstance(done, Rewritten)
    assert steps == []


def test_a_device_that_somebody_got_meanwhile_is_not_booked_twice(
    world: GuardedWorld,
) -> None:
    late = strand(world)
    quarantiner(world).lift(quarantine())
    third(world)
    assert world.devices("third") == HELD
    outcome = rewriter(world).rewrite(late)
    assert isinstance(outcome, Stranded)
    assert "was given to the claim lab/third meanwhile" in outcome.reason
    assert "end them" in outcome.reason
    assert world.devices("first") == []


def test_pods_that_have_gone_get_no_reservation(world: GuardedWorld) -> None:
    late = strand(world)
    world.store.delete("Pod", "one", "lab")
    outcome = rewriter(world).rewrite(late)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.CHANGED
    assert "nothing has to be put back" in outcome.reason
    assert world.devices("first") == []


def test_pods_that_are_still_there_keep_theirs(world: GuardedWorld) -> None:
    late = strand(world)
    gone = {"resource": "pods", "name": "old", "uid": "u-old"}
    status = late.status | {"reservedFor": [*late.status["reservedFor"], gone]}
    done = rewriter(world).rewrite(
        rewrite_order(world, status=status, seen=late.seen, resumed=True, returned=True)
    )
    assert isinstance(done, Rewritten)
    reserved = world.claim("first")["status"]["reservedFor"]
    assert [entry["name"] for entry in reserved] == ["one"]


def test_a_claim_that_is_being_deleted_takes_nothing(world: GuardedWorld) -> None:
    late = strand(world)
    world.plane.stop()
    claim = world.claim("first")
    claim["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z"
    claim["metadata"]["finalizers"] = ["acme.test/kept"]
    world.store.put(claim)
    outcome = rewriter(world).rewrite(late)
    assert isinstance(outcome, Stranded)
    assert "is being deleted" in outcome.reason


def test_a_claim_that_is_gone_is_the_end_of_it(world: GuardedWorld) -> None:
    late = strand(world)
    world.store.delete("ResourceClaim", "first", "lab")
    outcome = rewriter(world).rewrite(late)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.GONE


def test_an_answer_that_was_lost_after_it_was_put_back_leaves_it_there(
    world: GuardedWorld,
) -> None:
    order = rewrite_order(world)

    def stop(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            world.server.faults.plan(Fault(0, after=True))

    outcome = rewriter(world).rewrite(order, before=stop)
    assert isinstance(outcome, Rewritten | Unfinished), outcome
    assert world.devices("first") == HELD


def test_its_other_devices_stay_free_as_long_as_it_is_away(tmp_path: Path) -> None:
    with GuardedWorld(tmp_path, devices=2) as world:
        book_twice(world, count=2)
        put(world, SAFE)
        release(world, "second")
        late = strand(world, SAFE)
        in_an_hour = datetime.now(UTC) + timedelta(hours=1)
        sweep(world.client, leftovers(world.client), ended=_no, now=in_an_hour)
        assert len(world.store.objects("DeviceTaintRule")) == 1  # the quarantine went
        third(world)
        assert world.devices("third") != ["n1/gpu-1"]
        world.store.delete("Pod", "three", "lab")
        small.eventually(lambda: world.devices("third") == [])
        assert isinstance(rewriter(world, **SAFE).rewrite(late), Rewritten)
        assert world.store.objects("DeviceTaintRule") == []


def _no(_one: object) -> bool:
    return False


# --- who would get the devices in that moment ----------------------------------------


def untouched(world: GuardedWorld, **told: Any) -> str:
    outcome = rewriter(world, **told).rewrite(rewrite_order(world))
    assert isinstance(outcome, Refused), outcome
    assert outcome.refusal is Refusal.UNGUARDED
    assert world.devices("first") == HELD
    return outcome.reason


def test_a_claim_that_tolerates_the_rule_of_the_quarantine(tmp_path: Path) -> None:
    with GuardedWorld(tmp_path) as world:
        book_twice(world)
        put(world, SAFE)
        release(world, "second")
        world.plane.stop()
        world.add("greedy", tolerations=[{"operator": "Exists"}])
        assert "lab/greedy waits and tolerates any taint" in untouched(world, **SAFE)


def test_a_pod_that_tolerates_the_cordon(tmp_path: Path) -> None:
    with GuardedWorld(tmp_path) as world:
        book_twice(world)
        release(world, "second")
        world.store.put(small.node("n1", unschedulable=True))
        world.plane.stop()
        world.add("daemons")
        cordon = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
        world.store.put(small.pod("daemon", "daemons", tolerations=[cordon]))
        assert "lab/daemon waits and tolerates any taint" in untouched(world)


def test_a_pod_that_heeds_no_taint_and_wants_an_extended_resource(
    world: GuardedWorld,
) -> None:
    world.plane.stop()
    pod = small.pod("other", "none", tolerations=[{"operator": "Exists"}])
    del pod["spec"]["resourceClaims"]
    pod["spec"]["containers"] = [
        {"name": "c", "resources": {"requests": {"acme.test/gpu": "1"}}}
    ]
    world.store.put(pod)
    assert "lab/other waits and tolerates any taint" in untouched(world)


def test_a_call_that_died_between_its_requests_is_finished_with_the_rules_there(
    tmp_path: Path,
) -> None:
    with GuardedWorld(tmp_path, devices=2) as world:
        book_twice(world, count=2)
        put(world, SAFE)
        release(world, "second")
        order = rewrite_order(world)

        def die(step: Step, _request: Request) -> None:
            if step is Step.STATUS:
                raise DiedError

        with pytest.raises(DiedError):
            rewriter(world, **SAFE).rewrite(order, before=die)
        again = rewrite_order(world, status=order.status, seen=order.seen, resumed=True)
        assert isinstance(rewriter(world, **SAFE).rewrite(again), Rewritten)
        assert len(world.store.objects("DeviceTaintRule")) == 1
