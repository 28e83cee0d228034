"""The nudge stream: "kind X changed, seq N". The browser re-asks for what it shows.

Nothing is rendered here and nothing is missed: a page opens the stream with
``?since=`` the mark it was made at, a browser that reconnects sends the id of the
last event, and what is newer than that is told at once. One poll per process
feeds every open stream (three cheap queries each second while somebody listens), so
it works the same on SQLite in the demo and on PostgreSQL behind several web
processes.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

from asgiref.sync import sync_to_async
from django.contrib.auth.decorators import login_not_required
from django.db import close_old_connections
from django.db.models import Max
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import aget_object_or_404
from django.views.decorators.http import require_GET
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from allocator.models import FindingPass, RunTransition
from inventory.models import Cluster, WatchState
from web.api.authentication import TokenAuthentication
from web.doors import role_of
from web.problem_json import problem
from web.tokens import role_with

POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0
# A stream ends after this long, so that a session that has ended stops being served.
LIFETIME_SECONDS = 600.0

Versions = dict[str, int]
RUNS = "AllocationRun"
"""The kind under which transitions of runs are told."""
FINDINGS = "Finding"
"""The kind under which changes of what is wrong are told."""


def read_versions() -> dict[int, Versions]:
    """Per cluster id: the newest seq of each mirrored kind, of its runs and findings."""
    versions: dict[int, Versions] = {}
    rows = WatchState.objects.values_list("cluster_id", "kind", "seq")
    for cluster_id, kind, seq in rows:
        versions.setdefault(cluster_id, {})[kind] = seq
    runs = RunTransition.objects.values_list("run__cluster_id").annotate(Max("id"))
    for cluster_id, newest in runs:
        versions.setdefault(cluster_id, {})[RUNS] = newest
    passes = FindingPass.objects.filter(changes__gt=0)
    for cluster_id, changes in passes.values_list("pk", "changes"):
        versions.setdefault(cluster_id, {})[FINDINGS] = changes
    return versions


def _read_and_let_go() -> dict[int, Versions]:
    """Each stream has a thread of its own: its connection would wait there for minutes."""
    try:
        return read_versions()
    finally:
        close_old_connections()


class Poll:
    """The newest versions, read at most once per POLL_SECONDS for all streams."""

    def __init__(self) -> None:
        self._versions: dict[int, Versions] = {}
        self._read_at = float("-inf")
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    async def versions(self, cluster_id: int, every: float) -> Versions:
        """Those of one cluster, ``every`` seconds old at most."""
        lock = self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with lock:
            if time.monotonic() - self._read_at >= every:
                self._versions = await sync_to_async(_read_and_let_go)()
                self._read_at = time.monotonic()
        return self._versions.get(cluster_id, {})


POLL = Poll()


_MARK = re.compile(r"(\d{1,18})\.(\d{1,18})\.(\d{1,18})")


class Mark(NamedTuple):
    """How far somebody has seen: the cluster's ``seq``, its newest run transition, and
    how often its findings had changed."""

    seq: int
    run: int
    finding: int = 0

    @classmethod
    def read(cls, text: str) -> Mark | None:
        """Of ``seq.run.finding``; None for anything else."""
        found = _MARK.fullmatch(text)
        return cls(*map(int, found.groups())) if found else None

    @classmethod
    def of(cls, versions: Versions) -> Mark:
        own = {RUNS, FINDINGS}
        mirrored = [seq for kind, seq in versions.items() if kind not in own]
        return cls(
            max(mirrored, default=0), versions.get(RUNS, 0), versions.get(FINDINGS, 0)
        )

    def __str__(self) -> str:
        return f"{self.seq}.{self.run}.{self.finding}"

    def newer(self, versions: Versions) -> list[str]:
        """The kinds that changed after this mark."""
        known = {RUNS: self.run, FINDINGS: self.finding}
        return [
            kind for kind, seq in versions.items() if seq > known.get(kind, self.seq)
        ]


async def nudges(
    cluster_id: int,
    lifetime: float,
    *,
    since: Mark | None = None,
    every: float = POLL_SECONDS,
) -> AsyncIterator[str]:
    """Server-sent events of one cluster until ``lifetime`` seconds have passed.

    First what is newer than ``since`` (None: nothing is), then every change as it
    comes; looks ``every`` so many seconds.
    """
    yield "retry: 3000\n\n"
    mark = since or Mark.of(await POLL.versions(cluster_id, every))
    started = quiet_since = time.monotonic()
    while time.monotonic() - started < lifetime:
        now = await POLL.versions(cluster_id, every)
        changed = mark.newer(now)
        mark = Mark.of(now)
        for kind in changed:
            yield f"id: {mark}\nevent: {kind}\ndata: {now[kind]}\n\n"
        if changed:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since >= HEARTBEAT_SECONDS:
            quiet_since = time.monotonic()
            yield ": still here\n\n"
        await asyncio.sleep(every)


def _refusal(request: HttpRequest) -> HttpResponse | None:
    """The answer to whoever may not listen; None for everybody with a role."""
    try:
        known = TokenAuthentication().authenticate(Request(request))
    except AuthenticationFailed as failure:
        return _not_signed_in(str(failure.detail))
    if known is not None:
        return None if role_with(known[1]) else HttpResponse(status=403)
    if not request.user.is_authenticated:
        return _not_signed_in("Sign in, or send an API token as Bearer.")
    return None if role_of(request.user) else HttpResponse(status=403)


def _not_signed_in(sentence: str) -> HttpResponse:
    return problem(401, sentence, {"WWW-Authenticate": TokenAuthentication.keyword})


@login_not_required  # it asks itself: tools have tokens, and no login page helps them
@require_GET
async def stream(
    request: HttpRequest, cluster: str
) -> StreamingHttpResponse | HttpResponse:
    """``GET /events/<cluster>/?since=<mark>`` for the role viewer: a session, or an API
    token as Bearer."""
    if refused := await sync_to_async(_refusal)(request):
        return refused
    found = await aget_object_or_404(Cluster, name=cluster)
    await sync_to_async(close_old_connections)()
    seen = request.headers.get("Last-Event-ID") or request.GET.get("since", "")
    response = StreamingHttpResponse(
        nudges(found.pk, LIFETIME_SECONDS, since=Mark.read(seen)),
        content_type="text/event-stream",
    )
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response
