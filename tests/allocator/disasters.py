"""Every part of the portal as a process, on servers of its own, and what befalls them.

What ends is started again, as compose and Kubernetes do; nothing else helps.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from django.db import InterfaceError, OperationalError, connection

from allocator import wiring
from allocator.choices import OPEN
from allocator.models import AllocationRun, RunTransition
from allocator.services import start_batch, sweep_runs
from claims.models import ResourceClaim
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from cluster.standin.faults import Fault
from cluster.standin.server import StandinServer
from tests.allocator import builders as build
from tests.allocator import contention
from tests.allocator.lab import Lab
from tests.dra_portal.elsewhere import app_at
from tests.dra_portal.own_servers import Postgres, Redis, own_postgres
from tests.dra_portal.processes import Portal, Process
from tests.dra_portal.watched import equal, eventually

_SWEEP: Final = 2.0
"""Seconds between two looks for runs that nobody works on; beat's are a minute apart."""
_BATCH: Final = 8


@dataclass
class Scene:
    """``names``: the processes that should run, by kind and number."""

    lab: Lab
    portal: Portal
    redis: Redis
    postgres: Postgres
    names: list[str]
    running: dict[str, Process] = field(default_factory=dict)
    starts: int = 0
    _swept: float = 0.0

    @property
    def server(self) -> StandinServer:
        return self.lab.server

    def look_after(self) -> None:
        """What a supervisor does, and beat where there is none."""
        for name in self.names:
            running = self.running.get(name)
            if running is None or running.running.poll() is not None:
                self.starts += 1
                kind = name.rstrip("0123456789")
                self.running[name] = self.portal.start(f"{kind}{_folder(self.starts)}")
        if time.monotonic() - self._swept > _SWEEP:
            self._swept = time.monotonic()
            _with_database(lambda: sweep_runs(silent_seconds=2 * _SWEEP))

    def kill_one(self, kind: str, chance: random.Random) -> None:
        """kill -9, children too."""
        self.kill(chance.choice([n for n in self.names if n.startswith(kind)]))

    def kill(self, name: str) -> None:
        process = self.running[name].running
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def wait(self, true: Callable[[], Any], what: str, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not _with_database(true):
            assert time.monotonic() < end, f"waited for {what}\n{self.said()}"
            self.look_after()
            time.sleep(0.2)

    def rest(self, seconds: float) -> None:
        """While nothing but the supervisor does anything."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look_after()
            time.sleep(0.2)

    def said(self) -> str:
        runs = [f"{run}: {run.reason} {run.waits_for}" for run in open_runs()]
        logs = [f"--- {n}\n{p.log[-1500:]}" for n, p in self.portal.processes.items()]
        return "\n".join(runs + logs)

    def allocate(self, names: list[str], **how: Any) -> list[AllocationRun]:
        for name in names:
            self.server.store.put(build.claim(name))
        self.wait(lambda: _are_there(self.lab, names), "the mirror", 120)
        claims = [("lab", name) for name in names]
        started = start_batch(cluster=self.lab.cluster, claims=claims, user=None, **how)
        return list(started.runs)

    def until_under_way(self, runs: list[AllocationRun], seconds: float = 120) -> None:
        """Until some runs have written and some have not."""
        ours = AllocationRun.objects.filter(pk__in=[run.pk for run in runs])
        sent = ours.filter(committed=True)
        self.wait(lambda: sent.count() > 1, "runs that write", seconds)

    def until_over(self, seconds: float) -> None:
        self.wait(lambda: not open_runs(), "the end of all runs", seconds)

    def check(self, runs: list[AllocationRun]) -> Counter[str]:
        """What must hold at the end; how many runs ended in which state."""
        ends = contention.check(self.lab, runs)
        done = RunTransition.objects.filter(to_state="done").values_list("run")
        assert len(done) == len(set(done)), "a run was done twice"
        eventually(equal(self.server, "lab"))
        return ends


def _folder(number: int) -> str:
    """As ones and twos, which is how a portal numbers its processes."""
    return f"{number:b}".translate({ord("0"): "1", ord("1"): "2"})


def open_runs() -> list[AllocationRun]:
    return list(AllocationRun.objects.filter(state__in=OPEN))


def open_ones() -> bool:
    """Whether there may be runs without an end: yes while the database is away."""
    return bool(_with_database(open_runs) != [])


# --- what befalls them -----------------------------------------------------------------


def redis_dies(scene: Scene) -> None:
    scene.redis.kill()
    time.sleep(1)
    scene.redis.start()


def postgres_restarts(scene: Scene) -> None:
    scene.postgres.stop("immediate")
    scene.postgres.start()


def server_is_cut(scene: Scene) -> None:
    """It restarts: connections and history go; then it is not ready for a moment."""
    faults = scene.server.faults
    # Its port stays ours: on a free one a client may meet itself.
    faults.refuse_connections()
    time.sleep(3)
    faults.expire_history()
    faults.accept_connections()
    for position in range(1, 20):
        faults.plan(Fault(503), position=position)


def a_worker_dies(scene: Scene, chance: random.Random | None = None) -> None:
    scene.kill_one("worker", chance or random.Random(1))


def streams_are_cut(scene: Scene) -> None:
    scene.server.faults.cut_streams(clean=False)


def all_of_a_kind_die(scene: Scene) -> None:
    """Whichever of two watches and beats works, and both workers."""
    for name in list(scene.running):
        scene.kill(name)


def go_through(scene: Scene, befalls: Callable[[Scene], None]) -> None:
    """A small batch, which ``befalls`` meets in the middle, ends as if nothing had been.

    There are more devices than it needs: what an open run has planned once counts as in
    use until it is over, so with none to spare a claim may not fit for a moment.
    """
    already = AllocationRun.objects.count()
    names = [f"c{already + number}" for number in range(_BATCH)]
    runs = scene.allocate(names, policy="spread")
    scene.until_under_way(runs)
    befalls(scene)
    scene.until_over(400)
    ends = scene.check(runs)
    assert ends == {"done": _BATCH}, (befalls.__name__, contention.bad_ends("done"))


# --- setting it up -----------------------------------------------------------------------


@contextmanager
def scene(
    directory: Path,
    settings: Any,
    *,
    names: list[str],
    nodes: int = 4,
    per_node: int = 12,
    keeps: bool = False,
    writer: str = "carrier",
    delay: float = 0.02,
) -> Iterator[Scene]:
    """Servers, processes and a scheduler that is as late as ``delay`` says."""
    redis = Redis(directory, keeps=keeps)
    server = StandinServer([*build.lab(0)])
    for number in range(nodes):
        server.store.put(build.node(f"n{number}"))
        server.store.put(build.slice_(f"n{number}", per_node))
    with ExitStack() as stack:
        postgres = stack.enter_context(own_postgres())
        stack.callback(redis.kill)
        redis.start()
        stack.enter_context(server)
        lab = Lab(server, directory)
        lab.use(writer)
        settings.CLUSTERS_FILE = str(lab.file)
        wiring.forget()
        stack.callback(wiring.forget)
        stack.enter_context(app_at(redis.url))
        (directory / "secret_key").write_text("s" * 60)
        portal = Portal(directory, lab.file, "dra-portal", broker=redis.url)
        portal.settings = {
            "DRA_PORTAL_RUN_LEASE_SECONDS": "5",
            "DRA_PORTAL_RUN_TAKEOVERS": "20",
        }
        stack.callback(portal.kill)
        stack.enter_context(ControlPlane(server.store, Habits(delay=delay)))
        made = Scene(lab, portal, redis, postgres, names)
        made.look_after()
        yield made


def _are_there(lab: Lab, names: list[str]) -> bool:
    here = ResourceClaim.objects.filter(cluster=lab.cluster, name__in=names)
    return here.count() == len(names)


def _with_database(ask: Callable[[], Any]) -> Any:
    """What ``ask`` says; None while the database is away."""
    try:
        return ask()
    except (OperationalError, InterfaceError):
        connection.close()
        return None
