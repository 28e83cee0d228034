"""Runs beside others that write to the cluster, and what ends a run on its way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from allocator.models import AllocationRun
from allocator.services import cancel_run, execute_run, planning
from claims.models import ResourceClaim as ClaimRow
from cluster.standin.access import Rule
from cluster.standin.access import User as ApiUser
from cluster.standin.faults import Fault
from cluster.standin.server import StandinServer
from tests.allocator import builders as build
from tests.allocator.lab import Lab, states

pytestmark = pytest.mark.django_db


# --- others write, too ---------------------------------------------------------------


def test_a_changed_claim_is_read_anew_and_planned_again(lab: Lab):
    seen: list[str] = []

    def interfere(point: str) -> None:
        if point == "before sending status" and not seen:
            seen.append(point)
            lab.touch("one", "x")
            lab.sync()

    run = lab.execute(lab.start("one"), interfere)

    way = ["queued", "planning", "writing", "planning", "writing", "verifying", "done"]
    assert states(run) == way
    assert run.attempts == 2
    again = run.transitions.all()[3]
    assert again.reason == "The claim was changed while we wrote to it. Planning again."


def test_a_mirror_that_has_gone_past_the_version_that_was_seen_is_not_waited_for(
    lab: Lab, settings: Any
):
    settings.RUN_MIRROR_SECONDS = 60
    run = lab.start("one")
    claim = ClaimRow.objects.get(name="one")
    lab.touch("one", "x")
    lab.sync()

    def wait() -> None:
        raise AssertionError("it waits")

    found = planning.plan(run, beat=wait, wait_for=claim.resource_version)
    assert isinstance(found, planning.Planned)


def test_after_three_conflicts_the_run_ends_as_one(lab: Lab):
    count = 0

    def interfere(point: str) -> None:
        nonlocal count
        if point == "before sending status":
            count += 1
            lab.touch("one", str(count))
            lab.sync()

    run = lab.execute(lab.start("one"), interfere)

    assert run.state == "conflict"
    assert run.attempts == 3
    assert "3 times" in run.reason
    assert lab.devices("one") == []


def test_a_claim_that_somebody_else_allocates_meanwhile_is_a_conflict(lab: Lab):
    def lose(point: str) -> None:
        if point == "before sending status":
            lab.give_away("one", "n1", "gpu-1")

    run = lab.execute(lab.start("one"), lose)

    assert run.state == "conflict"
    assert "allocated by somebody else" in run.reason
    assert lab.devices("one") == ["n1/gpu-1"]


def test_a_cluster_that_left_the_clusters_file_fails_the_run(lab: Lab):
    run = lab.start("one")
    lab.file.write_text("clusters: []", encoding="utf-8")
    run = lab.execute(run)
    assert run.state == "failed"
    assert (
        run.reason
        == "Nothing was written: The cluster lab is not in the clusters file."
    )


def test_a_server_that_is_away_fails_the_run_with_a_sentence(lab: Lab, settings: Any):
    settings.RUN_SERVER_SECONDS = 1
    run = lab.start("one")
    lab.server.faults.refuse_connections()
    run = lab.execute(run)
    assert run.state == "failed"
    assert "cannot be reached" in run.reason
    assert "Nothing was allocated" in run.reason


def test_an_unknown_outcome_says_to_look_at_the_claim(lab: Lab, settings: Any):
    """The answer is lost, and the server is gone before anybody can look."""
    settings.RUN_SERVER_SECONDS = 1

    def vanish(point: str) -> None:
        if point == "before sending status":
            faults = lab.server.faults
            faults.plan(Fault(after=True))
            for position in range(2, 100):
                faults.plan(Fault(), position=position)

    run = lab.execute(lab.start("one"), vanish)
    assert run.state == "failed"
    assert "may or may not have been written" in run.reason
    assert "Look at the claim" in run.reason
    assert run.ticket is not None


def test_a_missing_right_is_named_in_the_end(lab: Lab, tmp_path: Path):
    reader = ApiUser("portal", (Rule(("get", "list", "patch"), ("resourceclaims",)),))
    with StandinServer(
        lab.server.store.objects("ResourceClaim"), users={"t": reader}
    ) as other:
        other.write_kubeconfig(tmp_path / "kubeconfig", token="t")
        run = lab.execute(lab.start("one"))
    assert run.state == "failed"
    assert "patch resourceclaims/status" in run.reason
    last = run.transitions.last()
    assert last is not None
    assert last.details["missing"] == "patch resourceclaims/status"


def test_a_search_that_takes_too_long_gives_up(lab: Lab, settings: Any):
    settings.RUN_PLAN_SECONDS = -1
    run = lab.execute(lab.start("one"))
    assert states(run) == ["queued", "planning", "failed"]
    assert "gave up undecided" in run.reason


def test_a_run_can_be_cancelled_while_it_plans(lab: Lab):
    user = User.objects.create_user("olga")
    run = lab.start("one")

    def cancel(point: str) -> None:
        if point == "planned":
            cancel_run(run=AllocationRun.objects.get(pk=run.pk), user=user)

    run = lab.execute(run, cancel)
    assert states(run) == ["queued", "planning", "cancelled"]
    assert lab.devices("one") == []


# --- verifying -----------------------------------------------------------------------


def test_a_watch_that_does_not_bring_it_back_fails_the_run(lab: Lab):
    run = lab.start("one")
    execute_run(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "did not show it within 2 seconds" in run.reason
    assert run.written_resource_version in run.reason


def test_a_device_that_another_claim_holds_as_well_fails_the_run(lab: Lab):
    lab.put(build.claim("two"))

    def book_twice(point: str) -> None:
        if point == "before sending status":
            lab.give_away("two", "n0", "gpu-0")

    run = lab.execute(lab.start("one"), book_twice)

    assert run.state == "failed"
    assert "gpu.acme.test/n0/gpu-0 is booked twice" in run.reason
    assert "lab/two" in run.reason


def test_an_allocation_that_is_replaced_right_away_fails_the_run(lab: Lab):
    def replace(point: str) -> None:
        if point == "sent":
            lab.give_away("one", "n1", "gpu-1")

    run = lab.execute(lab.start("one"), replace)
    assert run.state == "failed"
    assert "holds another one" in run.reason


def test_a_claim_that_is_deleted_right_after_fails_the_run(lab: Lab):
    def delete(point: str) -> None:
        if point == "sent":
            lab.server.store.delete("ResourceClaim", "one", "lab")

    run = lab.execute(lab.start("one"), delete)
    assert run.state == "failed"
    assert "claim was deleted" in run.reason
