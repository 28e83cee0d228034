"""Several workers, the watch that asks them, and what is kept for how long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from allocator.findings import passing, storing
from allocator.findings.acknowledging import AcknowledgeRefused, acknowledge
from allocator.findings.nudging import TASK, FindingNudge, behind
from allocator.findings.pruning import prune_findings
from allocator.models import Finding, FindingObject, FindingPass
from dra.audits import Code
from tests.allocator.findings.conftest import World
from tests.dra.audits.faults import planted
from tests.dra.audits.world import clean, running


@pytest.mark.django_db(transaction=True)
def test_many_workers_at_once_find_each_thing_once(world: World) -> None:
    more = [o for n in range(1, 6) for o in running(f"z{n}", "gpu-9", on=f"n{n}")]
    world.show([*planted(Code.DEVICE_BOOKED_TWICE), *more])
    found: list[int] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            found.append(passing.update_findings(world.cluster.pk))
        except BaseException as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert max(found) == 6
    assert Finding.objects.count() == 6
    assert FindingPass.objects.get().busy_until is None


# --- the watch asks ---------------------------------------------------------------


@pytest.mark.django_db
def test_the_watch_asks_for_what_is_behind(world: World) -> None:
    assert behind() == [(world.cluster.pk, None)]
    world.look()
    assert behind() == []
    world.show(planted(Code.CLAIM_IDLE))
    ended = FindingPass.objects.get().ended_at
    assert behind() == [(world.cluster.pk, ended)]
    FindingPass.objects.update(busy_until=timezone.now() + timedelta(minutes=1))
    assert behind() == []


@pytest.mark.django_db
def test_what_is_wrong_by_age_is_looked_at_although_nothing_changes(
    world: World,
) -> None:
    world.look()
    FindingPass.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    assert [pk for pk, _ in behind()] == [world.cluster.pk]


@pytest.mark.django_db
def test_a_nudge_is_a_task_for_a_worker_and_not_repeated_at_once(world: World) -> None:
    queue = f"{current_app.conf.task_default_queue}.plan"
    with current_app.connection_for_write() as connection:
        bound = connection.SimpleQueue(queue)
        bound.clear()
        nudge = FindingNudge()
        nudge.step()
        nudge.step()
        message = bound.get(timeout=5)
        assert message.headers["task"] == TASK
        assert message.payload[0] == [world.cluster.pk]
        message.ack()
        assert bound.qsize() == 0
        bound.close()


# --- keeping ----------------------------------------------------------------------


@pytest.mark.django_db
def test_what_ended_long_ago_is_forgotten_and_nothing_else(
    world: World, settings: Any
) -> None:
    settings.FINDINGS_KEEP_DAYS = 30
    world.show(planted(Code.CLAIM_IDLE))
    world.look()
    world.show(planted(Code.DEVICE_BOOKED_TWICE))
    world.look()
    assert prune_findings() == 0
    long_ago = timezone.now() - timedelta(days=31)
    Finding.objects.exclude(ended_at=None).update(ended_at=long_ago)
    Finding.objects.filter(ended_at=None).update(since=long_ago)
    assert prune_findings() == 1
    assert Finding.objects.get().code == Code.DEVICE_BOOKED_TWICE
    assert not FindingObject.objects.exclude(finding__ended_at=None).exists()


@pytest.mark.django_db
def test_what_is_still_wrong_is_seen_again_each_minute(world: World) -> None:
    world.show(planted(Code.CLAIM_IDLE))
    world.look()
    an_hour_ago = timezone.now() - timedelta(hours=1)
    Finding.objects.update(last_seen=an_hour_ago)
    FindingPass.objects.update(ended_at=an_hour_ago, due_at=an_hour_ago)
    world.look()
    assert Finding.objects.get().last_seen > an_hour_ago
    assert storing.SEEN_EVERY <= passing.AGAIN


@pytest.mark.django_db
def test_a_reason_for_what_has_ended_is_refused(
    world: World, person: Callable[..., User]
) -> None:
    world.show(planted(Code.CLAIM_IDLE))
    world.look()
    row = Finding.objects.get()
    world.show(clean())
    world.look()
    with pytest.raises(AcknowledgeRefused, match="has ended"):
        acknowledge(row, person("operator"), "known")
