"""``make demo``: every process of the portal on one machine, nothing installed but Python.

The stand-in cluster is a process of its own, with a scheduler, so that claims are
allocated by the default writer, as in a cluster of one's own. In this one: the web server, the watch
and one Celery worker on the memory broker, each in threads, because three starts of
Django would take three times as long. SQLite and the demo's files live in
DRA_PORTAL_VAR. Ctrl-C stops them all.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
import yaml
from celery.beat import Service
from celery.worker import WorkController
from django.contrib.auth.models import Group, User
from django.core.management import call_command

from dra.validation.gates import GATE_NAMES
from dra_portal.watching import Watching
from inventory.models import Cluster, WatchState
from web import tokens
from web.doors import Role

STOP_SECONDS = 5.0
PROGRESS_SECONDS = 5.0
SCHEDULER_DELAY = 0.05
"""Seconds that the stand-in's scheduler takes for each of its writes."""
ENDING = (signal.SIGINT, signal.SIGTERM)
NOT_READ_YET = frozenset({"starting", "listing"})


class DemoError(Exception):
    """Why the demo cannot start, in one sentence."""


class Ended(BaseException):
    """Raised wherever the main thread is when a signal comes.

    Not KeyboardInterrupt: a process in which that came up within ``exec`` of a text, as
    each dataclass that is imported does, exits as if killed by it, caught or not.
    """


@dataclass(frozen=True, slots=True)
class Login:
    username: str
    password: str
    token_file: Path


@dataclass(slots=True)
class Children:
    """Processes in groups of their own, so that Ctrl-C reaches only us, and the watch."""

    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    watch: threading.Thread | None = None
    stop_watch: threading.Event = field(default_factory=threading.Event)
    told_to_end: bool = False

    def end_by_signals(self) -> None:
        """The children live in groups of their own and have to be told, whatever ends us
        (a shell starts background jobs with SIGINT ignored). Only the first raises: whoever
        is told twice is already stopping them."""

        def end(_number: int, _frame: object) -> None:
            if not self.told_to_end:
                self.told_to_end = True
                raise Ended

        for number in ENDING:
            signal.signal(number, end)

    def look(self) -> None:
        """Raise DemoError when a part has ended by itself, and end if a signal came where
        what it raised went no further, as in the end of an object."""
        if self.told_to_end:
            raise Ended
        if name := self.dead():
            raise DemoError(f"The {name} ended by itself; its message is above.")

    def start(self, name: str, *command: str) -> None:
        with (
            _signals_wait()
        ):  # between its start and our knowing it nobody would stop it
            self.running[name] = subprocess.Popen(
                [sys.executable, *command], start_new_session=True
            )

    def start_watch(self, clusters_file: Path) -> None:
        watching = Watching(clusters_file)
        self.watch = threading.Thread(
            target=watching.run, args=(self.stop_watch,), name="watch", daemon=True
        )
        self.watch.start()

    def dead(self) -> str | None:
        """The name of a part that has ended by itself."""
        if self.watch is not None and not self.watch.is_alive():
            return "watch"
        return next((n for n, p in self.running.items() if p.poll() is not None), None)

    def stop(self) -> None:
        self.stop_watch.set()
        if self.watch is not None:
            self.watch.join(STOP_SECONDS)
        for process in self.running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        for process in self.running.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def _signals_wait() -> Iterator[None]:
    """Signals that end us take effect after the block. They are not masked: a process
    that is started here would inherit that."""
    came: list[int] = []

    def note(number: int, _frame: object) -> None:
        came.append(number)

    before = {number: signal.signal(number, note) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for one in came:
            signal.raise_signal(one)


def check_port(host: str, port: int) -> None:
    """Raise DemoError when somebody listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise DemoError(
                f"Port {port} is taken ({error.strerror}). Choose another: make demo PORT=8001"
            ) from None


def write_private(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(content, encoding="utf-8")


def make_login(directory: Path) -> Login:
    """The demo's user (administrator) with a password and an API token, made once and kept."""
    password_file, token_file = directory / "password", directory / "token"
    if not password_file.exists():
        write_private(password_file, secrets.token_urlsafe(9))
    password = password_file.read_text(encoding="utf-8")
    user, created = User.objects.get_or_create(
        username="demo", defaults={"is_staff": True, "is_superuser": True}
    )
    if created or not user.check_password(password):
        user.set_password(password)
        user.save()
    user.groups.add(*Group.objects.filter(name__in=[role.value for role in Role]))
    if not token_file.exists() or tokens.verify(token_file.read_text("utf-8")) is None:
        _, secret = tokens.create(user=user, name="make demo", role=Role.ADMIN)
        write_private(token_file, secret)
    return Login("demo", password, token_file)


def write_clusters(path: Path, dumps: list[Path], gates: Sequence[str] = ()) -> None:
    """clusters.yaml: the stand-in, or the given dump files as one read-only cluster.

    ``gates`` are on whatever the version says. Raises :class:`DemoError`.
    """
    for gate in gates:
        if gate not in GATE_NAMES:
            known = ", ".join(sorted(GATE_NAMES))
            raise DemoError(f"No such feature gate: {gate}. Known are {known}.")
    if dumps:
        missing = [str(dump) for dump in dumps if not dump.is_file()]
        if missing:
            raise DemoError(f"No such file: {', '.join(missing)}")
        name = "".join(c if c.isalnum() else "-" for c in dumps[0].stem.lower()).strip(
            "-"
        )
        entry: dict[str, object] = {
            "name": name[:63] or "dump",
            "dump": [str(dump.resolve()) for dump in dumps],
        }
    else:
        # No writer is named: what a newcomer sees is what a cluster of one's own gets.
        entry = {"name": "demo", "kubeconfig": "kubeconfig"}
    if gates:
        entry["featureGates"] = dict.fromkeys(gates, True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"clusters": [entry]}), encoding="utf-8")


