"""``manage.py watch``: keep the mirror of all clusters up to date."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from cluster.errors import ConfigError
from dra_portal import alive, metrics
from dra_portal.watching import AlreadyWatchedError, SharedSessionError, Watching


class Command(BaseCommand):
    help = "Mirror all clusters of clusters.yaml into the database, until stopped."
    # Pages have nothing to do with it: what is broken there must not stop the mirror.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--once",
            action="store_true",
            help="list everything, write it and exit (1 when something failed)",
        )
        parser.add_argument(
            "--clusters",
            type=Path,
            default=None,
            help="another clusters.yaml than DRA_PORTAL_CLUSTERS",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        path = options["clusters"] or Path(settings.CLUSTERS_FILE)
        if not options["once"]:
            metrics.begin()
            metrics.listen()
        watching = Watching(path, tell_alive=partial(alive.touch, "watch"))
        try:
            if options["once"]:
                self._once(watching)
            else:
                self._until_signal(watching)
        except ConfigError as error:
            raise CommandError(
                f"{error}. DRA_PORTAL_CLUSTERS names the file; "
                "docs/operations.md shows what it holds."
            ) from None
        except SharedSessionError as error:
            raise CommandError(str(error)) from None

    def _once(self, watching: Watching) -> None:
        try:
            failures = watching.run_once()
        except AlreadyWatchedError as error:
            raise CommandError(str(error)) from None
        if failures:
            raise CommandError("\n".join(failures))

    def _until_signal(self, watching: Watching) -> None:
        """Run in a thread, so that a signal never meets a lock that it needs."""
        stop = threading.Event()
        told: list[int] = []

        def on_signal(number: int, _frame: FrameType | None) -> None:
            told.append(number)

        before = {
            number: signal.signal(number, on_signal)
            for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            with ThreadPoolExecutor(1, thread_name_prefix="watch") as pool:
                running = pool.submit(watching.run, stop)
                while not wait([running], timeout=0.1).done:
                    if told:
                        stop.set()
                        watching.stop_now()
                running.result()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
