"""What was summed up before there were packs is carried over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from inventory.history.kept import seconds, sums_of
from inventory.history.numbers import Numbers
from inventory.history.spans import Total
from inventory.models_history import UsageSeries

BEFORE, AFTER = ("inventory", "0002_history"), ("inventory", "0005_no_usage_sums")
START = datetime(2026, 10, 5, tzinfo=UTC)


@pytest.mark.django_db(transaction=True)
def test_sums_of_hours_and_days_become_packs() -> None:
    def migrate(*targets: tuple[str, str]) -> Any:
        executor = MigrationExecutor(connection)
        newest = executor.loader.graph.leaf_nodes()
        executor.migrate(
            [*(n for n in newest if n[0] == "contenttypes"), *targets]
            if targets
            else newest
        )
        return MigrationExecutor(connection).loader.project_state(list(targets)).apps

    try:
        old = migrate(BEFORE)
        cluster = old.get_model("inventory", "Cluster").objects.create(name="old")
        series = old.get_model("inventory", "UsageSeries").objects.create(
            cluster=cluster, kind="namespace", name="team"
        )
        rows = old.get_model("inventory", "UsageSum").objects
        for width, count in ((3_600, 50), (86_400, 70)):
            for place in range(count):
                rows.create(
                    series=series,
                    span=width,
                    at=START + timedelta(seconds=place * width),
                    seconds=width - place,
                    in_use=place * 7,
                )
        migrate(AFTER)
        mine = UsageSeries.objects.filter(pk=series.pk)
        begin = seconds(START)
        for width, count in ((3_600, 50), (86_400, 70)):
            span = (begin - 40 * 86_400, begin + 80 * 86_400)
            assert sums_of(mine, span, width) == {
                begin + place * width: Total(width - place, Numbers(in_use=place * 7))
                for place in range(count)
            }
    finally:
        migrate()
