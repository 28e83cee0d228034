"""While a worker is on it the row and the page show what is found by then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from allocator.models import WhatIfRun
from allocator.tasks import tasks_whatif
from allocator.whatif import running
from allocator.whatif.running import cancel_what_if, start_what_if
from tests.allocator.whatif.conftest import ONE_GPU, scenario
from tests.mirrored import mirror_demo

pytestmark = pytest.mark.django_db(transaction=True)


NUMBERS = count(100)


def long_one(items: int) -> Any:
    """Each item asks another question, and another than in the tests before: what is
    remembered would be answered before anybody has looked."""
    work = []
    for _ in range(items):
        expression = f'device.attributes["gpu.nvidia.com"].index < {next(NUMBERS)}'
        selectors = [
            {"cel": {"expression": 'device.driver == "gpu.nvidia.com"'}},
            {"cel": {"expression": f"device.driver != '' || {expression}"}},
        ]
        exactly = {"deviceClassName": "gpu.nvidia.com", "selectors": selectors}
        spec = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
        work.append({"place": "claim", "claim": ONE_GPU | {"spec": spec}})
    # Another namespace than the claims': what it gives up stays different, however many
    # of them have found a place.
    return {"edits": [{"edit": "release", "namespace": "team-b"}], "workload": work}


@pytest.fixture
def run(
    person: Callable[..., User], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> WhatIfRun:
    settings.WHAT_IF_INLINE_SECONDS = 0
    monkeypatch.setattr(running, "_STORE", 0.02)
    monkeypatch.setattr(running, "_STORE_PART", 1)
    monkeypatch.setattr(running, "_BEAT", 0.02)
    made: WhatIfRun = start_what_if(
        cluster=mirror_demo(nodes=6),
        user=person("viewer"),
        scenario=scenario(long_one(400)),
    )
    assert made.state == "queued"
    return made


@contextmanager
def a_worker_on(run: WhatIfRun) -> Iterator[threading.Thread]:
    """The task, as a worker carries it out, beside this test."""

    def work() -> None:
        try:
            tasks_whatif.run_what_if(str(run.pk))
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield thread
    finally:
        thread.join(240)


def fresh(run: WhatIfRun) -> WhatIfRun:
    return WhatIfRun.objects.get(pk=run.pk)


def placed(run: WhatIfRun) -> int:
    return len((run.result or {}).get("placements", ()))


def answered(run: WhatIfRun) -> int:
    """How many items, fitting or not: that grows until the end."""
    return len((run.result or {}).get("items", ()))


@contextmanager
def held(run: WhatIfRun, is_so: Callable[[WhatIfRun], bool]) -> Iterator[WhatIfRun]:
    """The run once ``is_so``. Until the block ends its row is locked, so that its worker
    can store nothing, and does not come to the end of it."""
    end = time.monotonic() + 150
    while True:
        with transaction.atomic():
            now = WhatIfRun.objects.select_for_update().get(pk=run.pk)
            if is_so(now):
                yield now
                return
        assert time.monotonic() < end, f"{now.state}, {placed(now)} placed"
        assert now.is_open, now.reason
        time.sleep(0.01)


def test_what_is_found_is_stored_and_shown_as_it_comes(run: WhatIfRun) -> None:
    client = Client()
    client.force_login(run.user)
    with a_worker_on(run):
        with held(run, lambda now: placed(now) > 0) as first:
            pass
        with held(run, lambda now: answered(now) > answered(first)) as later:
            page = client.get(f"/c/demo/what-if/runs/{run.pk}/").content.decode()
            rest = client.get(f"/api/v1/what-if/{run.pk}/").json()
    assert first.is_open
    assert (first.complete, first.fits) == (False, None)
    assert first.result is not None
    assert first.result["difference"]["namespaces"]
    assert first.sentence.startswith("So far ")
    assert first.snapshot_seq is not None
    assert later.is_open
    assert "What is found so far stands below" in page
    assert "team-a/one" in page
    assert 'data-refresh-every="2"' in page
    assert rest["state"] == "running"
    assert rest["result"]["placements"]
    done = fresh(run)
    assert (done.state, done.complete) == ("done", True)
    assert placed(done) >= placed(later)


def test_cancelled_it_keeps_what_was_found(run: WhatIfRun) -> None:
    with a_worker_on(run), held(run, lambda now: placed(now) > 0) as seen:
        cancel_what_if(run=seen)
    ended = fresh(run)
    assert (ended.state, ended.complete) == ("cancelled", False)
    assert placed(ended) >= placed(seen)
    assert ended.result is not None
    assert ended.result["difference"]["namespaces"]
    assert ended.sentence.startswith("The run was stopped; until then ")


def test_a_worker_that_lost_the_run_stores_nothing_more(run: WhatIfRun) -> None:
    with a_worker_on(run), held(run, lambda now: placed(now) > 0):
        WhatIfRun.objects.filter(pk=run.pk).update(worker="another", sentence="mine")
    assert fresh(run).sentence == "mine"


def test_a_worker_that_begins_anew_takes_nothing_away_that_was_found(
    run: WhatIfRun,
) -> None:
    """In the first moment more may be found than in a worker that is cancelled at once."""
    with a_worker_on(run), held(run, lambda now: placed(now) > 5) as seen:
        WhatIfRun.objects.filter(pk=run.pk).update(worker="", lease_until=None)
    again = fresh(run)
    assert again.is_open
    WhatIfRun.objects.filter(pk=run.pk).update(cancel_asked=True)
    with a_worker_on(run):
        pass
    ended = fresh(run)
    assert ended.state == "cancelled"
    assert placed(ended) >= placed(seen)
