"""What one sample of a cluster counts."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from allocator import sampling, snapshots
from allocator.tasks import tasks_history
from claims.models import ResourceClaim
from cluster.store import State
from inventory.choices import DeviceState, Source, UsageKind
from inventory.history.numbers import WHOLE, Key, Numbers
from inventory.history.reading import usage
from inventory.models import Cluster, Device, WatchLock
from inventory.models_history import UsageChange, UsageCover, UsageSeries
from inventory.views.class_use import class_uses
from tests.allocator import builders as build
from tests.mirrored import mirror_demo

COLUMNS = [state.value for state in DeviceState]


def numbers(rows: list[tuple[str, int]] | Counter[str]) -> Numbers:
    counts = dict(rows)
    named = {state.replace(" ", "_"): counts.get(state, 0) for state in COLUMNS}
    return Numbers(**named)


@pytest.fixture
def watch(db: None) -> WatchLock:
    """A watch that has just shown that it lives."""
    return heartbeat(timezone.now())


def heartbeat(at: datetime) -> WatchLock:
    return WatchLock.objects.create(name="watch", owner="here:1", heartbeat=at)


@pytest.fixture
def demo(db: None) -> Cluster:
    found = mirror_demo(nodes=6)
    heartbeat(timezone.now())
    return found


def test_a_sample_says_what_the_tables_say(demo: Cluster) -> None:
    assert sampling.sample(demo) == UsageSeries.objects.count() > 0
    found = {Key(s.kind, s.name): Numbers.of(s) for s in UsageSeries.objects.all()}
    devices = list(Device.objects.values_list("driver", "node_name", "state"))
    for kind, place in ((UsageKind.DRIVER, 0), (UsageKind.NODE, 1)):
        for name in {row[place] for row in devices} - {""}:
            expected = Counter(row[2] for row in devices if row[place] == name)
            assert found[Key(kind, name)] == numbers(expected)
    pending = ResourceClaim.objects.filter(allocated=False).count()
    whole = numbers(Counter(row[2] for row in devices))
    assert found[WHOLE] == whole._replace(pending=pending)
    for name, use in class_uses(demo).items():
        if any(use.counts.values()):
            assert found[Key(UsageKind.CLASS, name)] == numbers(Counter(use.counts))
    teams = [n for key, n in found.items() if key.kind == UsageKind.NAMESPACE]
    held = [
        d
        for c in snapshots.current(demo).claims.values()
        if c.status.allocation
        for d in c.status.allocation.devices.results or ()
        if not d.admin_access
    ]
    assert sum(team.in_use for team in teams) == len(held)
    assert sum(team.pending for team in teams) == pending


def test_the_task_samples_every_cluster_and_writes_only_news(demo: Cluster) -> None:
    assert tasks_history.sample_usage() > 0
    before = UsageChange.objects.count()
    assert tasks_history.sample_usage() == 0
    assert UsageChange.objects.count() == before
    assert tasks_history.prune_usage() == 0


def test_a_mirror_that_is_not_up_to_date_gives_no_sample(watch: WatchLock) -> None:
    lab = build.Mirror()
    assert sampling.sample(lab.cluster) is None
    lab.replace(build.lab())
    assert sampling.is_current(lab.cluster)
    lab.stores["ResourceClaim"].report(State.RETRYING, error="connection refused")
    assert sampling.sample(lab.cluster) is None
    assert not UsageSeries.objects.exists()


def test_a_watch_that_has_died_leaves_a_gap_at_once(
    watch: WatchLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kinds still say "live": nobody was left to say otherwise."""
    lab = build.Mirror()
    lab.replace(build.lab())
    start = timezone.now().replace(second=0, microsecond=0)
    rows = WatchLock.objects

    def minute(at: int, *, lives: bool) -> int | None:
        now = start + timedelta(minutes=at)
        monkeypatch.setattr(timezone, "now", lambda: now)
        ago = timedelta(seconds=4 if lives else 64)
        rows.update(heartbeat=datetime.now(UTC) - ago)
        return sampling.sample(lab.cluster)

    assert minute(0, lives=True) == 5
    assert minute(1, lives=True) == 0
    assert minute(2, lives=False) is None
    rows.all().delete()
    assert minute(3, lives=False) is None
    heartbeat(start)
    assert minute(4, lives=True) == 0
    assert minute(5, lives=True) == 0
    covers = UsageCover.objects.values_list("begin", "end")
    assert [(_minutes(a, start), _minutes(b, start)) for a, b in covers] == [
        (0, 1),
        (4, 5),
    ]
    found: Any = usage(lab.cluster, WHOLE, start, start + timedelta(minutes=6), 60)
    assert [point.averages is None for point in found.points] == [
        *(False, True, True, True, False, True)
    ]


def _minutes(at: datetime, start: datetime) -> float:
    return (at - start).total_seconds() / 60


def test_a_dump_counts_as_it_was_read(db: None) -> None:
    lab = build.Mirror(source=Source.DUMP)
    lab.replace(build.lab())
    assert sampling.sample(lab.cluster) == 5
