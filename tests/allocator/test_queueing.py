"""A queue that does not answer: nobody hangs on it, and nothing that was asked is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from celery import Celery
from django.conf import settings
from django.test import Client

from allocator.models import AllocationRun
from allocator.services import queueing, start_batch, sweep_runs
from allocator.services.queueing import QueueError
from allocator.views.runs import sentence_of
from dra_portal import celery_app
from dra_portal.celery import be_patient
from tests.allocator import builders as build
from tests.allocator.lab import Lab, states
from tests.allocator.silent import Silence, silent_broker, tasks_go_to
from tests.dra_portal.own_servers import Redis

pytestmark = pytest.mark.django_db(transaction=True)

LONGEST = 30.0
"""Seconds that a page may wait for a queue, in all: five, and more on a busy machine. A
worker's patience, or one wait for each of forty runs, would be longer."""


@pytest.fixture
def silence() -> Iterator[Silence]:
    with silent_broker() as found:
        yield found


@pytest.fixture
def began() -> Callable[[], float]:
    """``began()``: the seconds since the test began."""
    start = time.monotonic()
    return lambda: time.monotonic() - start


def test_a_page_that_starts_a_run_does_not_hang_and_says_what_is_the_matter(
    lab: Lab, client_of: Callable[..., Client], silence: Silence
) -> None:
    operator = client_of("operator")
    start = time.monotonic()
    asked = {"namespace": "lab", "claim_name": "one"}
    answer = operator.post("/c/lab/runs/start/", asked)
    assert time.monotonic() - start < LONGEST
    assert silence.connections > 0
    run = AllocationRun.objects.get()
    assert (run.state, run.worker) == ("queued", "")
    assert sentence_of(run).startswith("The task queue does not answer")
    assert answer.status_code == 302
    page = operator.get(answer["Location"]).content.decode()
    assert "It begins by itself some two minutes after the queue is back" in page


def test_the_run_is_found_by_the_sweep_and_says_nothing_of_the_queue_then(
    lab: Lab,
) -> None:
    with silent_broker():
        run = lab.start("one")
    assert sweep_runs(silent_seconds=0) == 1
    run = lab.execute(run)
    assert (run.state, run.waits_for) == ("done", "")


def test_of_many_runs_only_the_first_waits_for_the_queue(
    lab: Lab, silence: Silence
) -> None:
    names = [f"many-{number}" for number in range(40)]
    lab.put(*(build.claim(name) for name in names))
    start = time.monotonic()
    started = start_batch(
        cluster=lab.cluster, claims=[("lab", name) for name in names], user=None
    )
    assert time.monotonic() - start < LONGEST
    assert len(started.runs) == 40
    runs = AllocationRun.objects.filter(batch=started.batch)
    assert {(r.state, r.waits_for != "") for r in runs} == {("queued", True)}


def test_a_queue_that_falls_silent_in_the_middle_holds_nobody_longer(
    tmp_path: Path, began: Callable[[], float]
) -> None:
    server = Redis(tmp_path)
    server.start()
    try:
        with tasks_go_to(server.url):
            queueing.send("some.task")
            server.freeze()
            before = began()
            with pytest.raises(QueueError) as raised:
                queueing.send("some.task")
            assert began() - before < LONGEST
            assert raised.value.perhaps
            server.thaw()
            queueing.forget()
            queueing.send("some.task")
    finally:
        server.kill()


def test_a_queue_that_refuses_is_known_to_have_told_nobody(lab: Lab) -> None:
    with tasks_go_to("redis://127.0.0.1:1/0"), pytest.raises(QueueError) as raised:
        queueing.send("some.task")
    assert not raised.value.perhaps


def test_after_a_rest_the_queue_is_asked_again(lab: Lab, silence: Silence) -> None:
    with pytest.raises(QueueError):
        queueing.send("some.task")
    asked = silence.connections
    with pytest.raises(QueueError) as raised:
        queueing.send("some.task")
    assert (silence.connections, raised.value.perhaps) == (asked, True)
    queueing.forget()
    with pytest.raises(QueueError):
        queueing.send("some.task")
    assert silence.connections > asked


def test_a_worker_waits_longer_for_its_queue_than_a_page_may() -> None:
    app = Celery("worker")
    app.conf.broker_transport_options = celery_app.conf.broker_transport_options
    be_patient(conf=app.conf)
    given = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    options = app.conf.broker_transport_options
    assert options["visibility_timeout"] == given["visibility_timeout"]
    assert options["socket_timeout"] >= 10 * given["socket_timeout"]


def test_a_run_that_somebody_has_begun_meanwhile_says_nothing_of_the_queue(
    lab: Lab, silence: Silence
) -> None:
    from allocator.services.starting import tell_workers

    run = lab.start("one")
    run = lab.execute(run)
    tell_workers(run.pk)
    run.refresh_from_db()
    assert (states(run)[-1], run.waits_for) == ("done", "")