@contextlib.contextmanager
def celery_worker() -> Iterator[None]:
    """One worker with two threads in this process, on the memory broker."""
    from dra_portal.celery import app

    app.loader.import_default_modules()
    from allocator.tasks import sweep_at_start

    # A worker of the command line does this by a signal. The queue is in memory, so
    # runs of a demo that was killed are only in the database.
    worker = WorkController(
        app=app,
        pool_cls="threads",
        concurrency=2,
        ready_callback=lambda _consumer: sweep_at_start(),
    )
    thread = threading.Thread(target=worker.start, name="celery-worker", daemon=True)
    thread.start()
    # Its own would keep times in a file of this directory, which every demo shares.
    clock = Service(app, scheduler_cls=app.conf.beat_scheduler)
    threading.Thread(target=clock.start, name="celery-beat", daemon=True).start()
    try:
        yield
    finally:
        clock.stop()
        worker.stop()
        thread.join(STOP_SECONDS)


def wait_for_mirror(children: Children) -> None:
    """Until every kind has been listed once, however long a large dump takes.

    Raises DemoError when the cluster cannot be read or a child dies.
    """
    told = time.monotonic()
    while True:
        children.look()
        if error := Cluster.objects.values_list("error", flat=True).first():
            raise DemoError(error)
        watches = WatchState.objects.values_list("state", "object_count")
        if watches and not any(state in NOT_READ_YET for state, _ in watches):
            return
        if time.monotonic() - told > PROGRESS_SECONDS:
            told = time.monotonic()
            print(
                f"  {sum(count for _, count in watches):,} objects so far", flush=True
            )
        time.sleep(0.2)


def announce(host: str, port: int, login: Login) -> None:
    print(
        f"\nDRA Portal is running.\n\n"
        f"  open      http://{host}:{port}/\n"
        f"  log in    {login.username}   password  {login.password}\n"
        f'  API       curl -H "Authorization: Bearer $(cat {_short(login.token_file)})" '
        f"http://{host}:{port}/api/v1/clusters/\n"
        f"  stop      Ctrl-C\n",
        flush=True,
    )


def _short(path: Path) -> str:
    with contextlib.suppress(ValueError):
        return str(path.relative_to(Path.cwd()))
    return str(path)


def web_server(host: str, port: int) -> uvicorn.Server:
    """The web server with every page loaded; ``run`` stays until it is told to stop."""
    config = uvicorn.Config(
        "dra_portal.asgi:application",
        host=host,
        port=port,
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=2,
    )
    config.load()
    return uvicorn.Server(config)


def stop_when_a_part_ends(server: uvicorn.Server, children: Children) -> None:
    """In a thread: a demo without its cluster or its watch would only mislead."""

    def look() -> None:
        while not server.should_exit:
            if name := children.dead():
                print(f"The {name} ended by itself; stopping.", file=sys.stderr)
                server.should_exit = True
            if children.told_to_end:
                server.should_exit = True
            time.sleep(1)

    threading.Thread(target=look, name="parts", daemon=True).start()


def standin_arguments(nodes: int, kubeconfig: Path, *, still: bool) -> list[str]:
    """How Python runs the stand-in cluster; ``still``: nothing comes and goes by itself."""
    arguments = ["-m", "cluster.standin", "--nodes", str(nodes)]
    arguments += ["--delay", str(SCHEDULER_DELAY), "--kubeconfig", str(kubeconfig)]
    return arguments if still else [*arguments, "--life"]


def run_demo(
    *,
    host: str,
    port: int,
    dumps: list[Path],
    nodes: int,
    directory: Path,
    gates: Sequence[str] = (),
    still: bool = False,
) -> None:
    """Start everything, print where it is, and stay until stopped. Raises DemoError.

    ``still``: nothing comes and goes in the stand-in cluster by itself.
    """
    check_port(host, port)
    write_clusters(directory / "clusters.yaml", dumps, gates)
    children = Children()
    try:
        children.end_by_signals()
        if not dumps:
            kubeconfig = directory / "kubeconfig"
            kubeconfig.unlink(missing_ok=True)
            children.start(
                "stand-in cluster", *standin_arguments(nodes, kubeconfig, still=still)
            )
        # While the stand-in starts.
        call_command("migrate", verbosity=0)
        # It begins anew each time, so yesterday's mirror of it means nothing.
        Cluster.objects.all().delete()
        login = make_login(directory)
        if not dumps:
            _wait_for_file(kubeconfig, children)
        children.start_watch(directory / "clusters.yaml")
        print("Reading the cluster ...", flush=True)
        server = web_server(host, port)
        wait_for_mirror(children)
        with celery_worker():
            announce(host, port, login)
            stop_when_a_part_ends(server, children)
            server.run()
    except Ended:
        print("\nStopping ...", flush=True)
    finally:
        children.stop()
        print("Stopped.", flush=True)


def _wait_for_file(path: Path, children: Children) -> None:
    for _ in range(1200):
        if path.exists():
            return
        children.look()
        time.sleep(0.1)
    raise DemoError("The stand-in cluster did not start within two minutes.")
