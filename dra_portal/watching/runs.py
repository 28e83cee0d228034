"""What the watch brings of claims that runs work on, as lines of its log.

So one id leads through every log: the request's from web to worker, and with the run's
id to the moment at which the mirror shows what the run wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import structlog
from django.db import Error as DBError
from django.db import connection

from allocator.choices import OPEN
from allocator.models import AllocationRun
from allocator.services.asked import asked_by
from cluster.store import Event, EventType, State, Store

Json = dict[str, Any]
log = structlog.get_logger("dra_portal.watch")


class ClaimsOfRuns:
    """A store of claims that tells of those with an open run, once they are mirrored.

    A list tells nothing: what it brings may be old.
    """

    def __init__(self, store: Store, cluster_id: int, cluster: str) -> None:
        self._store = store
        self._cluster_id = cluster_id
        self._log = log.bind(cluster=cluster)

    def resume_from(self) -> str | None:
        return self._store.resume_from()

    def replace(self, objects: Sequence[Json], resource_version: str) -> None:
        self._store.replace(objects, resource_version)

    def bookmark(self, resource_version: str) -> None:
        self._store.bookmark(resource_version)

    def report(self, state: State, *, api_version: str = "", error: str = "") -> None:
        self._store.report(state, api_version=api_version, error=error)

    def apply(self, events: Sequence[Event], resource_version: str) -> None:
        # A worker that sees them mirrored may end the run before we would look for it.
        lines = self._lines(events)
        self._store.apply(events, resource_version)
        for line in lines:
            self._log.info("watch.claim_of_run", **line)

    def _lines(self, events: Sequence[Event]) -> list[dict[str, Any]]:
        try:
            return list(self._about(events))
        except DBError as error:
            # The mirror gets the events; for want of a line it need not begin anew.
            self._log.warning("watch.runs_not_told", reason=str(error))
            if not connection.in_atomic_block:
                connection.close()
            return []

    def _about(self, events: Sequence[Event]) -> Iterator[dict[str, Any]]:
        newest = {_key(event.object): event for event in events}
        runs = AllocationRun.objects.filter(
            cluster=self._cluster_id,
            state__in=OPEN,
            dry_run=False,
            claim_name__in={name for _, name in newest},
        )
        for run in runs.only("pk", "namespace", "claim_name", "claim_uid"):
            event = newest.get((run.namespace, run.claim_name))
            if event is not None:
                yield {"run": str(run.pk), **asked_by(run.pk), **_seen(event)}


def _key(claim: Json) -> tuple[str, str]:
    meta = claim.get("metadata") or {}
    return str(meta.get("namespace") or ""), str(meta.get("name") or "")


def _seen(event: Event) -> dict[str, Any]:
    claim = event.object
    status = claim.get("status")
    status = status if isinstance(status, dict) else {}
    reserved = status.get("reservedFor")
    return {
        "claim": "/".join(_key(claim)),
        "resource_version": (claim.get("metadata") or {}).get("resourceVersion"),
        "deleted": event.type is EventType.DELETED,
        "allocated": bool(status.get("allocation")),
        "reserved_for": len(reserved) if isinstance(reserved, list) else 0,
    }
