"""The Celery application. Tasks carry ids, start after commit and call one service."""

from __future__ import annotations

import os
from typing import Any, Final

from celery import Celery
from celery.signals import celeryd_init, setup_logging, task_prerun
from django.db import connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dra_portal.settings")

_DATABASE_SECONDS: Final = 300
"""For which a worker keeps its connection to the database."""

app = Celery("dra_portal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].add("dra_portal.alive:WorkerAlive")


@setup_logging.connect
def keep_our_logging(**_: object) -> None:
    """Celery must not replace the logging that settings set up."""


@celeryd_init.connect
def be_patient(conf: Any, **_: object) -> None:
    """Nobody looks at a page that waits for a worker, and a worker that gave up a broker
    which is only busy would have to find it again."""
    conf.broker_transport_options = {
        **conf.broker_transport_options,
        "socket_connect_timeout": 5,
        "socket_timeout": 30,
    }


@celeryd_init.connect
def keep_the_database(**_: object) -> None:
    """From task to task: to connect anew took as long as some of them.

    Not for the web, where each request may have a thread of its own.
    """
    for one in connections.settings.values():
        one["CONN_MAX_AGE"] = _DATABASE_SECONDS


@task_prerun.connect
def look_at_the_database(task: Any, **_: object) -> None:
    """A connection that has broken between two tasks costs none of them.

    A task that is called in place has that of its caller, who may be in a transaction.
    """
    if task.request.is_eager:
        return
    for one in connections.all(initialized_only=True):
        one.close_if_unusable_or_obsolete()
