"""The record of who wrote what: a row for each attempt, and an end to it."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from claims.choices import Verb
from claims.models import ObjectWrite
from inventory.models import Cluster

log = structlog.get_logger("claims.objects")

MAX_ROWS: Final = 20_000
"""Per cluster; beyond it the oldest go."""
DRY_RUN_DAYS: Final = 7
_TIDY_EVERY: Final = 50
_LENGTHS: Final = {"user": 150, "kind": 63, "namespace": 63, "name": 253, "uid": 64}


def record(
    *, cluster: Cluster, verb: Verb, dry_run: bool, outcome: str, **texts: str
) -> None:
    """Keep one attempt. ``texts``: user, kind, namespace, name, uid.

    Never raises what the database does: the write itself has happened.
    """
    fitting = {field: _fit(text, _LENGTHS[field]) for field, text in texts.items()}
    try:
        with transaction.atomic():
            row = ObjectWrite.objects.create(
                cluster=cluster,
                verb=verb,
                dry_run=dry_run,
                outcome=outcome,
                at=timezone.now(),
                **fitting,
            )
            if row.pk % _TIDY_EVERY == 0:
                tidy(cluster)
    except DatabaseError:
        log.exception("object.not_recorded", cluster=cluster.name, outcome=outcome)


def tidy(cluster: Cluster) -> None:
    """Drop what is older than kept, and what is more than kept."""
    rows = ObjectWrite.objects.filter(cluster=cluster)
    now = timezone.now()
    rows.filter(at__lt=now - timedelta(days=settings.WRITE_RECORD_DAYS)).delete()
    rows.filter(dry_run=True, at__lt=now - timedelta(days=DRY_RUN_DAYS)).delete()
    if last := rows.order_by("-at", "-pk")[MAX_ROWS : MAX_ROWS + 1].first():
        rows.filter(at__lte=last.at).delete()


def _fit(text: str, most: int) -> str:
    return text.encode(errors="replace").decode().replace("\0", "�")[:most]
