"""How far the mirror can be trusted right now, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Subquery
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from inventory.choices import Source
from inventory.models import Cluster, WatchLock, WatchState
from inventory.queries.leaving import why_left
from web.looks import Tone
from web.pages.cells import span_words

HEARTBEAT_WITHIN: Final = timedelta(seconds=30)
"""The watch shows every five seconds that it lives. While it writes a long list it does
not, and then the tables are not up to date either."""

_PLURALS: Final = {
    "DeviceClass": "deviceclasses",
    "PodGroup": "podgroups",
}


@dataclass(frozen=True, slots=True)
class Freshness:
    """``words`` for the top bar, ``title`` for the whole story."""

    tone: Tone
    icon: str
    words: str
    title: str
    href: str
    """Gives the line anew."""
    page: str
    """Shows the state of each watch."""


def freshness(cluster: Cluster) -> Freshness:
    """From the watch states of the cluster and the watch's heartbeat (one query)."""
    beats = WatchLock.objects.order_by("-heartbeat").values("heartbeat")[:1]
    found = WatchState.objects.filter(cluster=cluster).annotate(beat=Subquery(beats))
    watches = list(found)
    heartbeat = watches[0].beat if watches else None
    tone, icon, words, title = _judge(cluster, watches, heartbeat, timezone.now())
    return Freshness(
        tone=tone,
        icon=icon,
        words=words,
        title=title,
        href=reverse("freshness", args=[cluster.name]),
        page=f"{reverse('clusters')}#{cluster.name}",
    )


def plural(kind: str) -> str:
    """``ResourceSlice`` → ``resourceslices``, as kubectl names it."""
    return _PLURALS.get(kind, f"{kind.lower()}s")


def is_lost(watch: WatchState) -> bool:
    """Whether the watch of this kind says itself that it is not up to date.

    That holds as long as its process lives (:func:`watch_lives`). How long it has
    heard nothing says nothing: a quiet cluster has no news.
    """
    return watch.state in {"retrying", "forbidden", "stopped"}


def watch_lives() -> bool:
    """Whether a watch process has just shown that it lives; one that died has not."""
    return WatchLock.objects.filter(heartbeat__gt=Now() - HEARTBEAT_WITHIN).exists()


def _judge(
    cluster: Cluster,
    watches: Sequence[WatchState],
    heartbeat: datetime | None,
    now: datetime,
) -> tuple[Tone, str, str, str]:
    if cluster.left_at is not None:
        gone = span_words((now - cluster.left_at).total_seconds())
        return "bad", "alert", f"not followed for {gone}", why_left(cluster)
    if cluster.error:
        return "bad", "alert", "not connected", cluster.error
    if not watches:
        return (
            "warn",
            "clock",
            "nothing mirrored yet",
            "The watch has not read this cluster. Start it: manage.py watch.",
        )
    if cluster.source == Source.DUMP or all(w.state == "static" for w in watches):
        read_at = max((w.listed_at for w in watches if w.listed_at), default=None)
        ago = f" {span_words((now - read_at).total_seconds())} ago" if read_at else ""
        return "muted", "file", f"dump, read{ago}", "Read once from a file; read-only."
    if heartbeat is None or heartbeat <= now - HEARTBEAT_WITHIN:
        return _dead(watches, heartbeat, now)
    lost = [watch for watch in watches if is_lost(watch)]
    if lost:
        return _stale(lost, now)
    starting = [w for w in watches if w.state in {"starting", "listing"}]
    if starting:
        kinds = ", ".join(plural(w.kind) for w in starting)
        return "muted", "clock", "reading the cluster", f"Being listed: {kinds}."
    newest = max((w.alive_at for w in watches if w.alive_at), default=None)
    if newest is None:
        return "muted", "clock", "waiting for news", "No watch has reported yet."
    behind = max(0.0, (now - newest).total_seconds())
    return (
        "ok",
        "pulse",
        f"live, heard {_seconds(behind)} ago",
        "Every watch is connected. The time is that of the last event or bookmark.",
    )


def _dead(
    watches: Sequence[WatchState], heartbeat: datetime | None, now: datetime
) -> tuple[Tone, str, str, str]:
    """Nobody has followed the cluster since the last sign of life of any kind."""
    signs = [w.alive_at for w in watches if w.alive_at]
    since = max([*signs, *([heartbeat] if heartbeat else [])], default=None)
    age = f" {span_words((now - since).total_seconds())}" if since else ""
    seconds = int(HEARTBEAT_WITHIN.total_seconds())
    return (
        "warn",
        "alert",
        f"stale{age}: the watch does not run",
        f"No watch process has shown for {seconds} seconds that it lives, so what changes "
        "in the cluster does not come here. Start it: manage.py watch.",
    )


def _stale(lost: list[WatchState], now: datetime) -> tuple[Tone, str, str, str]:
    since = min((w.alive_at for w in lost if w.alive_at), default=None)
    age = f" {span_words((now - since).total_seconds())}" if since else ""
    names = [plural(w.kind) for w in lost]
    which = names[0] if len(names) == 1 else f"{len(names)} kinds"
    title = " ".join(f"{plural(w.kind)}: {w.error or w.state}." for w in lost[:10])
    return "warn", "alert", f"stale{age}: watch of {which} lost", title


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 10 else span_words(value)
