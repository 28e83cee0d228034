"""A worker keeps its connection to the database, and survives the end of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from tests.dra_portal.elsewhere import app_at
from tests.dra_portal.own_servers import Redis
from tests.dra_portal.processes import Portal
from tests.dra_portal.watched import write_clusters

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="its server knows connections"
    ),
]


def test_a_child_keeps_its_connection_until_it_breaks(tmp_path: Path) -> None:
    broker = Redis(tmp_path)
    broker.start()
    (tmp_path / "secret_key").write_text("s" * 60)
    clusters = write_clusters(tmp_path, "")
    portal = Portal(tmp_path, clusters, "dra-portal", broker=broker.url)
    notes = tmp_path / "backends"
    notes.touch()

    def backends(tasks: int) -> list[str]:
        """ "child backend" of ``tasks`` tasks more."""
        before = len(notes.read_text().splitlines())
        with app_at(broker.url) as app:
            for _ in range(tasks):
                app.send_task("tests.backend", (str(notes),))
        portal.wait(
            lambda: len(notes.read_text().splitlines()) == before + tasks, "the tasks"
        )
        return notes.read_text().splitlines()[before:]

    try:
        worker = portal.start("worker1", "--include=tests.dra_portal.tasks_of_tests")
        portal.wait(lambda: "ready" in worker.log, "the worker")

        first = backends(20)
        children = {line.split()[0] for line in first}
        assert len(set(first)) == len(children) < 20

        with connection.cursor() as cursor:
            for backend in {line.split()[1] for line in first}:
                # Waits until it is gone: a task that came before would still have it.
                cursor.execute(
                    "SELECT pg_terminate_backend(%s, 120000)", [int(backend)]
                )
        later = backends(20)
        assert not set(later) & set(first)
        assert "Traceback" not in worker.log
    finally:
        portal.kill()
        broker.kill()
