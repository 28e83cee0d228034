"""A long what-if with a web server and a worker as processes of their own, over HTTP."""

from __future__ import annotations

import http.cookiejar
import json
import re
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.contrib.auth.hashers import PBKDF2PasswordHasher, make_password
from django.contrib.auth.models import User

from allocator.models import WhatIfRun
from tests.allocator.whatif.test_live import held, long_one
from tests.allocator.whatif.test_live import placed as placements
from tests.dra_portal.processes import REDIS, Portal
from tests.dra_portal.watched import write_clusters
from tests.mirrored import mirror_demo

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1200)]

START = "/api/v1/clusters/demo/what-if/"


class Browser:
    """One that is signed in and keeps its cookies."""

    def __init__(self, port: int) -> None:
        self.address = f"http://localhost:{port}"
        self.cookies = http.cookiejar.CookieJar()
        keeping = urllib.request.HTTPCookieProcessor(self.cookies)
        self._opener = urllib.request.build_opener(keeping)

    def get(self, path: str) -> str:
        with self._opener.open(f"{self.address}{path}", timeout=60) as answer:
            return str(answer.read().decode())

    def post(self, path: str, **fields: str) -> str:
        data = urllib.parse.urlencode(fields | {"csrfmiddlewaretoken": self._token})
        return self._send(path, data.encode(), {})

    def ask(self, path: str, body: Any) -> Any:
        headers = {"Content-Type": "application/json", "X-CSRFToken": self._token}
        return json.loads(self._send(path, json.dumps(body).encode(), headers))

    def _send(self, path: str, data: bytes, headers: dict[str, str]) -> str:
        request = urllib.request.Request(f"{self.address}{path}", data, headers)
        with self._opener.open(request, timeout=60) as answer:
            return str(answer.read().decode())

    @property
    def _token(self) -> str:
        return next(c.value or "" for c in self.cookies if c.name == "csrftoken")


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    """A web server and a worker, and a cluster in their database."""
    mirror_demo(nodes=60)
    (tmp_path / "secret_key").write_text(uuid.uuid4().hex * 2)
    queue = f"dra-portal-test-{uuid.uuid4().hex[:12]}"
    made = Portal(tmp_path, write_clusters(tmp_path, ""), queue)
    # Without the proxy that ends TLS, and without the image's collected files.
    made.settings |= {
        "DRA_PORTAL_SECURE": "false",
        "DRA_PORTAL_HASHED_STATIC": "false",
        "DRA_PORTAL_WHAT_IF_SECONDS": "600",
    }
    try:
        made.start("web")
        made.start("worker1")
        made.wait(lambda: made.ask("/readyz")[0] == 200, "the web server", 240)
        made.wait(lambda: made.processes["worker1"].alive, "the worker", 240)
        yield made
    finally:
        made.kill()
        with redis.Redis.from_url(REDIS) as client:
            for key in client.scan_iter(f"*{queue}*"):
                client.delete(key)


@pytest.fixture
def browser(portal: Portal, person: Callable[..., User]) -> Browser:
    user = person("viewer")
    # That of the tests is none for a server with the real settings.
    user.password = make_password("pw", hasher=PBKDF2PasswordHasher())
    user.save()
    made = Browser(portal.port)
    made.get("/login/")
    made.post("/login/", username=user.username, password="pw")
    return made


def begun(browser: Browser) -> str:
    """The id of a scenario that takes a worker many seconds."""
    answer = browser.ask(START, {"scenario": long_one(250)})
    assert answer["state"] == "queued"
    return str(answer["id"])


def is_open(page: str) -> bool:
    """A page that asks again by itself."""
    return "data-refresh-every" in page.split('id="what-if-body"')[1][:200]


def beyond(number: int) -> Callable[[WhatIfRun], bool]:
    """Whether more than so many are placed."""
    return lambda run: placements(run) > number


def placed(page: str) -> int:
    """Items that fit, as the page shows them."""
    return page.count("1 of 1 fit<")


def test_the_page_grows_while_a_worker_finds_and_ends_with_all(
    portal: Portal, browser: Browser
) -> None:
    run = WhatIfRun.objects.get(pk=begun(browser))
    address = f"/c/demo/what-if/runs/{run.pk}/"
    seen: list[str] = []
    found = 0
    # What was found in the first moment, then what the worker found.
    for _ in range(3):
        with held(run, beyond(found)) as now:
            seen.append(browser.get(address))
            found = placements(now)

    def ended() -> str:
        page = browser.get(address)
        return "" if is_open(page) else page

    whole = portal.wait(ended, "the end of the what-if", 600)

    assert all(is_open(page) for page in seen)
    assert all("What is found so far stands below" in page for page in seen)
    assert "A worker is placing copies" in seen[-1]
    numbers = [placed(page) for page in seen]
    assert 0 < numbers[0] < numbers[1] < numbers[2] <= placed(whole)
    assert "What is found so far" not in whole
    assert re.search(r"1[0-9]{2} of 250 copies fit", whole)
    # The page shows the row; the task says a moment later that it is done.
    worker = portal.processes["worker1"]
    portal.wait(lambda: "run_what_if" in worker.log, "the word of the task")


def test_cancelled_on_the_page_the_worker_stops_and_what_was_found_stays(
    portal: Portal, browser: Browser
) -> None:
    run = WhatIfRun.objects.get(pk=begun(browser))
    address = f"/c/demo/what-if/runs/{run.pk}/"
    with held(run, lambda now: now.state == "running" and placements(now) > 0):
        before = browser.get(address)
    assert is_open(before)
    assert "A worker is" in before
    browser.post(f"/c/demo/what-if/runs/{run.pk}/cancel/")

    def stopped() -> str:
        page = browser.get(address)
        return "" if is_open(page) else page

    # The worker looks once a second, and between two placements.
    after = portal.wait(stopped, "the end", 120)
    assert "Cancelled. What is shown was found until then." in after
    assert placed(after) >= placed(before) > 0
    told = json.loads(browser.get(f"/api/v1/what-if/{run.pk}/"))
    assert (told["state"], told["complete"]) == ("cancelled", False)

    # It is free for the next one.
    answer = browser.ask(START, {"scenario": long_one(1)})
    assert answer["state"] in ("done", "queued")
    portal.wait(
        lambda: (
            json.loads(browser.get(f"/api/v1/what-if/{answer['id']}/"))["state"]
            == "done"
        ),
        "the next one",
        120,
    )
