"""Tasks for a worker that a test starts with ``--include``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from celery import shared_task
from django.db import connection

AS_A_RUN: dict[str, Any] = {"acks_late": True, "acks_on_timeout": False}


@shared_task(name="tests.stuck", time_limit=3, soft_time_limit=2, **AS_A_RUN)
def stuck(folder: str) -> None:
    """Notes each delivery; the first one never ends. For workers that are deaf."""
    notes = Path(folder) / "deliveries"
    with notes.open("a") as file:
        file.write("x")
    if notes.stat().st_size == 1:
        while True:
            time.sleep(60)


@shared_task(name="tests.backend")
def backend(notes: str) -> None:
    """Notes the process that it runs in and the one of the database that serves it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (served_by,) = cursor.fetchone()
    with Path(notes).open("a") as file:
        file.write(f"{os.getpid()} {served_by}\n")
