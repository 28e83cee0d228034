"""The nudge stream: "kind X changed, seq N". The browser re-asks for what it shows.

Nothing is rendered here and nothing can be missed for good: a page that
reconnects compares the numbers. One poll per process feeds every open stream
(two cheap queries each second while somebody listens), so the stream works the
same on SQLite in the demo and on PostgreSQL behind several web processes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.db.models import Max
from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import aget_object_or_404
from django.views.decorators.http import require_GET

from allocator.models import RunTransition
from inventory.models import Cluster, WatchState
from web.doors import role_of

POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0
# A stream ends after this long, so that a session that has ended stops being served.
LIFETIME_SECONDS = 600.0

Versions = dict[str, int]


def read_versions() -> dict[int, Versions]:
    """Per cluster id: the newest seq of each mirrored kind and of its runs."""
    versions: dict[int, Versions] = {}
    rows = WatchState.objects.values_list("cluster_id", "kind", "seq")
    for cluster_id, kind, seq in rows:
        versions.setdefault(cluster_id, {})[kind] = seq
    runs = RunTransition.objects.values_list("run__cluster_id").annotate(Max("id"))
    for cluster_id, newest in runs:
        versions.setdefault(cluster_id, {})["AllocationRun"] = newest
    return versions


class Poll:
    """The newest versions, read at most once per POLL_SECONDS for all streams."""

    def __init__(self) -> None:
        self._versions: dict[int, Versions] = {}
        self._read_at = float("-inf")
        self._locks: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}

    async def versions(self, cluster_id: int) -> Versions:
        lock = self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with lock:
            if time.monotonic() - self._read_at >= POLL_SECONDS:
                self._versions = await sync_to_async(read_versions)()
                self._read_at = time.monotonic()
        return self._versions.get(cluster_id, {})


POLL = Poll()


async def nudges(cluster_id: int, lifetime: float) -> AsyncIterator[str]:
    """Server-sent events of one cluster until ``lifetime`` seconds have passed."""
    yield "retry: 3000\n\n"
    seen = await POLL.versions(cluster_id)
    started = quiet_since = time.monotonic()
    while time.monotonic() - started < lifetime:
        await asyncio.sleep(POLL_SECONDS)
        now = await POLL.versions(cluster_id)
        changed = [(kind, seq) for kind, seq in now.items() if seen.get(kind) != seq]
        seen = now
        for kind, seq in changed:
            yield f"event: {kind}\ndata: {seq}\n\n"
        if changed:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since >= HEARTBEAT_SECONDS:
            quiet_since = time.monotonic()
            yield ": still here\n\n"


@require_GET
async def stream(request: HttpRequest, cluster: str) -> StreamingHttpResponse:
    """``GET /events/<cluster>/``: needs a login and the role viewer."""
    user = await request.auser()
    if await sync_to_async(role_of)(user) is None:
        return StreamingHttpResponse(status=403)
    found = await aget_object_or_404(Cluster, name=cluster)
    response = StreamingHttpResponse(
        nudges(found.pk, LIFETIME_SECONDS), content_type="text/event-stream"
    )
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response
