"""The gallery of each cluster, made once and kept while the cluster stays as it is.

Which examples there are depends on devices, classes, taint rules, nodes, namespaces
and templates (and on configuration in claims, which is not watched); whether they fit now on what is in use. Only the second part is found out
again when claims come and go.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from claims.authoring.checking import gates_of
from claims.authoring.gallery.cookbook import cooked
from claims.authoring.gallery.examples import Draft, Example, kinds_of
from claims.authoring.gallery.likely import likely_nodes
from claims.authoring.gallery.proving import placed, proof_of
from claims.authoring.gallery.scene import Scene
from dra.allocation import Features, Fits
from dra.snapshot import Snapshot
from inventory.models import Cluster

KEPT: Final = 32
"""Clusters whose gallery a process keeps."""
PATIENCE: Final = 20.0
"""A gallery may be shown for this many times as long as making it took."""

type _Parts = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A gallery, and what it was made of."""

    seq: int
    parts: _Parts
    cooked: list[tuple[Draft, Fits]]
    examples: list[Example]
    at: float
    seconds: float

    @property
    def is_young(self) -> bool:
        return time.monotonic() - self.at < self.seconds * PATIENCE


class _Slot:
    """The newest gallery of one cluster; who asks meanwhile waits for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: _Kept | None = None


_slots: OrderedDict[tuple[object, ...], _Slot] = OrderedDict()
_slots_lock: Final = threading.Lock()


def gallery(cluster: Cluster, snapshot: Snapshot) -> list[Example]:
    """Working examples for what this cluster has, always in the same order.

    Every one is accepted by the API server and was placed by the engine on a node of
    the cluster as if nothing were in use. On a cluster that changes all the time the
    answer may be a little older than ``snapshot``.
    """
    slot = _slot((cluster.pk, cluster.gates))
    with slot.lock:
        kept = slot.kept
        if kept is None or (kept.seq != snapshot.seq and not kept.is_young):
            kept = slot.kept = _made(cluster, snapshot, kept)
        return list(kept.examples)


def forget() -> None:
    """Drop every gallery that this process keeps."""
    with _slots_lock:
        _slots.clear()


def _slot(key: tuple[object, ...]) -> _Slot:
    with _slots_lock:
        slot = _slots.setdefault(key, _Slot())
        _slots.move_to_end(key)
        while len(_slots) > KEPT:
            _slots.popitem(last=False)
        return slot


def _made(cluster: Cluster, snapshot: Snapshot, before: _Kept | None) -> _Kept:
    started = time.monotonic()
    features = cluster.features
    parts = _parts(snapshot)
    if before is not None and _same(before.parts, parts):
        found = before.cooked
    else:
        found = cooked(Scene(snapshot, features, gates_of(cluster)))
    examples = [_example(draft, fits, snapshot, features) for draft, fits in found]
    ended = time.monotonic()
    return _Kept(snapshot.seq, parts, found, examples, ended, ended - started)


def _parts(snapshot: Snapshot) -> _Parts:
    return (
        snapshot.pools,
        snapshot.classes,
        snapshot.taint_rules,
        snapshot.nodes,
        snapshot.namespaces,
        snapshot.templates,
    )


def _same(before: _Parts, now: _Parts) -> bool:
    return all(a is b for a, b in zip(before, now, strict=True))


def _example(
    draft: Draft, first: Fits, snapshot: Snapshot, features: Features
) -> Example:
    likely = likely_nodes(snapshot, draft, features, free=True)
    return Example(
        code=draft.code,
        title=draft.title,
        sentence=draft.sentence,
        kinds=kinds_of(draft.documents),
        documents=draft.documents,
        tags=draft.tags,
        drivers=draft.drivers,
        proof=proof_of(first, placed(snapshot, draft, features, likely)),
    )
