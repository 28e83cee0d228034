"""A watch of a stand-in cluster, for tests."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import connection, transaction

from cluster.backoff import Backoff
from cluster.reflector import Options
from cluster.standin.server import StandinServer
from dra_portal.watching import Times, Watching, WatchLock
from inventory.models import Cluster, WatchState
from tests.inventory.mirror.equality import assert_mirror_equals_server

PATIENCE = 120.0
"""Seconds that something may take on a machine that is busy with other things."""
FAST = Times(
    tick=0.05,
    lock=0.05,
    discovery=0.3,
    poll=0.05,
    prune=0.5,
    # A thread that a stop left alone would write into the next test.
    stop=PATIENCE,
    join=PATIENCE,
)
OPTIONS = Options(batch_seconds=0.02, poll_seconds=0.05, refused_seconds=0.3)

ALL = {"resource.k8s.io": ("v1", "v1beta2"), "scheduling.k8s.io": ("v1alpha2",)}
"""Versions that a stand-in serves for every kind to be mirrored."""


def write_clusters(folder: Path, text: str) -> Path:
    path = folder / "clusters.yaml"
    path.write_text(f"clusters:\n{text}", encoding="utf-8")
    return path


def clusters_of(server: StandinServer, folder: Path, name: str = "demo") -> Path:
    server.write_kubeconfig(folder / f"{name}.kubeconfig")
    return write_clusters(
        folder, f"- {{name: {name}, kubeconfig: {name}.kubeconfig}}\n"
    )


class Running:
    """A watch in a thread."""

    def __init__(self, path: Path, **arguments: Any) -> None:
        arguments = {
            "times": FAST,
            "options": OPTIONS,
            "new_backoff": lambda: Backoff(first=0.05, most=0.3),
            **arguments,
        }
        self.watching = Watching(path, **arguments)
        self.stop = threading.Event()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="watching")
        self._thread.start()

    def _run(self) -> None:
        try:
            self.watching.run(self.stop)
        except BaseException as error:
            self.error = error

    def tell_to_stop(self) -> None:
        self.stop.set()
        self.watching.stop_now()

    def end(self) -> None:
        """Stop it, and wait until it has."""
        self.tell_to_stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), self._stack()

    def _stack(self) -> str:
        """Where the thread hangs."""
        frame = sys._current_frames()[self._thread.ident or 0]
        return "".join(traceback.format_stack(frame)[-12:])


@contextmanager
def watch(path: Path, **arguments: Any) -> Iterator[Running]:
    running = Running(path, **arguments)
    try:
        yield running
    finally:
        running.end()


def eventually(check: Callable[[], Any], *, seconds: float = PATIENCE) -> None:
    """Until ``check`` is true or raises nothing; its last failure otherwise."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if check() is not False:
                return
            failure: BaseException = AssertionError("it never became true")
        except (AssertionError, ObjectDoesNotExist) as error:
            failure = error
        if time.monotonic() > deadline:
            raise failure
        time.sleep(0.05)


def equal(server: StandinServer, name: str = "demo") -> Callable[[], None]:
    """The tables hold what the server holds, and the watch knows it is up to date."""

    def check() -> None:
        with at_one_moment():
            cluster = Cluster.objects.get(name=name)
            assert_mirror_equals_server(cluster, server.store.objects)

    return check


@contextmanager
def at_one_moment() -> Iterator[None]:
    """What is read in the block is of one moment, whatever is written meanwhile."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def states(name: str = "demo") -> dict[str, str]:
    rows = WatchState.objects.filter(cluster__name=name)
    return dict(rows.values_list("kind", "state"))


__all__ = ["FAST", "OPTIONS", "PATIENCE", "Running", "WatchLock"]
