"""The answer to "why does it wait", with a deadline, kept while nothing changes."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from claims.explaining.subjects import Subject
from dra.allocation.explaining import Explanation, explain
from dra.allocation.quirks import Mode
from dra.cel.selection import Stop
from dra.snapshot import Snapshot
from inventory.models import Cluster

SECONDS: Final = 2.0
"""How long one evaluation for a page or an endpoint may take."""
KEPT: Final = 256
"""Answers that a process keeps."""
PATIENCE: Final = 10.0
"""A page may show an answer for this many times as long as finding it took."""


@dataclass(frozen=True, slots=True)
class Explained:
    """``at`` is when it was found out, ``current`` whether nothing changed since."""

    explanation: Explanation
    subject: Subject
    at: datetime
    seconds: float
    current: bool = True


class _Slot:
    """The newest answer to one question; who asks meanwhile waits for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.found: Explained | None = None


_slots: OrderedDict[tuple[object, ...], _Slot] = OrderedDict()
_slots_lock = threading.Lock()


def explained(
    cluster: Cluster,
    snapshot: Snapshot,
    subject: Subject,
    *,
    quirks: Mode = "none",
    patient: bool = False,
    seconds: float = SECONDS,
) -> Explained:
    """Why the claims of ``subject`` fit or not, found out within ``seconds``.

    The answer is that of ``snapshot``. ``patient``: on a cluster that changes all the
    time an older one will do, so that a page that is open does not keep a processor
    busy; it is not ``current`` then.
    """
    slot = _slot((cluster.pk, cluster.gates, quirks, *subject.key))
    with slot.lock:
        found = slot.found
        if found is not None and found.explanation.seq == snapshot.seq:
            return found
        if found is not None and patient and _age(found) < found.seconds * PATIENCE:
            return Explained(
                found.explanation, found.subject, found.at, found.seconds, current=False
            )
        started = time.monotonic()
        slot.found = Explained(
            explanation=_asked(cluster, snapshot, subject, quirks, seconds),
            subject=subject,
            at=timezone.now(),
            seconds=time.monotonic() - started,
        )
        return slot.found


def sentence_of(
    cluster: Cluster, snapshot: Snapshot, subject: Subject, *, seconds: float
) -> Explanation:
    """The verdict and its sentence alone, for a list: no relaxations, not kept."""
    slot = _peek((cluster.pk, cluster.gates, "none", *subject.key))
    if slot is not None and slot.found is not None:
        found = slot.found.explanation
        if found.seq == snapshot.seq:
            return found
    return explain(
        snapshot,
        subject.claims,
        node_names=subject.node_names,
        features=cluster.features,
        relax=False,
        compare=False,
        stop=deadline(seconds),
    )


def forget() -> None:
    """Drop every answer that this process keeps."""
    with _slots_lock:
        _slots.clear()


def deadline(seconds: float) -> Stop:
    """True when ``seconds`` have passed since now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def _asked(
    cluster: Cluster, snapshot: Snapshot, subject: Subject, quirks: Mode, seconds: float
) -> Explanation:
    return explain(
        snapshot,
        subject.claims,
        node_names=subject.node_names,
        features=cluster.features,
        quirks=quirks,
        stop=deadline(seconds),
    )


def _age(found: Explained) -> float:
    return (timezone.now() - found.at).total_seconds()


def _slot(key: tuple[object, ...]) -> _Slot:
    with _slots_lock:
        slot = _slots.setdefault(key, _Slot())
        _slots.move_to_end(key)
        while len(_slots) > KEPT:
            _slots.popitem(last=False)
        return slot


def _peek(key: tuple[object, ...]) -> _Slot | None:
    with _slots_lock:
        return _slots.get(key)
