"""Web, watch, two workers and beat as compose starts them, and one claim's whole way."""

from __future__ import annotations

import json
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.contrib.auth.models import User
from prometheus_client.parser import text_string_to_metric_families

from cluster.standin.server import StandinServer
from tests.allocator import builders as build
from tests.dra_portal.processes import PASSWORD, REDIS, Portal
from tests.dra_portal.watched import write_clusters
from web import tokens
from web.doors import Role

pytestmark = pytest.mark.django_db(transaction=True)

ALL = ("web", "watch", "worker1", "worker2", "beat")
GRACE = {"web": 30.0, "watch": 30.0, "worker1": 120.0, "worker2": 120.0, "beat": 30.0}
SECRET_KEY = uuid.uuid4().hex * 2
REQUEST_ID = "asked-by-a-test"
CELERY = ["", "worker: Warm shutdown (MainProcess)"]
"""What a worker prints past every log."""


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[tuple[Portal, StandinServer]]:
    (tmp_path / "secret_key").write_text(SECRET_KEY)
    queue = f"dra-portal-test-{uuid.uuid4().hex[:12]}"
    with StandinServer([*build.lab(), build.claim("one")]) as server:
        server.write_kubeconfig(tmp_path / "kubeconfig")
        clusters = write_clusters(
            tmp_path, "- {name: lab, kubeconfig: kubeconfig, writer: unguarded}\n"
        )
        made = Portal(tmp_path, clusters, queue)
        try:
            yield made, server
        finally:
            made.kill()
            with redis.Redis.from_url(REDIS) as client:
                for key in client.scan_iter(f"*{queue}*"):
                    client.delete(key)


def numbers(text: str) -> dict[tuple[str, ...], float]:
    return {
        (
            sample.name,
            *(value for _, value in sorted(sample.labels.items())),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def lines(portal: Portal, name: str) -> list[dict[str, Any]]:
    """The events of a process: a line of JSON each."""
    log = portal.processes[name].log.splitlines()
    return [json.loads(line) for line in log if line.startswith("{")]


def test_a_claim_goes_its_way_through_every_process(
    portal: tuple[Portal, StandinServer], person: Callable[..., User]
) -> None:
    compose, server = portal
    _, token = tokens.create(user=person("operator"), name="test", role=Role.OPERATOR)
    for name in ALL:
        compose.start(name)
    compose.wait(
        lambda: compose.ask("/readyz?strict") == (200, "database: ok\nmigrations: ok\nbroker: ok\nmirror: ok\n"),
        "readiness",
    )  # fmt: skip
    compose.wait(lambda: all(compose.processes[n].alive for n in ALL[1:]), "life")
    compose.wait(
        lambda: '"one"' in compose.ask("/api/v1/claims/?cluster=lab", token=token)[1],
        "the watch to bring the claim",
    )

    status, text = compose.ask(
        "/api/v1/runs/",
        token=token,
        body={"cluster": "lab", "namespace": "lab", "claim_name": "one"},
        **{"X-Request-ID": REQUEST_ID},
    )
    assert status == 202, text
    run = json.loads(text)["id"]

    def finished() -> Any:
        seen = json.loads(compose.ask(f"/api/v1/runs/{run}/", token=token)[1])
        return seen if seen["finished_at"] else None

    seen = compose.wait(finished, "the run")
    assert seen["state"] == "done", seen["reason"]
    held = server.store.get("ResourceClaim", "one", "lab")
    assert held
    assert held["status"]["allocation"]["devices"]["results"]

    told = numbers(compose.ask("/metrics", token=token)[1])
    assert told["dra_portal_runs", "lab", "done"] == 1
    assert told["dra_portal_watch_live", "lab", "ResourceClaim"] == 1
    assert told["dra_portal_up", "broker"] == 1
    assert told["dra_portal_request_seconds_count", "POST", "202", "api-runs"] == 1

    def of_workers(*key: str) -> float:
        workers = (numbers(compose.numbers_of(name)) for name in ("worker1", "worker2"))
        return sum(worker.get(key, 0.0) for worker in workers)

    done = "dra_portal_task_seconds_count", "success", "allocator.tasks.run_allocation"
    # It is counted after the end of the run. A worker that starts has open runs looked
    # at too; twice does no harm.
    compose.wait(lambda: of_workers(*done) >= 1, "the end of the task")
    assert of_workers("dra_portal_engine_seconds_count", "Fits") == 1
    assert of_workers("dra_portal_write_seconds_count", "Written") == 1
    for name in ("watch", "beat"):
        assert "dra_portal_write_conflicts_total" in compose.numbers_of(name)

    ended = compose.stop()
    # uvicorn finishes and then ends by the signal that it was sent.
    status_of = dict.fromkeys(ALL, 0) | {"web": -signal.SIGTERM}
    assert {name: status for name, (status, _) in ended.items()} == status_of
    assert "Finished server process" in compose.processes["web"].log
    assert all(seconds < GRACE[name] for name, (_, seconds) in ended.items()), ended
    assert_logs(compose, run)


def assert_logs(compose: Portal, run: str) -> None:
    """One id from the request to the end of the run; nothing secret anywhere."""
    (asked,) = [
        line
        for line in lines(compose, "web")
        if line.get("view") == "api-runs" and line.get("method") == "POST"
    ]
    assert asked["request_id"] == REQUEST_ID
    (named,) = [one for one in lines(compose, "web") if one["event"] == "run.asked"]
    assert (named["run"], named["request_id"]) == (run, REQUEST_ID)
    seen = [
        one for one in lines(compose, "watch") if one["event"] == "watch.claim_of_run"
    ]
    assert {(one["run"], one["request_id"]) for one in seen} == {(run, REQUEST_ID)}
    assert any(one["allocated"] for one in seen)
    moves = [
        line
        for name in ("worker1", "worker2")
        for line in lines(compose, name)
        if line["event"] == "run.moved"
    ]
    assert [move["to_state"] for move in moves] == [
        "planning",
        "writing",
        "verifying",
        "done",
    ]
    for move in moves:
        assert (move["run"], move["request_id"]) == (run, REQUEST_ID)
        assert move["task_id"]
    assert any(line["event"] == "watch.started" for line in lines(compose, "watch"))
    assert any(line["event"] == "beat.started" for line in lines(compose, "beat"))
    for process in compose.processes.values():
        assert SECRET_KEY not in process.log
        assert PASSWORD not in process.log
        assert "Traceback" not in process.log, process.log
        told = process.log.splitlines()
        assert [line for line in told if not line.startswith("{")] in ([], CELERY), told
