"""The tables of docs/operations.md about queues, the clock and numbers say what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django.conf import settings
from prometheus_client import REGISTRY

from dra_portal import metrics
from dra_portal.queues import PERIODS
from tests.mirrored import mirror_demo

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text("utf-8")
QUERIES = {8: "eight", 9: "nine", 10: "ten", 11: "eleven"}


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that begins with ``heading``."""
    table = OPERATIONS.partition(f"\n{heading}\n")[2].partition("\n\n")[0]
    lines = [line.strip("|").split("|") for line in table.splitlines()[1:]]
    return [[cell.strip() for cell in cells] for cells in lines]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def numbers() -> set[str]:
    """Names as Prometheus sees them, histograms without what is added to theirs."""
    families = [*REGISTRY.collect(), *metrics.Stored().collect()]
    return {
        f"{one.name}_total" if one.type == "counter" else one.name
        for one in families
        if one.name.startswith("dra_portal_")
    }


def test_every_queue_is_there() -> None:
    told = [names(row[0])[0] for row in rows("| queue | what goes there |")]
    assert {*told} == {*settings.QUEUES.names}


def test_the_clock_asks_for_these_tasks_as_often() -> None:
    told = {names(row[0])[0]: row[1] for row in rows("| task | every | what |")}
    assert told == {
        name.rpartition(".")[2]: f"{seconds} s" for name, seconds in PERIODS.items()
    }


def test_every_number_is_there_and_no_other(db: None) -> None:
    mirror_demo(nodes=1)
    told = [one for row in rows("| name | from | meaning |") for one in names(row[0])]
    assert {*told} == numbers()
    assert len({*told}) == len(told)


def test_a_scrape_costs_as_many_queries_as_it_says(
    db: None, django_assert_num_queries: Any
) -> None:
    mirror_demo(nodes=1)
    said = re.search(r"read from tables costs (\w+) queries", OPERATIONS)
    assert said
    (count,) = [number for number, word in QUERIES.items() if word == said[1]]
    with django_assert_num_queries(count):
        list(metrics.Stored().collect())
