"""One transaction of the mirror: who may write, and which ``seq`` a change gets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError, connection, transaction

from inventory.models import Cluster, WatchState

_ONE_WRITER = threading.RLock()


class Guard:
    """Decides whether a write may go on. This one lets everything pass.

    Both methods raise to roll the open transaction back.
    """

    def fence(self) -> None:
        """First and last in each transaction: is this process still the writer?"""

    def check(self) -> None:
        """Between the steps of a long transaction: is there a reason to give up?"""


ALWAYS = Guard()
"""For somebody who writes alone."""


class ClusterGoneError(Exception):
    """The cluster's row was removed while its mirror was about to be written."""


class Writer:
    """What a step of one open transaction needs: the cluster, ``seq``, the guard.

    ``start_seq`` is the cluster's ``seq`` before the transaction, so a row with a
    greater one was already written in it and needs no second number.
    """

    def __init__(self, *, cluster_id: int, seq: int, guard: Guard) -> None:
        self.cluster_id = cluster_id
        self.start_seq = seq
        self.seq = seq
        self.guard = guard
        self._newest: dict[str, int] = {}

    def next_seq(self, kind: str) -> int:
        """The number of the next change; ``kind`` is whose page shows the change."""
        self.seq += 1
        self._newest[kind] = self.seq
        return self.seq

    def save(self) -> None:
        """Write the numbers used to the cluster and to the watch state of each kind."""
        if self.seq == self.start_seq:
            return
        Cluster.objects.filter(pk=self.cluster_id).update(seq=self.seq)
        for kind, seq in self._newest.items():
            WatchState.objects.filter(cluster_id=self.cluster_id, kind=kind).update(
                seq=seq
            )


@contextmanager
def writing(cluster_id: int, guard: Guard = ALWAYS) -> Iterator[Writer]:
    """A transaction that owns the cluster's ``seq`` until it ends.

    1. One writer per process at a time (SQLite has one per database anyway).
    2. The cluster's row is locked, so ``seq`` grows in the order of the commits and
       a reader never sees a number before all smaller ones.
    3. The guard's fence is asked first and last: whoever lost the watch lock in
       between rolls back.

    A connection that broke is closed, so that the next attempt opens a new one.
    """
    try:
        with _ONE_WRITER, transaction.atomic():
            guard.fence()
            seq = (
                Cluster.objects.select_for_update()
                .filter(pk=cluster_id)
                .values_list("seq", flat=True)
                .first()
            )
            if seq is None:
                raise ClusterGoneError(f"Cluster {cluster_id} is no longer mirrored.")
            writer = Writer(cluster_id=cluster_id, seq=seq, guard=guard)
            yield writer
            writer.save()
            guard.fence()
    except (OperationalError, InterfaceError):
        if not connection.in_atomic_block:
            connection.close()
        raise


@contextmanager
def idle_writer() -> Iterator[bool]:
    """True while no other thread of this process is in :func:`writing`; never waits."""
    free = _ONE_WRITER.acquire(blocking=False)
    try:
        yield free
    finally:
        if free:
            _ONE_WRITER.release()
