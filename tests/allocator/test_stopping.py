"""Cancelling a run that is writing: what it has put into the cluster is taken away."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.models import AllocationRun, RunStep
from allocator.services import RunRefused, cancel_run
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from tests.allocator.lab import KilledError, Lab, end_lease, states

pytestmark = pytest.mark.django_db


def cancel_at(run: AllocationRun, point: str) -> Any:
    """A hook that cancels; the answers to it are kept in ``said``."""
    said: list[str] = []

    def hook(here: str) -> None:
        if here == point:
            try:
                cancel_run(run=AllocationRun.objects.get(pk=run.pk), user=None)
                said.append("taken")
            except RunRefused as refusal:
                said.append(str(refusal))

    hook.said = said  # type: ignore[attr-defined]  # for the test to read
    return hook


def test_before_the_allocation_is_sent_a_run_can_be_stopped(lab: Lab):
    run = lab.start("one")
    run = lab.execute(run, cancel_at(run, "before sending finalizer"))

    assert states(run) == ["queued", "planning", "writing", "cancelled"]
    assert run.reason.startswith("Cancelled by the portal before anything was final.")
    assert lab.devices("one") == []
    assert run.ticket is None


def test_after_that_it_cannot(lab: Lab):
    run = lab.start("one")
    hook = cancel_at(run, "before sending status")
    run = lab.execute(run, hook)

    assert run.state == "done"
    assert len(hook.said) == 1
    assert "cannot be undone here" in hook.said[0]


@pytest.mark.parametrize("writer", ["carrier", "direct"])
def test_nothing_of_a_stopped_write_stays_in_the_cluster(lab: Lab, writer: str):
    lab.use(writer)
    point = {"carrier": "before sending carrier pod", "direct": "before sending guard"}
    with ControlPlane(lab.server.store, Habits(delay=0.0)):
        run = lab.start("one")
        run = lab.execute(run, cancel_at(run, point[writer]))

    assert run.state == "cancelled", run.reason
    assert lab.left_behind() == []
    assert lab.devices("one") == []


def test_the_wish_outlives_the_worker(lab: Lab):
    """It died after somebody had asked; the next one cleans up and ends the run."""
    lab.use("direct")
    run = lab.start("one")

    def die(point: str) -> None:
        if point == "before sending barrier pod":
            cancel_run(run=AllocationRun.objects.get(pk=run.pk), user=None)
            raise KilledError

    with pytest.raises(KilledError):
        lab.execute(run, die)
    assert lab.left_behind() != []
    end_lease(run)
    run = lab.execute(run)

    assert run.state == "cancelled"
    assert lab.left_behind() == []


def test_every_request_is_recorded_with_its_time(lab: Lab):
    run = lab.execute(lab.start("one"))
    steps = list(RunStep.objects.filter(run=run))
    assert [s.step for s in steps] == ["finalizer", "status"]
    assert [s.request for s in steps] == run.patch
    assert run.created_at <= steps[0].at <= steps[1].at
