"""Runs of a batch that are planned as one: their order, and what comes in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.utils import timezone

from allocator.models import AllocationRun, PlanCounter
from allocator.services import cancel_run, execute_run, planning, start_batch
from allocator.services.leases import begin_together, new_worker_name, take
from allocator.services.planning_together import plan_together
from tests.allocator import builders as build
from tests.allocator.lab import KilledError, Lab, states

pytestmark = pytest.mark.django_db

NAMES = ("one", "two", "three")


def begun(lab: Lab, *names: str, **how: Any) -> list[AllocationRun]:
    """Runs of a batch that are "planning", all with one worker."""
    lab.put(*(build.claim(name) for name in names if name != "one"))
    claims = [("lab", name) for name in names]
    started = start_batch(cluster=lab.cluster, claims=claims, user=None, **how)
    return begin_together([run.pk for run in started.runs], new_worker_name())


def only(lab: Lab, devices: int) -> None:
    """Leave ``devices`` on n0 and none elsewhere."""
    lab.server.store.delete("ResourceSlice", f"n1-{build.GPU}")
    lab.put(build.slice_("n0", devices))


def rows(runs: Sequence[AllocationRun]) -> dict[str, str]:
    found = AllocationRun.objects.filter(pk__in=[run.pk for run in runs])
    return dict(found.order_by("position").values_list("claim_name", "state"))


def planned(run: AllocationRun) -> str:
    run.refresh_from_db()
    (result,) = (run.plan or {})["devices"]["results"]
    return f"{result['pool']}/{result['device']}"


def test_each_gets_what_those_before_it_have_left(lab: Lab):
    runs = begun(lab, *NAMES)
    assert plan_together(runs, planning.ground_of(lab.cluster)) == []
    assert [planned(run) for run in runs] == ["n0/gpu-0", "n0/gpu-1", "n1/gpu-0"]
    assert [run.ticket for run in runs] == [1, 2, 3]
    assert PlanCounter.objects.get().value == 3
    assert [(run.worker, run.lease_until, run.attempts) for run in runs] == [
        ("", None, 1)
    ] * 3
    assert states(runs[0]) == ["queued", "planning", "writing"]
    step = runs[0].transitions.get(to_state="writing")
    assert step.details == {"plan": runs[0].plan, "node": "n0"}


def test_a_run_that_is_begun_waits_no_more(lab: Lab):
    claims = [("lab", "one")]
    started = start_batch(cluster=lab.cluster, claims=claims, user=None)
    AllocationRun.objects.update(waits_for="a queue", waits_since=timezone.now())
    (run,) = begin_together([started.runs[0].pk], new_worker_name())
    assert (run.state, run.waits_for, run.waits_since) == ("planning", "", None)


def test_how_many_statements_a_plan_takes(lab: Lab, django_assert_max_num_queries: Any):
    runs = begun(lab, *NAMES)
    ground = planning.ground_of(lab.cluster)
    # One for each, and twelve for all: claims, snapshot, tickets, transitions.
    with django_assert_max_num_queries(len(runs) + 12):
        plan_together(runs, ground)


def test_a_plan_of_somebody_else_sends_all_of_them_back(lab: Lab):
    """As one: nobody may get ahead of those before it."""
    runs = begun(lab, *NAMES)
    ground = planning.ground_of(lab.cluster)
    lab.put(build.claim("rival"))
    rival = lab.start("rival")

    def stop_at_writing(point: str) -> None:
        if point == "now writing":
            raise KilledError

    with pytest.raises(KilledError):
        execute_run(rival.pk, hook=stop_at_writing)

    assert plan_together(runs, ground) == runs
    assert set(rows(runs).values()) == {"planning"}
    ground.look_again()
    assert plan_together(runs, ground) == []
    assert planned(rival) == "n0/gpu-0"
    assert [planned(run) for run in runs] == ["n0/gpu-1", "n1/gpu-0", "n1/gpu-1"]


def test_a_change_of_the_cluster_sends_back_those_that_it_meets(lab: Lab):
    runs = begun(lab, *NAMES)
    ground = planning.ground_of(lab.cluster)
    lab.put(build.allocated("held", build.result("n0", "gpu-1")))

    assert plan_together(runs, ground) == runs[1:]
    assert list(rows(runs).values()) == ["writing", "planning", "planning"]
    ground.look_again()
    assert plan_together(runs[1:], ground) == []
    assert [planned(run) for run in runs] == ["n0/gpu-0", "n1/gpu-0", "n1/gpu-1"]


def test_one_that_was_cancelled_gives_its_device_to_nobody_before_the_next_look(
    lab: Lab,
):
    only(lab, 2)
    runs = begun(lab, *NAMES)
    one, two, three = runs
    ground = planning.ground_of(lab.cluster)
    cancel_run(run=AllocationRun.objects.get(pk=one.pk), user=None)

    # "three" would not fit beside both others: that is no answer yet.
    assert plan_together(runs, ground) == [three]
    ground.look_again()
    assert plan_together([three], ground) == []
    assert rows(runs) == {"one": "cancelled", "two": "writing", "three": "writing"}
    assert {planned(two), planned(three)} == {"n0/gpu-0", "n0/gpu-1"}


def test_it_does_not_fit_only_on_a_ground_that_is_new(lab: Lab):
    """What is in the way may have been given up since."""
    only(lab, 1)
    runs = begun(lab, "one", "two")
    one, two = runs
    ground = planning.ground_of(lab.cluster)
    assert plan_together([one], ground) == []
    cancel_run(run=AllocationRun.objects.get(pk=one.pk), user=None)
    execute_run(one.pk)

    assert plan_together([two], ground) == [two]
    ground.look_again()
    assert plan_together([two], ground) == []
    assert rows(runs) == {"one": "cancelled", "two": "writing"}


def test_what_does_not_fit_ends_with_the_reason(lab: Lab):
    only(lab, 1)
    runs = begun(lab, "one", "two")
    ground = planning.ground_of(lab.cluster)
    again = plan_together(runs, ground)
    ground.look_again()
    assert plan_together(again, ground) == []
    assert rows(runs) == {"one": "writing", "two": "no fit"}
    assert AllocationRun.objects.get(pk=runs[1].pk).reason


def test_one_that_has_planned_anew_by_itself_is_somebody_else(lab: Lab):
    """It takes other devices now than those that are known of it here."""
    one, two, _ = begun(lab, *NAMES)
    ground = planning.ground_of(lab.cluster)
    assert plan_together([one], ground) == []
    lab.give_away("one", "n1", "gpu-1")
    lab.sync()
    changed = lab.claim("one")
    changed["status"] = {}
    lab.server.store.put(changed)

    def until_planned_again(point: str) -> None:
        again = states(AllocationRun.objects.get(pk=one.pk)).count("writing") > 1
        if point == "now writing" and again:
            raise KilledError

    lab.put(build.allocated("held", build.result("n0", "gpu-0")))
    with pytest.raises(KilledError):
        execute_run(one.pk, hook=until_planned_again)

    assert planned(one) == "n0/gpu-1"
    assert plan_together([two], ground) == [two]


def test_one_that_somebody_took_over_is_left_to_them(lab: Lab):
    runs = begun(lab, *NAMES)
    AllocationRun.objects.filter(pk=runs[0].pk).update(lease_until=None)
    take(runs[0].pk, "another:1:1:x")
    assert plan_together(runs, planning.ground_of(lab.cluster)) == []
    taken = AllocationRun.objects.get(pk=runs[0].pk)
    assert (taken.state, taken.worker) == ("planning", "another:1:1:x")
    assert list(rows(runs).values()) == ["planning", "writing", "writing"]


def test_one_whose_claim_cannot_be_had_costs_the_others_nothing(lab: Lab):
    runs = begun(lab, *NAMES)
    changed = lab.claim("two")
    changed["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = "none"
    lab.put(changed)
    lab.give_away("one", "n1", "gpu-1")
    lab.sync()
    ground = planning.ground_of(lab.cluster)
    while left := plan_together(runs, ground):
        runs = left
        ground.look_again()
    found = {run.claim_name: run for run in AllocationRun.objects.all()}
    assert found["one"].reason == "The claim is allocated already."
    assert found["two"].state in {"failed", "no fit"}
    assert found["three"].state == "writing"


def test_plans_only_follow_each_other_and_promise_nothing(lab: Lab):
    runs = begun(lab, *NAMES, dry_run=True)
    ground = planning.ground_of(lab.cluster)
    assert plan_together(runs, ground) == []
    assert [planned(run) for run in runs] == ["n0/gpu-0", "n0/gpu-1", "n1/gpu-0"]
    assert set(rows(runs).values()) == {"done"}
    assert PlanCounter.objects.get().value == 0
    ground.look_again()
    assert ground.is_new
    assert len(ground.promised()) == 3
