"""The Celery application. Tasks carry ids, start after commit and call one service."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dra_portal.settings")

app = Celery("dra_portal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_our_logging(**_: object) -> None:
    """Celery must not replace the logging that settings set up."""
