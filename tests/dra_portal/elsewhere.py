"""Another process of the portal, as far as its tasks go: our queues, a broker of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from celery import Celery

from dra_portal import celery_app


@contextmanager
def app_at(url: str) -> Iterator[Celery]:
    """Tasks that are sent by this name alone go to ``url`` meanwhile, too."""
    app = Celery("elsewhere", broker=url)
    app.conf.update({
        key: celery_app.conf[key]
        for key in (
            "task_default_queue", "task_queues", "task_routes",
            "task_publish_retry_policy", "broker_transport_options",
        )
    })  # fmt: skip
    app.set_current()
    try:
        yield app
    finally:
        celery_app.set_current()
        app.close()
