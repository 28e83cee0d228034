"""The one process that keeps the mirror of every cluster: what ``manage.py watch`` runs.

:class:`Watching` can be started from Python too. Threads: one per cluster, below it
one per kind; the thread that calls ``run`` holds the lock and looks at
``clusters.yaml``. They share nothing but the database and two events.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import structlog
from django.db import Error as DBError
from django.db import connection, connections

from allocator.findings.nudging import FindingNudge
from cluster.backoff import Backoff
from cluster.config import ClusterConfig, load_clusters
from cluster.errors import ConfigError
from cluster.reflector import Options
from dra_portal.watching.clusters import renumber, sync_clusters
from dra_portal.watching.dumps import POLL_SECONDS, DumpCluster
from dra_portal.watching.guard import StoppedError, WatchGuard
from dra_portal.watching.live import DISCOVERY_SECONDS, JOIN_SECONDS, LiveCluster
from dra_portal.watching.lock import LockLostError, SharedSessionError, WatchLock
from dra_portal.watching.reasons import ReasonNudge
from inventory.mirror import ClusterGoneError, prune_tombstones

log = structlog.get_logger("dra_portal.watch")

STOP_SECONDS = 2.5
"""How long a stop waits for threads; those that take longer are rolled back."""
PRUNE_SECONDS = 60.0


class AlreadyWatchedError(Exception):
    """Another process is the watch of this database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds between looks, which tests make short, and of patience, which they have."""

    tick: float = 1.0
    lock: float = 2.0
    discovery: float = DISCOVERY_SECONDS
    poll: float = POLL_SECONDS
    prune: float = PRUNE_SECONDS
    stop: float = STOP_SECONDS
    """How long a stop waits for the threads of clusters."""
    join: float = JOIN_SECONDS
    """How long the end of a cluster's thread waits for each of its kinds."""


class _ClusterWatch(Protocol):
    cluster_id: int
    config: ClusterConfig

    def run(self, stop: threading.Event) -> None: ...

    def list_once(self, stop: threading.Event) -> list[str]: ...


@dataclass(slots=True)
class _Running:
    watch: _ClusterWatch
    thread: threading.Thread
    stop: threading.Event


@dataclass(slots=True)
class _Term:
    """The time from getting the lock to losing it or stopping."""

    stop: threading.Event = field(default_factory=threading.Event)
    clusters: dict[str, _Running] = field(default_factory=dict)


