"""Where tasks go, how long they may take, and what the clock asks for."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings

from dra_portal import celery_app
from dra_portal.queues import PERIODS, RUN, WAITING, Queues, visibility_seconds

celery_app.loader.import_default_modules()
TASKS: dict[str, Any] = celery_app.tasks
OURS = sorted(name for name in TASKS if not name.startswith("celery."))


@pytest.mark.parametrize("name", OURS)
def test_every_task_has_a_queue_of_its_own_and_is_told_before_it_is_killed(
    name: str,
) -> None:
    route = celery_app.amqp.router.route({}, name)
    assert route["queue"].name in settings.QUEUES.names[1:]
    task, conf = TASKS[name], celery_app.conf
    hard = task.time_limit or conf.task_time_limit
    assert (task.soft_time_limit or conf.task_soft_time_limit) < hard
    assert hard <= settings.TASK_SECONDS


def test_runs_planning_and_the_clock_do_not_wait_for_each_other() -> None:
    routes = Queues("portal").routes()
    assert routes[RUN]["queue"] == "portal.write"
    assert routes[WAITING]["queue"] == "portal.plan"
    assert {routes[name]["queue"] for name in PERIODS} == {"portal.periodic"}


def test_a_worker_without_a_choice_takes_from_every_queue() -> None:
    assert set(celery_app.amqp.queues.consume_from) == set(settings.QUEUES.names)


def test_a_message_is_not_given_away_while_its_task_may_still_run() -> None:
    wait = settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"]
    assert wait > settings.TASK_SECONDS + settings.RUN_LEASE_SECONDS
    assert visibility_seconds(run=10_000, lease=1) > 10_000


def test_a_run_whose_worker_was_killed_goes_back_to_the_queue() -> None:
    task = TASKS[RUN]
    assert (task.acks_late, task.reject_on_worker_lost) == (True, True)
    assert (task.acks_on_timeout, task.acks_on_failure) == (False, True)
    assert TASKS["allocator.tasks.sweep_runs"].acks_on_timeout


def test_results_are_not_kept_and_only_json_is_read() -> None:
    assert celery_app.conf.result_backend is None
    assert celery_app.conf.accept_content == ["json"]


def test_what_nobody_took_in_time_is_dropped() -> None:
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert entry["options"]["expires"] <= entry["schedule"] <= 3600
