"""Samples of use: what is kept, summed up, shown and forgotten."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from inventory.choices import UsageKind
from inventory.history import storing
from inventory.history.kept import seconds, sums_of
from inventory.history.numbers import WHOLE, Key, Numbers
from inventory.history.reading import detail_from, usage
from inventory.history.rolling import prune_usage
from inventory.history.spans import Total
from inventory.models import Cluster
from inventory.models_history import (
    UsageChange,
    UsageCover,
    UsagePack,
    UsageSeries,
)
from tests.inventory.history.conftest import NODE, TEAM

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
type Look = Callable[..., int | None]


def in_use(found: Any) -> list[float | None]:
    return [None if p.averages is None else p.averages[1] for p in found.points]


def sums(kind: UsageKind, width: int, midnight: datetime) -> dict[int, Total]:
    """Of the one series of a kind, by the time of each hour or day."""
    begin = seconds(midnight)
    series = UsageSeries.objects.filter(kind=kind)
    return sums_of(series, (begin, begin + 2 * 86_400), width)


def a_day(look: Look, midnight: datetime, hours: int = 24) -> None:
    """Sampled every two minutes: in hour h, h % 5 of ten devices are in use."""
    for minute in range(0, hours * 60 + 1, 2):
        look(midnight + minute * MINUTE, (minute // 60) % 5)


def test_only_what_differs_is_kept(
    cluster: Cluster, look: Look, midnight: datetime
) -> None:
    assert look(midnight, 0) == 2
    assert look(midnight + MINUTE, 0) == 0
    assert look(midnight + 2 * MINUTE, 3) == 3
    assert look(midnight + 3 * MINUTE, 0) == 3
    assert UsageChange.objects.count() == 8
    cover = UsageCover.objects.get()
    assert (cover.begin, cover.end) == (midnight, midnight + 3 * MINUTE)
    vanished = UsageSeries.objects.get(kind=UsageKind.NAMESPACE)
    assert (vanished.name, vanished.in_use) == ("team", 0)


def test_a_second_sampler_adds_nothing(look: Look, midnight: datetime) -> None:
    look(midnight, 1)
    assert look(midnight + timedelta(seconds=5), 2) is None
    assert look(midnight - HOUR, 2) is None
    assert UsageChange.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_two_samplers_at_once_keep_one_sample(midnight: datetime) -> None:
    cluster = Cluster.objects.create(name="lab", source="kubeconfig")
    ready = threading.Barrier(2)
    answers: list[int | None] = []

    def sample() -> None:
        try:
            ready.wait()
            answers.append(storing.keep(cluster, {WHOLE: Numbers(free=4)}, midnight))
        finally:
            connection.close()

    threads = [threading.Thread(target=sample) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers, key=str) == [1, None]
    assert UsageChange.objects.count() == UsageCover.objects.count() == 1


def test_a_day_rolls_up_to_what_it_was(
    cluster: Cluster, look: Look, midnight: datetime
) -> None:
    a_day(look, midnight)
    prune_usage(midnight + DAY + HOUR)
    (day,) = sums(UsageKind.NODE, 86_400, midnight).values()
    hours = sums(UsageKind.NAMESPACE, 3_600, midnight)
    whole = sums(UsageKind.CLUSTER, 3_600, midnight)
    expected = sum(hour % 5 for hour in range(24)) * 3600
    assert (day.seconds, day.sums.in_use) == (86_400, expected)
    assert day.sums.free == 864_000 - expected
    assert sum(total.sums.in_use for total in hours.values()) == expected
    assert [total.sums.in_use for total in whole.values()][:24] == [
        hour % 5 * 3600 for hour in range(24)
    ]
    (day,) = sums(UsageKind.CLUSTER, 86_400, midnight).values()
    assert day.sums.in_use == expected
    assert not sums(UsageKind.NODE, 3_600, midnight)
    before = {row.pk: bytes(row.data) for row in UsagePack.objects.all()}
    prune_usage(midnight + DAY + HOUR)
    assert before == {row.pk: bytes(row.data) for row in UsagePack.objects.all()}


def test_changes_of_days_that_are_over_are_packed_and_read_the_same(
    cluster: Cluster, look: Look, midnight: datetime
) -> None:
    start = midnight - DAY
    a_day(look, start)
    for minute in range(1441, 2 * 1440, 2):
        look(start + minute * MINUTE, minute // 50 % 7)
    asked = [
        (key, begin, begin + 3 * HOUR, 60)
        for key in (WHOLE, NODE, TEAM)
        for begin in (start, start + 7 * HOUR + 17 * MINUTE, midnight - HOUR)
    ]
    plain = [usage(cluster, *one).points for one in asked]
    rows = UsageChange.objects.count()
    prune_usage(midnight + DAY + HOUR)
    assert UsageChange.objects.count() == 3 < rows
    assert UsagePack.objects.filter(span=60).count() == 3 * 2
    assert [usage(cluster, *one).points for one in asked] == plain
    look(midnight + DAY + MINUTE, 4)
    found = usage(cluster, NODE, midnight + DAY - HOUR, midnight + DAY + 2 * MINUTE, 60)
    assert in_use(found)[:59] == in_use(
        usage(cluster, NODE, midnight + DAY - HOUR, midnight + DAY - MINUTE, 60)
    )


def test_a_day_can_be_summed_up_in_parts(
    cluster: Cluster, look: Look, midnight: datetime
) -> None:
    """Hours come one after the other, days of a block too; what was there stays."""
    a_day(look, midnight, hours=6)
    for hour in range(1, 8):
        prune_usage(midnight + hour * HOUR + 6 * MINUTE)
        found = sums(UsageKind.CLUSTER, 3_600, midnight)
        assert len(found) == min(hour, 7)
        assert [total.sums.in_use // 3600 for total in found.values()][:6] == [
            at % 5 for at in range(min(hour, 6))
        ]
    assert UsagePack.objects.filter(span=3_600).count() == 2


def test_a_chart_reads_the_same_from_changes_and_from_sums(
    cluster: Cluster, look: Look, midnight: datetime, settings: Any
) -> None:
    a_day(look, midnight, hours=12)
    asked = (cluster, TEAM, midnight, midnight + DAY / 2, 3600)
    from_changes = in_use(usage(*asked))
    assert from_changes == [hour % 5 for hour in range(12)]
    settings.USAGE_DETAIL_DAYS = 0
    prune_usage()
    assert UsageChange.objects.count() == 3
    assert in_use(usage(*asked)) == from_changes
    assert in_use(usage(cluster, WHOLE, midnight, midnight + DAY / 2, 21_600)) == [
        sum(hour % 5 for hour in range(at, at + 6)) / 6 for at in (0, 6)
    ]
    # Of nodes no hours are kept: the step becomes a day.
    node = usage(cluster, NODE, midnight, midnight + DAY, 3600)
    assert node.step == 86_400
    assert in_use(node) == pytest.approx([sum(h % 5 for h in range(12)) / 12])


def test_the_border_of_changes_and_sums_is_not_seen(
    cluster: Cluster,
    look: Look,
    midnight: datetime,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = timezone.now()  # what is kept goes by it
    monkeypatch.setattr(timezone, "now", lambda: now)
    a_day(look, midnight, hours=6)
    plain = in_use(usage(cluster, WHOLE, midnight, midnight + DAY / 4, 3600))
    age = detail_from() - midnight
    settings.USAGE_DETAIL_DAYS = (settings.USAGE_DETAIL_DAYS * DAY + age) / DAY - 1 / 8
    prune_usage()
    assert abs(detail_from() - midnight - DAY / 8) < timedelta(seconds=1)
    assert in_use(usage(cluster, WHOLE, midnight, midnight + DAY / 4, 3600)) == plain


def test_a_gap_stays_a_gap(cluster: Cluster, look: Look, midnight: datetime) -> None:
    for minute in (0, 1, 2, 10, 11, 12):
        look(midnight + minute * MINUTE, 4)
    found = usage(cluster, WHOLE, midnight, midnight + 15 * MINUTE, 60)
    assert in_use(found) == [4, 4, *[None] * 8, 4, 4, *[None] * 3]
    half = usage(cluster, WHOLE, midnight, midnight + 15 * MINUTE, 900)
    assert [(p.covered, p.averages[1]) for p in half.points if p.averages] == [
        (240 / 900, 4.0)
    ]
    prune_usage(midnight + 2 * HOUR)
    (total,) = sums(UsageKind.CLUSTER, 3_600, midnight).values()
    assert (total.seconds, total.sums.in_use) == (240, 4 * 240)


def test_a_series_that_came_later_had_nothing_before(
    cluster: Cluster, look: Look, midnight: datetime
) -> None:
    look(midnight, 0)
    look(midnight + MINUTE, 2)
    look(midnight + 2 * MINUTE, 2)
    found = usage(cluster, TEAM, midnight, midnight + 2 * MINUTE, 60)
    assert in_use(found) == [0, 2]


def test_old_things_are_forgotten_and_what_is_true_is_not(
    cluster: Cluster, look: Look, midnight: datetime
) -> None:
    look(midnight, 3)
    look(midnight + MINUTE, 0)
    for _ in range(10):
        prune_usage(midnight + 20 * DAY)
    assert UsageChange.objects.filter(series__kind=UsageKind.CLUSTER).count() == 1
    assert UsageCover.objects.count() == 0
    assert UsagePack.objects.filter(span=86_400).exists()
    for _ in range(10):
        prune_usage(midnight + 500 * DAY)
    assert not UsagePack.objects.exists()
    assert not UsageSeries.objects.filter(kind=UsageKind.NAMESPACE).exists()
    assert UsageSeries.objects.get(kind=UsageKind.NODE).free == 10


@pytest.mark.parametrize(
    ("hours", "step", "words"),
    [(24, 61, "one of"), (0, 60, "before the end"), (48, 60, "more than 1,500")],
)
def test_a_question_out_of_bounds_is_refused(
    hours: int, step: int, words: str, cluster: Cluster, midnight: datetime
) -> None:
    with pytest.raises(ValueError, match=words):
        usage(cluster, WHOLE, midnight, midnight + hours * HOUR, step)


def test_a_chart_takes_a_fixed_number_of_queries(
    cluster: Cluster,
    look: Look,
    midnight: datetime,
    django_assert_max_num_queries: Any,
) -> None:
    a_day(look, midnight, hours=1)
    with django_assert_max_num_queries(8):
        usage(
            cluster,
            Key(UsageKind.NODE, "n1"),
            midnight - 300 * DAY,
            midnight + DAY,
            86_400,
        )
