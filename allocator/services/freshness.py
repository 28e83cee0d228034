"""Whether the mirror may be planned with: old data would book a device twice.

A run waits for a mirror that is behind, up to ``RUN_WATCH_SECONDS`` in all: a watch that
lost its server tries again after ten seconds at most. Two bounds say what is behind.
Every kind that decides has a watch that is live and has shown a sign of life within
``RUN_MIRROR_MAX_AGE`` seconds: API servers send bookmarks about once a minute,
so that cannot be short. Claims say what is taken; where their watch has been silent for
more than ``RUN_SNAPSHOT_SECONDS``, the server is asked for them, and every claim has to
be in the mirror as it is there. One such look serves a process for as long.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from allocator.models import AllocationRun
from allocator.services import awaiting
from claims.models import ResourceClaim
from cluster.errors import ClusterError
from cluster.store import State
from inventory import clients
from inventory.choices import Source
from inventory.models import Cluster, WatchState
from inventory.queries.leaving import why_left
from web import metrics

_POLL_SECONDS: Final = 0.1
_HOLD: Final = 1.0
"""Seconds that a run keeps its worker before it waits in the queue."""
_ASK_SECONDS: Final = 1.0
"""Between two lists of all claims."""
_NEEDED: Final = (
    "ResourceClaim",
    "ResourceSlice",
    "DeviceClass",
    "Node",
    "DeviceTaintRule",
)
_OPTIONAL: Final = "DeviceTaintRule"
"""Not every cluster serves it; one that does may taint any device with it."""

_proved: dict[int, float] = {}
"""By cluster, the monotonic time up to which its claims were seen to be equal."""
_asked: dict[int, tuple[float, Stale]] = {}
"""By cluster, when a look last found a difference, and what it was."""
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Stale:
    """In sentences: what is behind, and what a person can do about it."""

    what: str
    advice: str

    def __str__(self) -> str:
        return f"{self.what} {self.advice}"

    @property
    def awaited(self) -> str:
        """What a run says that waits for the end of it."""
        return f"Waits for the watch. {self.what}"


def await_fresh(
    run: AllocationRun, *, beat: Callable[[], None], proof: bool
) -> Stale | None:
    """None when the mirror will do, else why not, after all the time that there is.

    ``proof``: something is going to be written, so both bounds count. Raises
    RunBusyError for a run that has to wait and still may.
    """
    began = timezone.now()
    stale = look(run.cluster, beat=beat, proof=proof)
    hold_up(run, stale, began=began)
    return stale


def hold_up(run: AllocationRun, stale: Stale | None, *, began: datetime) -> None:
    """Have ``run`` wait for the end of what ``stale`` says, as long as it may."""
    if stale is not None:
        awaiting.give_back(run, stale.awaited, began=began)
    else:
        awaiting.over(run)


def look(cluster: Cluster, *, beat: Callable[[], None], proof: bool) -> Stale | None:
    """As :func:`await_fresh`, after a moment only."""
    deadline = time.monotonic() + min(_HOLD, settings.RUN_WATCH_SECONDS)
    while (why := _why_stale(cluster, proof=proof)) is not None:
        if time.monotonic() >= deadline:
            return why
        time.sleep(_POLL_SECONDS)
        beat()
    return None


def behind(cluster: Cluster) -> Stale | None:
    """As :func:`look` for what writes nothing, without waiting."""
    return _why_stale(cluster, proof=False)


def left(cluster: Cluster) -> Stale | None:
    """None for a cluster that ``clusters.yaml`` names. A slip in that file may be over
    in a moment, so a run waits for its end as for a watch."""
    if (why := why_left(cluster)) == "":
        return None
    return Stale(why, "Start again when it is back.")


def claims_are_followed(cluster: Cluster) -> Stale | None:
    """None while the watch of claims is live, as far as its row tells."""
    if (gone := left(cluster)) is not None:
        return gone
    return _why_not("ResourceClaim", _watches(cluster, kind="ResourceClaim").first())


def forget() -> None:
    """Look again before the next plan."""
    with _lock:
        _proved.clear()
        _asked.clear()


def _watches(cluster: Cluster, **which: str) -> QuerySet[Any]:
    """With ``silent``, the time since the last sign of life or None. The watch has written
    it on another machine, so it is measured by the clock that both share, the database's.
    """
    watches = WatchState.objects.filter(cluster=cluster, **which)
    return watches.annotate(silent=Now() - F("alive_at"))


def _why_stale(cluster: Cluster, *, proof: bool) -> Stale | None:
    if (gone := left(cluster)) is not None:
        return gone
    watches = {w.kind: w for w in _watches(cluster)}
    for kind in _NEEDED:
        if (why := _why_not(kind, watches.get(kind))) is not None:
            return why
    if not proof or cluster.source == Source.DUMP:
        return None
    since = watches["ResourceClaim"].silent
    silent = since.total_seconds() if since is not None else 0.0
    metrics.SNAPSHOT_AGE_SECONDS.observe(silent)
    if silent <= settings.RUN_SNAPSHOT_SECONDS:
        return None
    return _why_unproved(cluster, silent)


def _why_not(kind: str, watch: Any) -> Stale | None:
    if watch and kind == _OPTIONAL and watch.state == State.NOT_SERVED:
        return None
    if watch is None or watch.listed_at is None:
        return Stale(
            f"The mirror has not listed {kind} objects of this cluster yet.",
            "See the cluster's page, and start again when they are there.",
        )
    if watch.state == State.STATIC:
        return None
    if watch.state not in {State.LIVE, State.LISTING}:
        why = f" ({watch.error.rstrip('.')})" if watch.error else ""
        return Stale(
            f"The watch of {kind} is {watch.state}{why}, so the portal does not "
            "know what may be taken.",
            "See the cluster's page, and start again when the watch is live.",
        )
    longest = timedelta(seconds=settings.RUN_MIRROR_MAX_AGE)
    if watch.silent is None or watch.silent > longest:
        minutes = settings.RUN_MIRROR_MAX_AGE // 60
        return Stale(
            f"The watch of {kind} has shown no sign of life for {minutes} minutes, "
            "so the portal does not know what may be taken.",
            "Is the watch running?",
        )
    return None


def _why_unproved(cluster: Cluster, silent: float) -> Stale | None:
    """None when the API server has the claims that the mirror has."""
    with _lock:
        if time.monotonic() < _proved.get(cluster.pk, 0.0):
            return None
        before = _asked.get(cluster.pk)
    if before is not None and time.monotonic() < before[0] + _ASK_SECONDS:
        return before[1]
    asked = time.monotonic()
    quiet = f"The watch of claims has been silent for {silent:.0f} s"
    why = _difference(cluster, quiet)
    with _lock:
        if why:
            _asked[cluster.pk] = (time.monotonic(), why)
        else:
            _proved[cluster.pk] = asked + settings.RUN_SNAPSHOT_SECONDS
    return why


def _difference(cluster: Cluster, quiet: str) -> Stale | None:
    try:
        there = _claims_there(cluster.name)
    except (ClusterError, clients.NoClientError) as error:
        return Stale(
            f"{quiet}, and the API server cannot be asked what is taken now: "
            f"{str(error).rstrip('.')}.",
            "Nothing was written; start again when it answers.",
        )
    here = set(
        ResourceClaim.objects.filter(cluster=cluster).values_list(
            "namespace", "name", "resource_version"
        )
    )
    if there != here:
        return Stale(
            f"{quiet}, and {len(there ^ here):,} claims are not as the API server has "
            "them now, so a device could be booked twice.",
            "Is the watch running? Nothing was written; start again when the watch has "
            "caught up.",
        )
    return None


def _claims_there(cluster_name: str) -> set[tuple[str, str, str]]:
    """Namespace, name and resourceVersion of every claim. Raises ClusterError."""
    client = clients.connected(cluster_name).client
    served = client.discover().get("ResourceClaim")
    if served is None:
        raise ClusterError("it does not serve resourceclaims")
    found: set[tuple[str, str, str]] = set()
    for page in client.list_pages(served):
        for claim in page.items:
            meta = claim.get("metadata") or {}
            found.add(
                (
                    str(meta.get("namespace") or ""),
                    str(meta.get("name") or ""),
                    str(meta.get("resourceVersion") or ""),
                )
            )
    return found
