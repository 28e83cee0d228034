"""What is wrong is found on the mirror, kept while it lasts, and closed when it ends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from allocator import snapshots, tasks
from allocator.findings import passing, publishing
from allocator.models import Finding, FindingPass
from cluster.store import State
from dra.audits import Code
from inventory.models import WatchState
from tests.allocator.findings.conftest import World
from tests.dra.audits.faults import PLANTS, planted
from tests.dra.audits.world import clean, running, without

pytestmark = pytest.mark.django_db

DRIFT = {Code.ATTRIBUTE_DROPPED, Code.ATTRIBUTE_RETYPED}


def open_codes() -> list[str]:
    return sorted(Finding.objects.filter(ended_at=None).values_list("code", flat=True))


def passed(world: World) -> FindingPass:
    return FindingPass.objects.get(cluster=world.cluster)


def test_nothing_is_found_in_a_cluster_that_is_all_right(world: World) -> None:
    assert world.look() == 0
    assert open_codes() == []
    assert passed(world).seq == world.cluster.seq


@pytest.mark.parametrize("code", list(PLANTS))
def test_every_planted_fault_is_found_and_ends_when_mended(
    world: World, code: Code
) -> None:
    if code in DRIFT:
        world.look()
    world.show(planted(code))
    world.look()
    assert open_codes() == [code.value]

    world.show(clean())
    world.look()
    brief = [Code.ATTRIBUTE_DROPPED] if code == Code.ATTRIBUTE_UNCOMMON else []
    assert open_codes() == [one.value for one in brief]
    assert Finding.objects.get(code=code).ended_at is not None


def test_a_look_without_a_change_does_nothing(world: World) -> None:
    world.show(planted(Code.DEVICE_BOOKED_TWICE))
    assert tasks.tasks_findings.update_findings(world.cluster.pk) == 1
    before = passed(world).ended_at
    assert world.look() == 0
    assert passed(world).ended_at == before


def test_the_time_of_the_first_look_stays(world: World) -> None:
    world.show(planted(Code.DEVICE_BOOKED_TWICE))
    world.look()
    row = Finding.objects.get()
    world.show(
        [*planted(Code.DEVICE_BOOKED_TWICE), *running("third", "gpu-0", on="n1")]
    )
    world.look()
    again = Finding.objects.get()
    assert (again.pk, again.since) == (row.pk, row.since)
    assert "3 claims" in again.sentence


def test_numbers_count_what_is_open(world: World) -> None:
    world.show([*planted(Code.DEVICE_BOOKED_TWICE), *planted(Code.CLAIM_UNUSED)[-1:]])
    world.look()
    found = passed(world)
    assert (found.errors, found.warnings, found.infos) == (1, 0, 1)
    assert found.changes > 0


# --- what is normal for a moment -------------------------------------------------


def test_a_pool_that_is_being_published_does_not_flash(
    world: World, settings: Any
) -> None:
    settings.FINDINGS_SETTLE_SECONDS = 60
    world.show(planted(Code.POOL_INCOMPLETE))
    world.look()
    found = passed(world)
    assert found.warnings == 0
    assert found.changes == 0
    world.show(clean())
    world.look()
    assert not Finding.objects.exists()


def test_what_stays_is_shown_with_the_time_it_began(
    world: World, settings: Any
) -> None:
    settings.FINDINGS_SETTLE_SECONDS = 60
    world.show(planted(Code.POOL_INCOMPLETE))
    world.look()
    row = Finding.objects.get()
    assert passed(world).due_at == row.visible_from
    a_minute = timedelta(seconds=61)
    Finding.objects.update(
        since=row.since - a_minute, visible_from=row.visible_from - a_minute
    )
    passes = FindingPass.objects.filter(cluster=world.cluster)
    passes.update(
        due_at=timezone.now() - a_minute, ended_at=timezone.now() - 2 * a_minute
    )
    world.look()
    found = passed(world)
    assert (found.warnings, found.changes) == (1, 1)


def test_what_ends_and_comes_back_at_once_is_the_same_finding(
    world: World, settings: Any
) -> None:
    world.show(planted(Code.DEVICE_BOOKED_TWICE))
    world.look()
    row = Finding.objects.get()
    world.show(clean())
    world.look()
    settings.FINDINGS_SETTLE_SECONDS = 60
    world.show(planted(Code.DEVICE_BOOKED_TWICE))
    world.look()
    again = Finding.objects.get()
    assert (again.pk, again.since, again.ended_at) == (row.pk, row.since, None)


# --- restarts, other workers, blindness ------------------------------------------


def restart() -> None:
    passing.forget()
    snapshots.forget()


def test_findings_are_the_same_after_a_restart(world: World) -> None:
    world.show(planted(Code.CLAIM_IDLE))
    world.look()
    row = Finding.objects.get()
    restart()
    world.show([*planted(Code.CLAIM_IDLE), *running("z", "gpu-3", on="n5")])
    world.look()
    assert Finding.objects.get().since == row.since


@pytest.mark.parametrize("code", sorted(DRIFT))
def test_a_driver_that_changes_while_no_worker_runs_is_noticed(
    world: World, code: Code
) -> None:
    world.look()
    restart()
    world.show(planted(code))
    world.look()
    assert open_codes() == [code.value]
    restart()
    world.show([*planted(code), *running("z", "gpu-3", on="n4")])
    world.look()
    assert open_codes() == [code.value]


def test_a_driver_that_takes_its_slices_away_to_be_upgraded_is_compared(
    world: World,
) -> None:
    world.look()
    world.show(without(clean(), "ResourceSlice", "n5-gpu"))
    world.look()
    assert open_codes() == [Code.NODE_DRIVER_MISSING]
    world.show(planted(Code.ATTRIBUTE_DROPPED))
    world.look()
    assert open_codes() == [Code.ATTRIBUTE_DROPPED]


def test_two_looks_at_one_cluster_never_run_at_once(world: World) -> None:
    world.show(planted(Code.CLAIM_IDLE))
    later = timezone.now() + timedelta(seconds=60)
    FindingPass.objects.create(cluster=world.cluster, busy_until=later)
    assert world.look() == 0
    assert open_codes() == []
    FindingPass.objects.update(busy_until=timezone.now() - timedelta(seconds=1))
    assert world.look() == 1


def test_a_look_whose_lease_is_over_writes_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.show(planted(Code.CLAIM_IDLE))
    real = publishing.look

    def slow(*args: Any) -> Any:
        other = timezone.now() + timedelta(minutes=5)
        FindingPass.objects.update(busy_until=other)
        return real(*args)

    monkeypatch.setattr(publishing, "look", slow)
    assert world.look() == 0
    assert open_codes() == []


def test_nothing_is_said_before_every_kind_has_been_listed(world: World) -> None:
    world.show(planted(Code.POD_MISSING_CLAIM))
    WatchState.objects.filter(kind="ResourceClaim").update(
        state=State.LISTING, listed_at=None
    )
    assert world.look() == 0
    assert "ResourceClaim" in passed(world).waits_for
    WatchState.objects.update(state=State.LIVE)
    assert world.look() == 1
    assert passed(world).waits_for == ""


def test_what_rests_on_a_kind_that_may_not_be_read_is_not_said(world: World) -> None:
    world.show(planted(Code.CLAIM_UNUSED))
    WatchState.objects.filter(kind="Pod").update(state=State.FORBIDDEN, listed_at=None)
    assert world.look() == 0
    assert open_codes() == []


def test_a_dump_without_pods_says_nothing_about_pods(world: World) -> None:
    world.show([o for o in planted(Code.CLAIM_UNUSED) if o["kind"] != "Pod"])
    WatchState.objects.update(state=State.STATIC)
    world.look()
    assert open_codes() == []


@pytest.mark.parametrize("kind", ["DeviceClass", "ResourceClaim", "ResourceSlice"])
def test_what_a_dump_leaves_out_is_not_missing(world: World, kind: str) -> None:
    world.show([o for o in clean() if o["kind"] != kind])
    WatchState.objects.update(state=State.STATIC)
    world.look()
    assert open_codes() == []


def test_a_dump_without_pod_groups_tells_what_nobody_uses(world: World) -> None:
    world.show(planted(Code.CLAIM_UNUSED))
    WatchState.objects.update(state=State.STATIC)
    world.look()
    assert open_codes() == [Code.CLAIM_UNUSED]


def test_only_the_worst_are_kept_where_there_are_too_many(
    world: World, settings: Any
) -> None:
    settings.FINDINGS_MOST = 1
    world.show([*planted(Code.CLAIM_UNUSED), *running("again", "gpu-0", on="n1")])
    world.look()
    assert open_codes() == [Code.DEVICE_BOOKED_TWICE]
    assert passed(world).left_out == 1


def test_a_cluster_that_is_gone_is_no_error(world: World) -> None:
    pk = world.cluster.pk
    world.cluster.delete()
    assert passing.update_findings(pk) == 0