class Watching:
    """Watches all clusters of ``clusters_file`` while it holds the lock.

    ``tell_alive`` is called at each look, also while another watch has the lock.
    """

    def __init__(
        self,
        clusters_file: Path,
        *,
        lock: WatchLock | None = None,
        times: Times | None = None,
        options: Options | None = None,
        new_backoff: Callable[[], Backoff] = Backoff,
        tell_alive: Callable[[], None] = lambda: None,
    ) -> None:
        self.clusters_file = clusters_file
        self._tell_alive = tell_alive
        self.lock = lock or WatchLock()
        self._times = times or Times()
        self._options = options
        self._new_backoff = new_backoff
        self._term = _Term()
        self._configs: list[ClusterConfig] = []
        self._file_stamp: tuple[int, int] | None = None
        self._pruned_at = time.monotonic()
        self._waiting = False
        self._database_failed = False
        """Since the last term began; it may be another one by now."""
        self._reasons = ReasonNudge()
        self._findings = FindingNudge()

    def run(self, stop: threading.Event) -> None:
        """Until ``stop`` is set; ends within three seconds then.

        Raises ConfigError when ``clusters.yaml`` cannot be used at the start; later
        mistakes in it are logged and the clusters known so far go on. Raises
        SharedSessionError where no lock would keep it single.
        """
        self._configs = self._load()
        try:
            while not stop.is_set():
                self._tell_alive()
                if not self.step_start():
                    stop.wait(self._times.lock)
                    continue
                while not stop.is_set() and self.step():
                    self._tell_alive()
                    stop.wait(self._times.tick)
                self._end_term()
        finally:
            self._end_term()
            self.lock.release()
            connections.close_all()

    def run_once(self) -> list[str]:
        """List everything into the mirror; a sentence per failure.

        Raises ConfigError, SharedSessionError, and AlreadyWatchedError while another
        process watches.
        """
        self._configs = self._load()
        if not self.lock.acquire():
            raise AlreadyWatchedError("Another watch is running.")
        try:
            failures = []
            for watch in self._watches():
                failures += watch.list_once(self._term.stop)
            return failures
        finally:
            self.lock.release()

    def stop_now(self) -> None:
        """Have what is being written roll back; ``run`` ends when ``stop`` is set."""
        self._term.stop.set()

    # --- steps -------------------------------------------------------------------

    def step_start(self) -> bool:
        """Try to become the watch; True when it is and its threads run."""
        try:
            if self.lock.acquire():
                log.info("watch.started", owner=self.lock.owner)
                self._waiting = False
                self._begin()
                return True
        except DBError as error:
            log.warning("watch.database_failed", reason=str(error))
            connection.close()
            self._database_failed = True
            return False
        if not self._waiting:
            log.info("watch.waiting", reason="Another watch is running.")
            self._waiting = True
        return False

    def step(self) -> bool:
        """What is due: lock, file, tombstones, reasons, findings. False: begin anew."""
        if not self.lock.renew():
            log.warning("watch.lock_lost", owner=self.lock.owner)
            self._database_failed = True
            return False
        try:
            self._reload()
            self._prune()
            self._reasons.step()
            self._findings.step()
        except LockLostError:
            log.warning("watch.lock_lost", owner=self.lock.owner)
            return False
        except DBError as error:
            log.warning("watch.database_failed", reason=str(error))
            connection.close()
            # It may have failed between the end of the old threads and the new ones.
            return bool(self._term.clusters) or not self._configs
        return True

    # --- helpers -----------------------------------------------------------------

    def _begin(self) -> None:
        self._term = _Term()
        self._pruned_at = time.monotonic()
        watches = self._watches()
        if self._database_failed:
            for watch in watches:
                renumber(watch.cluster_id, WatchGuard(self.lock, self._term.stop))
            self._database_failed = False
        for watch in watches:
            stop = threading.Event()
            thread = threading.Thread(
                target=watch.run, args=(stop,), name=watch.config.name, daemon=True
            )
            self._term.clusters[watch.config.name] = _Running(watch, thread, stop)
            thread.start()

    def _watches(self) -> list[_ClusterWatch]:
        keys = sync_clusters(self._configs)
        guard = WatchGuard(self.lock, self._term.stop)
        return [self._watch(keys[c.name], c, guard) for c in self._configs]

    def _watch(
        self, cluster_id: int, config: ClusterConfig, guard: WatchGuard
    ) -> _ClusterWatch:
        if config.dump:
            return DumpCluster(cluster_id, config, guard, poll_seconds=self._times.poll)
        return LiveCluster(
            cluster_id,
            config,
            guard,
            options=self._options,
            discovery_seconds=self._times.discovery,
            join_seconds=self._times.join,
            new_backoff=self._new_backoff,
        )

    def _end_term(self) -> None:
        """Stop all clusters; what is in the middle of a transaction rolls back."""
        self._term.stop.set()
        running = list(self._term.clusters.values())
        self._term.clusters.clear()
        for cluster in running:
            cluster.stop.set()
        deadline = time.monotonic() + self._times.stop
        for cluster in running:
            cluster.thread.join(max(0.0, deadline - time.monotonic()))

    def _load(self) -> list[ClusterConfig]:
        self._file_stamp = self._stamp()
        return load_clusters(self.clusters_file)

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self.clusters_file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def _reload(self) -> None:
        """Follow a changed ``clusters.yaml``: everything is started anew from the rows."""
        if self._stamp() == self._file_stamp:
            return
        try:
            configs = self._load()
        except ConfigError as error:
            log.warning("watch.clusters_file_unusable", reason=str(error))
            return
        if configs != self._configs:
            log.info("watch.clusters_file_changed", clusters=len(configs))
            self._configs = configs
            self._end_term()
            self._begin()

    def _prune(self) -> None:
        if time.monotonic() - self._pruned_at < self._times.prune:
            return
        self._pruned_at = time.monotonic()
        guard = WatchGuard(self.lock, self._term.stop)
        for running in self._term.clusters.values():
            try:
                prune_tombstones(running.watch.cluster_id, guard=guard)
            except ClusterGoneError:
                continue


__all__ = [
    "AlreadyWatchedError",
    "LockLostError",
    "SharedSessionError",
    "StoppedError",
    "Times",
    "WatchLock",
    "Watching",
]
