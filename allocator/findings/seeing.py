"""Whether the mirror shows enough of a cluster to say that something is wrong.

What has not been listed looks as if it did not exist: nothing is said before every kind
has been read once, and nothing that rests on a kind that cannot be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cluster.store import State
from dra.audits import Code
from inventory.models import Cluster, WatchState

NEEDED: Final = frozenset({"ResourceSlice", "ResourceClaim", "DeviceClass"})
"""Without these there is nothing to judge by."""

RESTS_ON: Final[dict[Code, frozenset[str]]] = {
    Code.CLAIM_UNUSED: frozenset({"Pod", "PodGroup"}),
    Code.CLAIM_RESERVED_BY_GONE_POD: frozenset({"Pod"}),
    Code.CLAIM_MISSING_CLASS: frozenset({"DeviceClass"}),
    Code.TEMPLATE_MISSING_CLASS: frozenset({"DeviceClass"}),
    Code.DEVICE_UNPUBLISHED: frozenset({"ResourceSlice"}),
    Code.POD_MISSING_CLAIM: frozenset({"ResourceClaim"}),
    Code.POD_MISSING_TEMPLATE: frozenset({"ResourceClaimTemplate"}),
    Code.POOL_NODE_GONE: frozenset({"Node"}),
}
"""Findings that say that an object of another kind is missing."""

_RARE: Final = frozenset({"PodGroup"})
"""Kinds that few clusters have: a dump without them leaves nothing out."""
_COMING: Final = frozenset({State.STARTING, State.LISTING, State.RETRYING})


@dataclass(frozen=True, slots=True)
class Sight:
    """``waits_for`` is a sentence, empty when a look is possible."""

    waits_for: str
    unseen: frozenset[str]
    """Kinds of which nothing is known."""

    def shows(self, code: Code) -> bool:
        return not RESTS_ON.get(code, frozenset()) & self.unseen


def sight_of(cluster: Cluster) -> Sight:
    """One query."""
    watches = list(WatchState.objects.filter(cluster=cluster))
    if not watches:
        return Sight("The watch has not read this cluster yet.", frozenset())
    unread = {w.kind: w for w in watches if not _has_been_read(w)}
    waiting = sorted(
        kind
        for kind, watch in unread.items()
        if watch.state in _COMING or kind in NEEDED
    )
    if waiting:
        return Sight(
            f"The watch has not listed {', '.join(waiting)} of this cluster yet.",
            frozenset(unread),
        )
    # A dump rarely holds every kind, and does not say which it leaves out.
    left_out = {
        w.kind for w in watches if w.state == State.STATIC and not w.object_count
    } - _RARE
    return Sight("", frozenset(unread) | left_out)


def _has_been_read(watch: WatchState) -> bool:
    if watch.state in (State.NOT_SERVED, State.STATIC, State.LIVE):
        return True
    return watch.listed_at is not None
