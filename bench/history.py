"""Use over time and what happens, of a large cluster: what it costs and what it takes.

    python -m bench.history NODES DIRECTORY

Every node has 8 GPUs; half of them are held. Of each sample a hundredth of the nodes
differs from the one before. Bytes are those of the database with its indexes.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import django
from django.core.management import call_command
from django.db import connection

from bench.audits import workloads
from bench.clusters import DRIVER, objects
from bench.table import figure, show, timed

START: Final = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SAMPLES: Final = 20
OTHERS: Final = {"cluster": 1, "class": 8, "driver": 3, "namespace": 200}
"""Series beside the nodes."""
DAYS: Final = 365
HOURS_DAYS, DETAIL_DAYS = 60, 8
CHANGES: Final = {"node": 14, "namespace": 48}
"""Of a series on a day; of the others every minute differs."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dra_portal.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    nodes = int(sys.argv[1])
    measure(nodes)
    year(nodes)
    rule(nodes)


def measure(nodes: int) -> None:
    """Print what a sample costs."""
    from allocator import sampling
    from dra.allocation.features import Features
    from dra.snapshot import Snapshot
    from inventory.history import storing
    from inventory.history.numbers import WHOLE, Key, Numbers
    from inventory.history.rolling import roll_up
    from inventory.models import Cluster
    from inventory.models_history import UsageChange, UsagePack

    cluster = Cluster.objects.create(name=f"bench-{os.getpid()}", source="kubeconfig")
    snapshot = Snapshot.build([*objects("gpu", nodes), *workloads(nodes)])
    features = Features.preset("1.36")
    first = timed(lambda: sampling.count(snapshot, features))
    again = timed(lambda: sampling.count(snapshot, features))
    counts = sampling.count(snapshot, features)
    kept = timed(lambda: storing.keep(cluster, counts, START))
    same = timed(lambda: storing.keep(cluster, counts, START + timedelta(minutes=1)))
    names = [key for key in counts if key.kind == "node"]
    spent, rows = [], UsageChange.objects.count()
    for number in range(SAMPLES):
        now: dict[Key, Numbers] = dict(counts)
        for key in names[number :: nodes // max(1, nodes // 100)]:
            now[key] = Numbers(free=7 - number % 5, in_use=1 + number % 5)
        now[WHOLE] = Numbers(free=number, in_use=8 * nodes - number)
        at = START + timedelta(minutes=2 + number)
        spent.append(timed(partial(storing.keep, cluster, now, at)))
    made = UsageChange.objects.count() - rows
    rolled = timed(lambda: roll_up(cluster, START + timedelta(days=2)))
    packs = UsagePack.objects.count()
    show(
        f"use over time, {nodes:,} nodes",
        [
            figure("count, from a snapshot as it was built", first),
            figure("count, from one that was looked at", again),
            figure(f"keep the first sample, {len(counts):,} series", kept),
            figure("keep a sample in which nothing differs", same),
            figure(
                f"keep one in which {made // SAMPLES:,} series differ",
                sorted(spent)[SAMPLES // 2],
            ),
            figure(f"sum up and pack a day, {packs:,} rows", rolled),
        ],
    )
    cluster.delete()


# --- a year ------------------------------------------------------------------------


def year(nodes: int) -> None:
    """Fill the tables as a year of samples leaves them, and print their size.

    No two days of a node are the same. The block of days that is not over is written
    day by day, as it is in life, with what that leaves behind.
    """
    from inventory.history.kept import BLOCK, DAY, HOUR, seconds
    from inventory.history.rolling import add_sums
    from inventory.models import Cluster
    from inventory.models_history import (
        UsageChange,
        UsageCover,
        UsagePack,
        UsageSeries,
    )

    tables = (UsageSeries, UsageChange, UsageCover, UsagePack)
    before = sum(map(_bytes, tables))
    cluster = Cluster.objects.create(name=f"year-{os.getpid()}", source="kubeconfig")
    counts = {"node": nodes, **OTHERS}
    series = UsageSeries.objects.bulk_create(
        (
            UsageSeries(cluster=cluster, kind=kind, name=f"{kind}-{n:05d}.example.com")
            for kind, count in counts.items()
            for n in range(count)
        ),
        batch_size=500,
    )
    chance = random.Random(1)
    others = [one.pk for one in series if one.kind != "node"]
    today = seconds(START) - seconds(START) % DAY
    first = today - DAYS * DAY
    first -= first % BLOCK[DAY]
    for begin in range(first, today, BLOCK[DAY]):
        days = range(min(BLOCK[DAY], today - begin) // DAY)
        steps: Iterable[range] = [days]
        if begin + BLOCK[DAY] > today:
            steps = [range(day, day + 1) for day in days]
        for some in steps:
            block = {one.pk: _totals(chance, some, DAY) for one in series}
            add_sums(block, DAY, begin)
    for day in range(HOURS_DAYS):
        block = {pk: _totals(chance, range(24), HOUR) for pk in others}
        add_sums(block, HOUR, today - (day + 1) * DAY)
    for day in range(DETAIL_DAYS):
        packs = _changes(chance, series, today - (day + 1) * DAY)
        UsagePack.objects.bulk_create(packs, batch_size=500)
    UsageChange.objects.bulk_create(_rows(chance, series, today), batch_size=500)
    parts = {model.__name__: _bytes(model) for model in tables}
    total = sum(parts.values()) - before
    said = ", ".join(f"{name} {size / 1e6:,.0f}" for name, size in parts.items())
    print(
        f"a year of {nodes:,} nodes and {len(others)} others: {total / 1e6:,.0f} MB "
        f"({said}); {UsagePack.objects.count():,} packs, "
        f"{UsageChange.objects.count():,} changes of a day that is not over"
    )
    cluster.delete()


def _totals(chance: random.Random, places: range, width: int) -> dict[int, Any]:
    from inventory.history.numbers import Numbers
    from inventory.history.spans import Total

    found = {}
    for place in places:
        held = chance.randrange(8 * width)
        found[place] = Total(width, Numbers(free=8 * width - held, in_use=held))
    return found


def _steps(chance: random.Random, kind: str, day: int) -> list[tuple[int, Any]]:
    from inventory.history.kept import DAY
    from inventory.history.numbers import Numbers

    count = CHANGES.get(kind, 1_439)
    minutes = sorted(chance.sample(range(1, DAY // 60), count))
    most = 8 if kind == "node" else 40_000
    return [
        (day + 60 * minute, Numbers(free=most - held, in_use=held))
        for minute in minutes
        for held in [chance.randrange(most)]
    ]


def _changes(chance: random.Random, series: Iterable[Any], day: int) -> Iterator[Any]:
    from inventory.history.kept import MINUTE, moment
    from inventory.history.numbers import Numbers
    from inventory.history.packing import pack_changes
    from inventory.models_history import UsagePack

    for one in series:
        data = pack_changes(Numbers(free=8), _steps(chance, one.kind, day), day)
        yield UsagePack(series=one, span=MINUTE, at=moment(day), data=data)


def _rows(chance: random.Random, series: Iterable[Any], day: int) -> Iterator[Any]:
    from inventory.history.kept import moment
    from inventory.models_history import UsageChange

    for one in series:
        for at, numbers in _steps(chance, one.kind, day):
            yield UsageChange(series=one, at=moment(at), **numbers._asdict())


# --- a taint rule ------------------------------------------------------------------


def rule(nodes: int) -> None:
    """A rule that taints every device comes and goes; in rows of what happened too."""
    from claims.mirror import store_for
    from cluster.store import Event, EventType
    from inventory.models import Cluster, Device
    from inventory.models_history import Happening

    cluster = Cluster.objects.create(name=f"rule-{os.getpid()}", source="kubeconfig")
    slices = [one for one in objects("gpu", nodes) if one["kind"] == "ResourceSlice"]
    rules = store_for("DeviceTaintRule", cluster.pk)
    rules.replace([], "1")
    store_for("ResourceSlice", cluster.pk).replace(slices, "1")
    spec = {
        "deviceSelector": {"driver": DRIVER},
        "taint": {"key": "example.com/broken", "effect": "NoSchedule"},
    }
    all_ = {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "all", "uid": "all", "resourceVersion": "2"},
        "spec": spec,
    }
    spent = [
        timed(partial(rules.apply, [Event(type_, all_)], "2"))
        for type_ in (EventType.ADDED, EventType.DELETED)
    ]
    devices = Device.objects.filter(cluster=cluster).count()
    rows = Happening.objects.filter(cluster=cluster, kind="DeviceTaintRule")
    told = rows.exclude(name="").count()
    show(
        f"a taint rule, {devices:,} devices",
        [
            figure("mirror it, rows of devices included", spent[0]),
            figure(f"mirror that it is gone; {told} rows of history in all", spent[1]),
        ],
    )
    cluster.delete()


def _bytes(model: Any) -> int:
    """Of the table with its indexes."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_total_relation_size(%s)", [table])
        else:
            cursor.execute(
                "SELECT SUM(pgsize) FROM dbstat WHERE name IN "
                "(SELECT name FROM sqlite_master WHERE tbl_name = %s)",
                [table],
            )
        return int(cursor.fetchone()[0] or 0)


if __name__ == "__main__":
    main()
