"""How the word of a state looks: its tone and its icon, the same on every page.

One table, so that "pending" cannot be blue here and grey there. A word that is not
in it is shown plainly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Tone = Literal["ok", "info", "warn", "bad", "busy", "muted", "plain"]


@dataclass(frozen=True, slots=True)
class Look:
    """``icon`` is an id of ``static/icons.svg``."""

    tone: Tone
    icon: str


PLAIN: Final = Look("plain", "dot")

LOOKS: Final[dict[str, Look]] = {
    # devices
    "free": Look("ok", "circle"),
    "in use": Look("info", "circle-filled"),
    "shared": Look("busy", "circle-half"),
    "blocked": Look("muted", "circle-slash"),
    "blocked by counters": Look("muted", "circle-slash"),
    "tainted": Look("warn", "flag"),
    "incomplete": Look("warn", "puzzle"),
    "pool incomplete": Look("warn", "puzzle"),
    "invalid": Look("bad", "alert"),
    "pool invalid": Look("bad", "alert"),
    "unpublished": Look("warn", "ghost"),
    # pools, nodes, watches, clusters
    "complete": Look("ok", "check"),
    "ready": Look("ok", "check"),
    "not ready": Look("bad", "alert"),
    "cordoned": Look("warn", "pause"),
    "live": Look("ok", "pulse"),
    "watching": Look("ok", "pulse"),
    "starting": Look("muted", "clock"),
    "listing": Look("busy", "refresh"),
    "waiting": Look("warn", "clock"),
    "stale": Look("warn", "clock"),
    "error": Look("bad", "alert"),
    "dump": Look("muted", "file"),
    "not served": Look("muted", "circle-slash"),
    "read-only": Look("muted", "lock"),
    "not in clusters.yaml": Look("warn", "alert"),
    "unreadable": Look("bad", "alert"),
    # claims and pods
    "pending": Look("warn", "clock"),
    "allocated": Look("info", "check"),
    "reserved": Look("info", "bookmark"),
    "deleting": Look("muted", "trash"),
    "Pending": Look("warn", "clock"),
    "Running": Look("ok", "play"),
    "Succeeded": Look("muted", "check"),
    "Failed": Look("bad", "alert"),
    "Unknown": Look("warn", "alert"),
    # runs
    "queued": Look("muted", "clock"),
    "planning": Look("busy", "refresh"),
    "writing": Look("busy", "refresh"),
    "verifying": Look("busy", "refresh"),
    "done": Look("ok", "check"),
    "no fit": Look("warn", "circle-slash"),
    "does not fit": Look("warn", "circle-slash"),
    "conflict": Look("warn", "alert"),
    "failed": Look("bad", "alert"),
    "cancelled": Look("muted", "circle-slash"),
    # findings
    "warning": Look("warn", "flag"),
    "info": Look("info", "info"),
    "ended": Look("ok", "check"),
    "acknowledged": Look("muted", "bookmark"),
    # taint effects
    "NoSchedule": Look("warn", "flag"),
    "NoExecute": Look("bad", "flag"),
    "None": Look("muted", "flag"),
    # tokens
    "valid": Look("ok", "check"),
    "revoked": Look("muted", "circle-slash"),
    "expired": Look("muted", "clock"),
}


def look_of(word: str) -> Look:
    return LOOKS.get(word, PLAIN)
