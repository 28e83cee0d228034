"""``python -m cluster.standin``: a stand-in cluster until Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import logging
import signal
import sys
from pathlib import Path
from queue import SimpleQueue

import structlog

from cluster.errors import DumpError
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from cluster.standin.generator import generate
from cluster.standin.life import Life
from cluster.standin.server import StandinServer

_SERVED = {"resource.k8s.io": ("v1", "v1beta2")}


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM. Returns the exit status."""
    options = _parser().parse_args(arguments)
    versions = tuple(options.serve.split(",")) if options.serve else None
    served = {"resource.k8s.io": versions} if versions else _SERVED
    try:
        server = StandinServer(
            served=served, port=options.port, control=options.control
        )
        _fill(server, options)
        server.start()
    except (ValueError, DumpError) as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"port {options.port} cannot be used: {error.strerror}")
    life = Life(
        server.store,
        seed=options.seed,
        interval=options.interval,
        scheduling=options.delay is None,
    )
    # Pods of life go where somebody who allocates by hand does not begin.
    habits = Habits(delay=options.delay or 0.0, last_first=options.life)
    plane = ControlPlane(server.store, habits)
    # An event has a lock, which the signal may come in the middle of.
    told: SimpleQueue[int] = SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: told.put(number))
    try:
        if options.kubeconfig:
            server.write_kubeconfig(options.kubeconfig)
        if options.delay is not None:
            plane.start()
        if options.life:
            life.start()
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        told.get()
    except OSError as error:
        return _complain(f"{options.kubeconfig} cannot be written: {error.strerror}")
    finally:
        life.stop()
        plane.stop()
        server.stop()
    return 0


def _fill(server: StandinServer, options: argparse.Namespace) -> None:
    if not options.load:
        server.store.load(generate(nodes=options.nodes, seed=options.seed))
        return
    for problem in server.load(*options.load):
        sys.stderr.write(f"{problem}\n")


def _complain(sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return 1


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if (seconds := float(text)) > 0:
            return seconds
    raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")


def _count(text: str) -> int:
    if text.isdecimal():
        return int(text)
    raise argparse.ArgumentTypeError(f"{text} is no number of nodes")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m cluster.standin",
        description="A stand-in Kubernetes API server with a realistic cluster.",
    )
    add = parser.add_argument
    add("--port", type=int, default=0, help="default: a free one, printed at the start")
    add(
        "--load",
        type=Path,
        nargs="+",
        help="dumps (JSON or YAML) instead of making one",
    )
    add("--nodes", type=_count, default=20, help="size of the cluster that is made")
    add("--seed", type=int, default=1, help="the same seed makes the same cluster")
    add("--life", action="store_true", help="let pods come and go, devices fail")
    add("--interval", type=_seconds, default=8.0, help="seconds between steps of life")
    add(
        "--delay",
        type=_seconds,
        help="schedule pods as kube-scheduler does, which decides at once and sends each "
        "of its writes this many seconds later",
    )
    add("--kubeconfig", type=Path, help="write a kubeconfig to this file")
    add("--serve", default="", help="versions of resource.k8s.io: v1, v1beta2, v1beta1")
    add("--control", action="store_true", help="open /standin/faults (for tests)")
    return parser


def _run() -> int:
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(_run())
