"""What is logged: one line of JSON for each event, with ids, without secrets."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog
from asgiref.sync import async_to_sync
from django.conf import settings
from django.test import AsyncClient, Client

from dra_portal import celery_app
from dra_portal.logging import configure_logging
from dra_portal.task_logs import HEADER
from dra_portal.tasks import nudge_waiting
from web import metrics


class Lines(io.StringIO):
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]

    def of(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.events() if line["event"] == event]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """What production would write."""
    configure_logging(level="DEBUG", as_json=True)
    (handler,) = logging.getLogger().handlers[:1]
    assert isinstance(handler, logging.StreamHandler)
    written = Lines()
    handler.setStream(written)
    logging.getLogger("django.db.backends").setLevel("WARNING")
    logging.getLogger("asyncio").setLevel("WARNING")
    yield written
    structlog.contextvars.clear_contextvars()
    configure_logging(level=settings.LOG_LEVEL, as_json=False)


def test_a_logger_that_was_used_follows_when_logging_is_configured_anew() -> None:
    log = structlog.get_logger("used.before")
    log.warning("before")
    configure_logging(level=settings.LOG_LEVEL, as_json=False)
    with structlog.testing.capture_logs() as logs:
        log.warning("after")
    assert [entry["event"] for entry in logs] == ["after"]


def test_a_request_is_one_line_with_the_id_that_the_caller_gave(
    lines: Lines, db: None
) -> None:
    answer = Client(headers={"x-request-id": "from-the-proxy"}).get("/login/?next=/x")
    assert answer["X-Request-ID"] == "from-the-proxy"
    (line,) = lines.of("request.done")
    assert line["request_id"] == "from-the-proxy"
    assert (line["method"], line["path"], line["view"]) == ("GET", "/login/", "login")
    assert (line["status"], line["level"]) == (200, "info")
    assert line["seconds"] >= 0
    assert "timestamp" in line


@pytest.mark.parametrize("given", ["short", "with space 123", "x" * 65, 'a"b\\c12345'])
def test_an_id_that_does_not_look_like_one_is_not_taken(
    lines: Lines, db: None, given: str
) -> None:
    answer = Client(headers={"x-request-id": given}).get("/login/")
    assert answer["X-Request-ID"] != given
    assert len(answer["X-Request-ID"]) == 32


def test_each_request_has_an_id_of_its_own(
    lines: Lines, client_of: Callable[..., Client]
) -> None:
    client = client_of("viewer")
    ids = {client.get("/clusters/")["X-Request-ID"] for _ in range(3)}
    assert len(ids) == 3
    assert {line["request_id"] for line in lines.of("request.done")} == ids


def test_requests_in_the_loop_have_one_too(lines: Lines) -> None:
    answer = async_to_sync(AsyncClient().get)("/healthz")
    (line,) = lines.of("request.done")
    assert line["request_id"] == answer["X-Request-ID"]
    assert line["level"] == "debug"


def test_a_request_is_timed_under_the_name_of_its_address(db: None) -> None:
    def count() -> float:
        (family,) = metrics.REQUEST_SECONDS.collect()
        labels = {"view": "login", "method": "GET", "status": "200"}
        return sum(
            sample.value
            for sample in family.samples
            if sample.name.endswith("_count") and sample.labels == labels
        )

    before = count()
    Client().get("/login/")
    assert count() == before + 1


def test_a_task_carries_the_id_of_the_request_that_asked_for_it() -> None:
    """Into the headers of its message, as a worker of another machine gets them."""
    with (
        structlog.contextvars.bound_contextvars(request_id="asked-by-ada"),
        celery_app.connection_for_write() as connection,
    ):
        channel = connection.channel()
        celery_app.send_task(nudge_waiting.name)
        queue = celery_app.amqp.queues[settings.QUEUES.periodic](channel)
        message = queue.get(no_ack=True)
    assert message is not None
    assert message.headers[HEADER] == "asked-by-ada"


def test_what_a_task_logs_carries_its_ids_and_ends_with_a_line(
    lines: Lines, db: None
) -> None:
    done = nudge_waiting.apply(headers={HEADER: "asked-by-ada"})
    (line,) = lines.of("task.done")
    assert line["task"] == "dra_portal.tasks.nudge_waiting"
    assert (line["task_id"], line["outcome"]) == (done.id, "success")
    assert "request_id" not in structlog.contextvars.get_contextvars()


def test_warnings_of_libraries_are_lines_too(lines: Lines) -> None:
    logging.getLogger("py.warnings").warning("old")
    assert lines.of("old")[0]["logger"] == "py.warnings"


def test_nothing_secret_is_written(lines: Lines) -> None:
    log = structlog.get_logger("test")
    log.info("a", token="abc", password="def", headers={"Authorization": "ghi"})
    log.info("b", url="redis://user:jkl@host/0", said="Bearer mnopqrstuvw", n=[1, "x"])
    logging.getLogger("other").warning("connecting to %s", "postgresql://p:jkl@db/x")
    try:
        int("amqp://guest:jkl@host failed")
    except ValueError:
        log.exception("c")
    written = lines.getvalue()
    for secret in ("abc", "def", "ghi", "jkl", "mnop"):
        assert f'"{secret}' not in written
        assert f":{secret}@" not in written
    (line,) = lines.of("b")
    assert line["url"] == "redis://user:***@host/0"
    assert (line["said"], line["n"]) == ("Bearer ***", [1, "x"])
    assert "ValueError" in lines.of("c")[0]["exception"]


@pytest.mark.parametrize("as_json", [True, False])
def test_a_traceback_tells_no_password_either(as_json: bool) -> None:
    configure_logging(level="DEBUG", as_json=as_json)
    handler = logging.getLogger().handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    written = io.StringIO()
    handler.setStream(written)

    def connect() -> None:
        raise ConnectionError("redis://portal:hunter2@queue:6379 is away")

    try:
        connect()
    except ConnectionError:
        structlog.get_logger("told").exception("broker.broke")
    finally:
        configure_logging(level=settings.LOG_LEVEL, as_json=False)
    assert "ConnectionError" in written.getvalue()
    assert "redis://portal:***@queue:6379 is away" in written.getvalue()
    assert "hunter2" not in written.getvalue()
