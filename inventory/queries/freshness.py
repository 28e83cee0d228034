"""How far the mirror can be trusted right now, in one line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.urls import reverse
from django.utils import timezone

from inventory.choices import Source
from inventory.models import Cluster, WatchState
from web.looks import Tone
from web.pages.cells import span_words

QUIET_AFTER: Final = timedelta(minutes=15)
"""Streams end by themselves within ten minutes: longer silence is no quiet cluster."""

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
    """From the watch states of the cluster (one query)."""
    watches = list(WatchState.objects.filter(cluster=cluster))
    tone, icon, words, title = _judge(cluster, watches, timezone.now())
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


def is_lost(watch: WatchState, now: datetime) -> bool:
    """Whether the watch of this kind cannot be trusted to be up to date."""
    if watch.state in {"not served", "static"}:
        return False
    if watch.state in {"retrying", "forbidden", "stopped"}:
        return True
    return watch.alive_at is not None and now - watch.alive_at > QUIET_AFTER


def _judge(
    cluster: Cluster, watches: list[WatchState], now: datetime
) -> tuple[Tone, str, str, str]:
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
    lost = [watch for watch in watches if is_lost(watch, now)]
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


def _stale(lost: list[WatchState], now: datetime) -> tuple[Tone, str, str, str]:
    since = min((w.alive_at for w in lost if w.alive_at), default=None)
    age = f" {span_words((now - since).total_seconds())}" if since else ""
    names = [plural(w.kind) for w in lost]
    which = names[0] if len(names) == 1 else f"{len(names)} kinds"
    title = " ".join(f"{plural(w.kind)}: {w.error or w.state}." for w in lost[:10])
    return "warn", "alert", f"stale{age}: watch of {which} lost", title


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 10 else span_words(value)
