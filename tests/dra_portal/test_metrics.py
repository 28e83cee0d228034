"""The numbers: who may read them, what they are, and what reading costs."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from allocator import snapshots
from allocator.models import AllocationRun, RunTransition
from cluster.writeback import Changed, Refusal, Refused
from dra_portal import environment as env
from dra_portal import metrics
from inventory.models import Cluster
from tests.dra_portal.deployed import BYTECODE
from tests.dra_portal.watched import PATIENCE
from tests.mirrored import mirror_demo
from tests.ports import free_port
from web import metrics as counted
from web import tokens
from web.doors import Role

pytestmark = pytest.mark.django_db

Numbers = dict[tuple[str, ...], float]


def numbers(client: Client, **headers: Any) -> Numbers:
    """``(name, label values by label …)`` → value."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    return {
        (sample.name, *(v for _, v in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_a_stranger_reads_nothing(client: Client) -> None:
    assert client.get("/metrics").status_code == 401


def test_an_api_token_of_a_viewer_reads_them(
    client: Client, person: Callable[..., User]
) -> None:
    _, secret = tokens.create(
        user=person("viewer"), name="prometheus", role=Role.VIEWER
    )
    found = numbers(client, authorization=f"Bearer {secret}")
    assert found["dra_portal_up", "database"] == 1
    assert found["dra_portal_up", "broker"] == 1


def run(cluster: Cluster, state: str, **details: Any) -> None:
    made = AllocationRun.objects.create(
        cluster=cluster, namespace="a", claim_name=f"c-{state}", state=state
    )
    RunTransition.objects.create(run=made, to_state=state, actor="w", details=details)


def test_what_the_rows_tell(client_of: Callable[..., Client], settings: Any) -> None:
    # Other tests leave messages in this process's queues.
    settings.QUEUES = type(settings.QUEUES)("dra-portal-metrics-test")
    cluster = mirror_demo(nodes=2)
    run(cluster, "queued")
    run(cluster, "done")
    run(cluster, "conflict", refusal="allocated")
    run(cluster, "failed")
    snapshots.current(cluster)
    Cluster.objects.update(seq=cluster.seq + 5)
    found = numbers(client_of("viewer"))
    assert found["dra_portal_runs", "demo", "queued"] == 1
    assert found["dra_portal_runs", "demo", "done"] == 1
    assert found["dra_portal_oldest_open_run_seconds", "demo"] >= 0
    assert found["dra_portal_runs_ended_badly", "demo", "allocated", "conflict"] == 1
    assert found["dra_portal_runs_ended_badly", "demo", "other", "failed"] == 1
    assert found["dra_portal_watch_live", "demo", "Node"] == 1
    assert found["dra_portal_objects", "demo", "Node"] == 2
    assert found["dra_portal_claims", "demo", "pending"] >= 1
    assert found["dra_portal_devices", "demo", "free"] >= 1
    assert found["dra_portal_snapshot_behind_changes", "demo"] >= 5
    assert found["dra_portal_queue_messages", settings.QUEUES.write] == 0


def test_reading_them_costs_the_same_for_any_number_of_clusters(
    client_of: Callable[..., Client], django_assert_max_num_queries: Any
) -> None:
    client = client_of("viewer")
    mirror_demo(nodes=1)
    for index in range(5):
        run(Cluster.objects.create(name=f"c{index}", source="dump"), "queued")
    with django_assert_max_num_queries(11):
        numbers(client)


def test_a_broker_that_is_away_is_a_number_too(
    client_of: Callable[..., Client], settings: Any
) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    assert numbers(client_of("viewer"))["dra_portal_up", "broker"] == 0


def test_an_expression_is_timed(client_of: Callable[..., Client]) -> None:
    mirror_demo(nodes=1)
    client = client_of("viewer")
    for path, name in (("cel", "expression"), ("devices", "cel")):
        before = numbers(client)["dra_portal_cel_seconds_count",]
        client.get(f"/c/demo/{path}/", {name: "device.driver == 'x'"})
        assert numbers(client)["dra_portal_cel_seconds_count",] > before


def test_attempts_to_write_are_timed_by_outcome_and_conflicts_counted(
    client_of: Callable[..., Client],
) -> None:
    client = client_of("viewer")
    before = numbers(client)
    counted.count_write(Changed("somebody else"), 0.2)
    counted.count_write(Refused(Refusal.ALLOCATED, "taken"), 0.2)
    counted.count_write(Refused(Refusal.GONE, "gone"), 0.2)
    after = numbers(client)
    conflicts = ("dra_portal_write_conflicts_total",)
    assert after[conflicts] == before[conflicts] + 2
    refused = ("dra_portal_write_seconds_count", "Refused")
    assert after[refused] == before.get(refused, 0) + 2


COUNTING = """
import os, django
django.setup()
from dra_portal import metrics
from web.metrics import WRITE_CONFLICTS
metrics.begin()
if os.fork() == 0:
    WRITE_CONFLICTS.inc(3)
    os._exit(0)
os.wait()
WRITE_CONFLICTS.inc()
metrics.listen()
print("listening", flush=True)
input()
"""


def test_children_of_a_worker_are_counted_and_served_at_an_address(
    tmp_path: Path,
) -> None:
    port = free_port()
    (tmp_path / "counter_1.db").write_bytes(b"of a process that is gone")
    process = subprocess.Popen(
        [sys.executable, "-c", COUNTING],
        cwd=configured.BASE_DIR,
        env={
            "DJANGO_SETTINGS_MODULE": "dra_portal.settings",
            "DRA_PORTAL_VAR": str(tmp_path),
            "DRA_PORTAL_METRICS_DIR": str(tmp_path),
            "DRA_PORTAL_METRICS_LISTEN": f"127.0.0.1:{port}",
            **BYTECODE,
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "listening\n"
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE
        ) as answer:
            text = answer.read().decode()
    finally:
        process.communicate("\n", timeout=PATIENCE)
    assert "dra_portal_write_conflicts_total 4.0" in text


def test_nothing_is_served_where_no_address_is_set() -> None:
    metrics.begin()
    metrics.listen()


@pytest.mark.parametrize("text", ["9100", "host", "host:", ":0", ":70000", ":x"])
def test_an_address_that_is_none_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("DRA_PORTAL_METRICS_LISTEN", text)
    with pytest.raises(ImproperlyConfigured, match="DRA_PORTAL_METRICS_LISTEN"):
        env.address("DRA_PORTAL_METRICS_LISTEN")
