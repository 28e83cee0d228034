"""Snapshots and device tables are made before somebody waits for them.

A snapshot of 5,000 nodes takes seconds, its device table the better part of one, the
states of its devices some tenths, what each node sees of the pools one more second. A web process makes them for every cluster when it
starts, and again in the background when slices have changed; whoever asks meanwhile
waits as without this.
"""

from __future__ import annotations

import threading

import structlog
from django.conf import settings
from django.db import DatabaseError, close_old_connections

from allocator import snapshots
from dra.allocation.explaining import prepare
from dra.device_states import table_states
from inventory.models import Cluster, WatchState
from inventory.selecting import features_of

log = structlog.get_logger("dra_portal.warming")


class Warmer:
    """One thread that looks every ``seconds`` whether slices have changed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.warmed: dict[int, int] = {}
        """Per cluster the ``seq`` of its slices that this process is ready for."""
        self._stopping = threading.Event()
        # A daemon: a process that ends does not wait for it.
        self._thread = threading.Thread(target=self._run, name="warming", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the thread has ended."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                self.step()
            except DatabaseError as error:
                log.warning("warming_failed", error=str(error))
            finally:
                close_old_connections()
            if self._stopping.wait(self._seconds):
                return

    def step(self) -> list[str]:
        """Make what is not there or has changed; the names of these clusters."""
        done = []
        for cluster_id, seq in self._slices():
            if self.warmed.get(cluster_id) == seq or self._stopping.is_set():
                continue
            cluster = Cluster.objects.filter(pk=cluster_id).first()
            if cluster is None:
                continue
            try:
                snapshot = snapshots.current(cluster)
            except Cluster.DoesNotExist:
                continue
            snapshot.devices(lists=features_of(cluster).list_type_attributes)
            table_states(snapshot)
            prepare(snapshot, features=cluster.features)
            self.warmed[cluster_id] = seq
            done.append(cluster.name)
        return done

    def _slices(self) -> list[tuple[int, int]]:
        """Per cluster the ``seq`` of the last change of a slice."""
        rows = WatchState.objects.filter(kind="ResourceSlice", cluster__left_at=None)
        return list(rows.values_list("cluster_id", "seq"))


def start() -> Warmer | None:
    """Keep this process warm; None where ``DRA_PORTAL_WARM_SECONDS`` is 0."""
    if not settings.WARM_SECONDS:
        return None
    warmer = Warmer(settings.WARM_SECONDS)
    warmer.start()
    return warmer
