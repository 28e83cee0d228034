"""Two workers never choose the same device, whatever the order of their steps."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from allocator.models import AllocationRun
from allocator.services import RunBusyError, execute_run, execution
from inventory.models import WatchState
from tests.allocator import builders as build
from tests.allocator.lab import KilledError, Lab, end_lease, states

pytestmark = pytest.mark.django_db


def free_devices(lab: Lab, node: str, count: int) -> None:
    """Leave ``count`` devices in the pool of ``node`` and none elsewhere."""
    for name in ("n0", "n1"):
        lab.server.store.delete("ResourceSlice", f"{name}-{build.GPU}")
    if count:
        lab.server.store.put(build.slice_(node, count))
    lab.sync()


def test_a_plan_that_is_being_written_holds_its_devices(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(execution, "_PATIENCE", 0.1)
    lab.put(build.claim("two"))
    two = lab.start("two")

    def meanwhile(point: str) -> None:
        if point == "before sending status":
            with pytest.raises(RunBusyError):  # the pool is being written to
                lab.execute(two)

    one = lab.execute(lab.start("one"), meanwhile)

    two.refresh_from_db()
    assert two.state == "writing"
    assert two.worker == ""
    two = lab.execute(two)
    assert (one.state, two.state) == ("done", "done")
    assert lab.devices("one") == ["n0/gpu-0"]
    assert lab.devices("two") == ["n0/gpu-1"]


def test_the_last_device_goes_to_the_run_that_plans_first(lab: Lab):
    free_devices(lab, "n0", 1)
    lab.put(build.claim("two"))
    two = lab.start("two")

    def meanwhile(point: str) -> None:
        if point == "before sending finalizer":
            lab.execute(two)

    one = lab.execute(lab.start("one"), meanwhile)

    two.refresh_from_db()
    assert (one.state, two.state) == ("done", "no fit")


@pytest.mark.parametrize("first_one_ends", ["done", "conflict"])
def test_what_another_run_has_given_up_is_waited_for_before_it_does_not_fit(
    lab: Lab, settings: Any, first_one_ends: str
):
    """Its devices are kept for a while; nobody can say yet who gets them."""
    settings.RUN_WATCH_SECONDS = 60
    settings.RUN_MAX_ATTEMPTS = 2
    free_devices(lab, "n0", 1)
    lab.put(build.claim("two"), build.claim("three"))
    two, three = lab.start("two"), lab.start("three", dry_run=True)

    def meanwhile(point: str) -> None:
        gave_up = states(one).count("planning") > 1
        if point == "before sending status" and (
            not gave_up or first_one_ends == "conflict"
        ):
            lab.touch("one", "by somebody else")
        if point == "now planning" and gave_up:
            with pytest.raises(RunBusyError):
                lab.execute(two)
            lab.execute(three)

    one = lab.start("one")
    one = lab.execute(one, meanwhile)

    two.refresh_from_db()
    assert two.state == "planning"
    assert two.waits_for.startswith("Waits until other runs have settled")
    three.refresh_from_db()
    assert three.state == "no fit"
    assert three.reason.endswith("ask again in a moment.")
    two = lab.execute(two)
    assert one.state == first_one_ends
    assert two.state == {"done": "no fit", "conflict": "done"}[first_one_ends]


def test_a_run_that_was_overtaken_between_plan_and_ticket_plans_again(lab: Lab):
    free_devices(lab, "n0", 1)
    lab.put(build.claim("two"))
    two = lab.start("two")
    overtaken: list[str] = []

    def overtake(point: str) -> None:
        if point == "before writing" and not overtaken:
            overtaken.append(point)
            lab.execute(two)

    one = lab.execute(lab.start("one"), overtake)

    two.refresh_from_db()
    assert (one.state, two.state) == ("no fit", "done")
    assert states(one) == ["queued", "planning", "no fit"]
    assert lab.devices("one") == []


def test_plans_in_other_pools_do_not_disturb(lab: Lab):
    lab.put(build.claim("two"))
    two = lab.start("two", node="n1")
    planned: list[str] = []

    def overtake(point: str) -> None:
        planned.append(point)
        if point == "before writing" and not two.finished_at:
            lab.execute(two)
            two.refresh_from_db()

    one = lab.execute(lab.start("one"), overtake)

    assert (one.state, two.state) == ("done", "done")
    assert planned.count("planned") == 1


def test_counters_of_a_plan_count_as_used(lab: Lab):
    """Two partitions of one card: different devices, the same memory."""
    counters = {
        "sharedCounters": [{"name": "card", "counters": {"mem": {"value": "40Gi"}}}]
    }

    def part(name: str) -> dict[str, Any]:
        need = {"counterSet": "card", "counters": {"mem": {"value": "40Gi"}}}
        return build.device(name, consumesCounters=[need])

    free_devices(lab, "n0", 0)
    first = build.slice_("n0", [part("half-0"), part("half-1")])
    second = build.slice_("n0", [])
    second["metadata"]["name"] = "n0-counters"
    second["spec"] |= counters
    del second["spec"]["devices"]
    for piece in (first, second):
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    lab.put(first, second, build.claim("two"))
    two = lab.start("two")

    def overtake(point: str) -> None:
        if point == "before writing":
            lab.execute(two)

    one = lab.execute(lab.start("one"), overtake)

    two.refresh_from_db()
    assert sorted((one.state, two.state)) == ["done", "no fit"]


def test_devices_of_a_run_whose_worker_died_stay_held(lab: Lab):
    free_devices(lab, "n0", 1)
    lab.put(build.claim("two"))
    one = lab.start("one")

    def die(point: str) -> None:
        if point == "before sending status":
            raise KilledError

    with pytest.raises(KilledError):
        lab.execute(one, die)

    assert lab.execute(lab.start("two")).state == "no fit"
    end_lease(one)
    assert lab.execute(one).state == "done"


def test_an_unconfirmed_write_holds_its_devices_until_the_watch_has_spoken(lab: Lab):
    free_devices(lab, "n0", 1)
    lab.put(build.claim("two"), build.claim("three"))
    one = lab.start("one")
    execute_run(one.pk)  # the mirror does not follow
    one.refresh_from_db()
    assert one.state == "failed"
    assert lab.devices("one") == ["n0/gpu-0"]

    assert lab.execute(lab.start("two")).state == "no fit"

    # Somebody releases the claim, and the watch speaks after that.
    released = lab.claim("one")
    released["status"] = {}
    lab.put(released)
    later = timezone.now() + timedelta(seconds=60)
    WatchState.objects.update(event_at=later, listed_at=later)
    assert lab.execute(lab.start("three")).state == "done"


def test_a_refused_write_gives_its_devices_back_at_once(lab: Lab):
    free_devices(lab, "n0", 1)
    lab.put(build.claim("two"))

    def lose(point: str) -> None:
        if point == "before sending status":
            lab.server.store.delete("ResourceClaim", "one", "lab")

    one = lab.execute(lab.start("one"), lose)
    assert one.state == "failed"
    lab.sync()
    assert lab.execute(lab.start("two")).state == "done"


@pytest.mark.django_db(transaction=True)
def test_many_workers_and_few_devices(lab: Lab, settings: Any):
    """Twelve claims for eight devices, four workers, mirrored as it happens."""
    settings.RUN_VERIFY_SECONDS = settings.RUN_WATCH_SECONDS = 120
    settings.RUN_MIRROR_SECONDS = 20
    free_devices(lab, "n0", 8)
    names = [f"c{i}" for i in range(12)]
    lab.put(*(build.claim(name) for name in names))
    runs = [lab.start(name) for name in names]
    waiting = list(runs)
    stop = threading.Event()

    def work() -> None:
        try:
            while True:
                try:
                    run = waiting.pop()
                except IndexError:
                    return
                try:
                    execute_run(run.pk)
                except RunBusyError:
                    waiting.append(run)
        finally:
            connection.close()

    def mirror() -> None:
        try:
            while not stop.wait(0.05):
                lab.sync()
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    follower = threading.Thread(target=mirror)
    for thread in (follower, *workers):
        thread.start()
    for thread in workers:
        thread.join()
    stop.set()
    follower.join()

    ends = [AllocationRun.objects.get(pk=run.pk).state for run in runs]
    held = [device for name in names for device in lab.devices(name)]
    assert len(held) == len(set(held)) == 8
    assert sorted(ends) == ["done"] * 8 + ["no fit"] * 4
