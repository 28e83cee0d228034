"""A cluster of dump files: read once, and again when a file changes."""

from __future__ import annotations

import threading
from pathlib import Path

import structlog
from django.db import Error as DBError
from django.db import connections

from claims.mirror import KINDS, store_for
from cluster.backoff import Backoff
from cluster.config import ClusterConfig
from cluster.dump import Dump, read_dump
from cluster.errors import DumpError
from cluster.store import State
from dra_portal.watching.clusters import note
from dra_portal.watching.guard import StoppedError
from dra_portal.watching.lock import LockLostError
from inventory.mirror import ClusterGoneError, Guard

log = structlog.get_logger("dra_portal.watch")

POLL_SECONDS = 2.0

Stamp = tuple[tuple[int, int] | None, ...]
"""Time of change and size of each file, None for one that is not there."""


class DumpCluster:
    """Mirrors dump files; a file that cannot be read becomes ``Cluster.error``."""

    def __init__(
        self,
        cluster_id: int,
        config: ClusterConfig,
        guard: Guard,
        *,
        poll_seconds: float = POLL_SECONDS,
        backoff: Backoff | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.config = config
        self.guard = guard
        self._poll_seconds = poll_seconds
        self._backoff = backoff or Backoff()
        self._stamp: Stamp | None = None
        self._version = ""
        self._told = ""
        self._log = log.bind(cluster=config.name)

    def run(self, stop: threading.Event) -> None:
        """Until ``stop`` is set; in a thread of its own."""
        try:
            while not stop.is_set():
                stop.wait(self.step())
        finally:
            connections.close_all()

    def step(self) -> float:
        """Read the files if they changed; the seconds until the next look."""
        stamp = _stamp(self.config.dump)
        if stamp == self._stamp:
            return self._poll_seconds
        try:
            self.read()
        except DumpError as error:
            self._tell(str(error))
        except (ClusterGoneError, DBError, LockLostError, StoppedError) as error:
            self._tell(str(error))
            return self._backoff.next()
        # A fault of ours in one cluster must not end the watch of it, or of others.
        except Exception:
            self._log.exception("watch.dump_failed")
            return self._backoff.next()
        else:
            self._told = ""
        self._stamp = stamp
        return self._poll_seconds

    def _tell(self, reason: str) -> None:
        """Log it, once as long as it stays so."""
        if reason != self._told:
            self._told = reason
            self._log.warning("watch.dump_failed", reason=reason)

    def list_once(self, _stop: threading.Event) -> list[str]:
        """Read the files into the mirror; a sentence per failure."""
        try:
            self.read()
        except DumpError as error:
            return [f"{self.config.name}: {error}"]
        return []

    def read(self) -> None:
        """Mirror what the files hold now. Raises DumpError, having noted it."""
        try:
            dump = read_dump(self.config.dump)
        except DumpError as error:
            note(self.cluster_id, self.guard, error=str(error))
            self._report(State.RETRYING, str(error))
            raise
        if dump.version != self._version:
            for kind in KINDS:
                self.guard.check()
                objects = dump.objects.pop(kind)
                store = store_for(
                    kind, self.cluster_id, guard=self.guard, compare_raw=True
                )
                store.replace(objects, dump.version)
            self._version = dump.version
        self._report(State.STATIC)
        for problem in dump.problems:
            self._log.warning("watch.dump_item_left_out", reason=problem)
        note(self.cluster_id, self.guard, error=_left_out(dump))

    def _report(self, state: State, error: str = "") -> None:
        for kind in KINDS:
            store = store_for(kind, self.cluster_id, guard=self.guard)
            store.report(state, error=error)


def _stamp(paths: tuple[Path, ...]) -> Stamp:
    def stamp(path: Path) -> tuple[int, int] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    return tuple(map(stamp, paths))


def _left_out(dump: Dump) -> str:
    if not dump.problems:
        return ""
    count = len(dump.problems)
    what = "1 item was left out" if count == 1 else f"{count} items were left out"
    return f"{what}: {dump.problems[0]}"
