"""What a load balancer is told, and what an alarm is."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from dra_portal import broker, health
from inventory.models import WatchState
from tests.mirrored import mirror_demo

REDIS = os.environ.get("DRA_PORTAL_TEST_REDIS", "redis://127.0.0.1:6379/15")
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ask_anew() -> Iterator[None]:
    broker.forget()
    health._migrated = False
    yield
    broker.forget()
    health._migrated = False


def told(client: Client, query: str = "") -> tuple[int, dict[str, str]]:
    answer = client.get(f"/readyz{query}")
    lines = answer.content.decode().splitlines()
    return answer.status_code, dict(line.split(": ", 1) for line in lines)


def test_it_lives(client: Client) -> None:
    assert client.get("/healthz").content == b"ok\n"
    assert client.post("/healthz").status_code == 405


def test_all_is_well(client: Client) -> None:
    mirror_demo(nodes=1)
    parts = {"database": "ok", "migrations": "ok", "broker": "ok", "mirror": "ok"}
    assert told(client, "?strict") == (200, parts)
    assert client.get("/readyz")["Cache-Control"] == "no-store"


def test_it_costs_few_queries_and_few_looks_at_migrations(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    told(client)
    with django_assert_max_num_queries(3):
        told(client)


def test_without_the_database_it_is_not_ready(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any, **__: Any) -> None:
        raise DatabaseError("server closed the connection")

    with connection.execute_wrapper(gone):
        assert told(client) == (503, {"database": "does not answer"})


def test_before_the_migrations_it_is_not_ready(client: Client) -> None:
    MigrationRecorder.Migration.objects.filter(app="allocator").order_by("-id")[
        :1
    ].get().delete()
    status, parts = told(client)
    assert status == 503
    assert parts["migrations"] == "1 not applied; run manage.py migrate"


def test_a_broker_that_is_away_is_told_but_pages_go_on(
    client: Client, settings: Any
) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    status, parts = told(client)
    assert status == 200
    assert parts["broker"].startswith("does not answer")
    assert told(client, "?strict")[0] == 503


def test_the_broker_is_not_asked_for_every_caller(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "REMEMBER_SECONDS", 3600.0)
    assert broker.answers()
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    assert broker.answers()
    broker.forget()
    assert not broker.answers()


def test_a_broker_that_never_answers_is_not_waited_for(settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{port}/0"
        assert not broker.answers()


def test_what_waits_in_the_queues_of_a_real_broker_is_counted(settings: Any) -> None:
    settings.CELERY_BROKER_URL = REDIS
    # Other runs of the tests may use the same Redis.
    base = f"dra-portal-test-{uuid.uuid4().hex}"
    settings.QUEUES = type(settings.QUEUES)(base)
    with redis.Redis.from_url(REDIS) as client:
        client.rpush(settings.QUEUES.plan, "a", "b")
        try:
            depths = broker.depths()
        finally:
            client.delete(settings.QUEUES.plan)
    assert depths == {
        base: 0,
        f"{base}.plan": 2,
        f"{base}.write": 0,
        f"{base}.periodic": 0,
    }


@pytest.mark.parametrize(
    "columns",
    [
        {"state": "retrying"},
        {"state": "forbidden"},
        {"state": "live", "alive_at": timezone.now() - timedelta(days=1)},
    ],
)
def test_an_old_mirror_is_told_without_naming_a_cluster(
    client: Client, columns: dict[str, Any]
) -> None:
    mirror_demo(nodes=1)
    WatchState.objects.filter(kind="Node").update(**columns)
    status, parts = told(client)
    assert status == 200
    assert parts["mirror"] == "1 of 1 clusters not current"
    assert told(client, "?strict")[0] == 503
