"""What is old goes by the clock, as the settings say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as configured
from django.utils import timezone

from allocator import tasks
from dra_portal.celery import app
from inventory.history import storing
from inventory.history.numbers import WHOLE, Key, Numbers
from inventory.models import Cluster
from inventory.models_history import Happening, UsageChange, UsageCover, UsagePack

DAY = timedelta(days=1)


@pytest.fixture
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands still, so that no midnight comes between."""
    noon = datetime(2026, 11, 29, 12, 30, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: noon)


@pytest.fixture
def old(db: None, _noon: None) -> Cluster:
    """Sampled for two hours on each of forty days, the last one before yesterday.

    Yesterday is summed up some minutes after midnight only.
    """
    cluster = Cluster.objects.create(name="old", source="kubeconfig")
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    for ago in range(41, 1, -1):
        for minute in range(0, 120, 2):
            numbers = Numbers(free=10 - minute % 9, in_use=minute % 9)
            at = midnight - ago * DAY + timedelta(minutes=minute)
            storing.keep(cluster, {WHOLE: numbers, Key("class", "gpu"): numbers}, at)
        Happening.objects.create(
            cluster=cluster,
            at=midnight - ago * DAY,
            kind="Node",
            name="n0",
            what="ready",
        )
    return cluster


def prune() -> None:
    """As often as it takes: one call sums up a bounded number of hours."""
    for _ in range(20):
        tasks.tasks_history.prune_usage()


def ages(span: int) -> int:
    """Days since the oldest pack begins."""
    oldest = UsagePack.objects.filter(span=span).order_by("at").first()
    return (timezone.now() - oldest.at).days if oldest else 0


def test_both_tasks_are_asked_for_by_the_clock() -> None:
    app.loader.import_default_modules()
    asked = {entry["task"] for entry in app.conf.beat_schedule.values()}
    wanted = {"allocator.tasks.sample_usage", "allocator.tasks.prune_usage"}
    assert wanted <= asked & app.tasks.keys()
    assert configured.USAGE_DETAIL_DAYS < configured.USAGE_HOURS_DAYS


def test_each_resolution_is_kept_for_its_own_time(old: Cluster, settings: Any) -> None:
    settings.USAGE_DETAIL_DAYS, settings.USAGE_HOURS_DAYS = 5, 20
    settings.USAGE_DAYS, settings.HAPPENINGS_DAYS = 400, 30
    prune()
    assert ages(60) == 5
    assert ages(3_600) == 20
    assert ages(86_400) >= 41
    assert UsageChange.objects.count() == 2
    covers = UsageCover.objects.order_by("begin")
    assert (timezone.now() - covers[0].begin).days == 4
    assert Happening.objects.count() == 28
    settings.USAGE_DAYS = 0
    prune()
    assert ages(86_400) <= 32
    settings.HAPPENINGS_PER_OBJECT = 7
    prune()
    assert Happening.objects.count() == 7
