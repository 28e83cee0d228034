"""Workers, a scheduler and its pods that fight for the same devices, and what must hold.

Workers are threads that execute runs as the tasks do. A worker can be killed at any
point; its lease then ends at once, and another takes the run up.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, PriorityQueue
from typing import Any
from uuid import UUID

from django.db import connection

from allocator.choices import FINAL
from allocator.models import AllocationRun, PoolLock
from allocator.services import RunBusyError, execute_run, plan_batch, sweep_leftovers
from claims.models import ResourceClaim
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from dra_portal.watching import Times, Watching
from inventory.models import Device
from tests.allocator import builders as build
from tests.allocator.lab import KilledError, Lab, end_lease
from tests.dra_portal.watched import PATIENCE

_MOMENT = 0.05


@dataclass
class Fight:
    """``kill_rate``: the share of points of a run at which its worker dies."""

    lab: Lab
    workers: int = 8
    kill_rate: float = 0.0
    seed: int = 1
    waiting: PriorityQueue[tuple[float, UUID]] = field(default_factory=PriorityQueue)
    left: set[UUID] = field(default_factory=set)
    errors: list[BaseException] = field(default_factory=list)
    killed: int = 0

    def run(self, started: list[AllocationRun], *, seconds: float) -> None:
        """Until all of ``started`` are over."""
        self.left = {run.pk for run in started}
        for run in started:
            self._put(run.pk)
        end = time.monotonic() + seconds
        threads = [
            threading.Thread(target=self._work, args=(number, end))
            for number in range(self.workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not self.errors, self.errors
        assert not self.left, f"{len(self.left)} runs have no end"

    def _work(self, number: int, end: float) -> None:
        chance = random.Random(self.seed * 1000 + number)
        try:
            while self.left and time.monotonic() < end:
                if (run_id := self._next()) is not None:
                    self._take(run_id, chance)
        except BaseException as error:
            self.errors.append(error)
            raise
        finally:
            connection.close()

    def _put(self, run_id: UUID, after: float = 0.0) -> None:
        """Back into the queue, as a task with a countdown of ``after`` seconds."""
        self.waiting.put((time.monotonic() + after, run_id))

    def _next(self) -> UUID | None:
        """The run whose turn it is; None after a moment in which it was nobody's."""
        try:
            due, run_id = self.waiting.get(timeout=_MOMENT)
        except Empty:
            return None
        if due <= time.monotonic():
            return run_id
        self.waiting.put((due, run_id))
        time.sleep(_MOMENT)
        return None

    def _take(self, run_id: UUID, chance: random.Random) -> None:
        def hook(_point: str) -> None:
            if chance.random() < self.kill_rate:
                raise KilledError

        try:
            execute_run(run_id, hook=hook)
        except RunBusyError as busy:
            self._put(run_id, after=busy.retry_in)
            return
        except KilledError:
            self.killed += 1
            run = AllocationRun.objects.get(pk=run_id)
            end_lease(run)
            PoolLock.objects.filter(run=run).update(until=run.created_at)
        if AllocationRun.objects.filter(pk=run_id, state__in=FINAL).exists():
            self.left.discard(run_id)
        else:
            self._put(run_id)


@contextmanager
def watched(lab: Lab) -> Iterator[None]:
    """The real watch keeps the lab's mirror; nothing of it goes on afterwards."""
    stop = threading.Event()
    times = Times(tick=0.1, stop=PATIENCE, join=PATIENCE)
    watching = Watching(lab.file, times=times)
    thread = threading.Thread(target=watching.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        watching.stop_now()
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the watch does not end"


def scheduler(lab: Lab, delay: float = 0.02) -> ControlPlane:
    return ControlPlane(lab.server.store, Habits(delay=delay))


def rivals(lab: Lab, count: int, start: int = 0) -> None:
    """Pods with claims of their own, for the scheduler."""
    for number in range(start, start + count):
        lab.server.store.put(build.claim(f"rival-{number}"))
        lab.server.store.put(build.pod(f"rival-{number}", f"rival-{number}"))


def wait_for_claims(lab: Lab, names: list[str], seconds: float = PATIENCE) -> None:
    """Until the mirror has them all, and every device."""
    end = time.monotonic() + seconds
    devices = sum(
        len(piece["spec"]["devices"])
        for piece in lab.server.store.objects("ResourceSlice")
    )
    while (
        ResourceClaim.objects.filter(name__in=names).count() < len(names)
        or Device.objects.filter(cluster=lab.cluster).count() != devices
    ):
        assert time.monotonic() < end, "the mirror does not show the claims"
        time.sleep(0.05)


def plan_together(batch_id: UUID) -> None:
    """As the task does: while the watch is behind, again in a moment."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            plan_batch(batch_id)
        except RunBusyError as busy:
            assert time.monotonic() < end, "the watch does not catch up"
            time.sleep(busy.retry_in)
        else:
            return


def check(lab: Lab, started: list[AllocationRun]) -> Counter[str]:
    """What must hold when all is over; how many runs ended in which state."""
    runs = list(AllocationRun.objects.filter(pk__in=[run.pk for run in started]))
    assert len(runs) == len(started)
    for run in runs:
        assert run.state in FINAL, f"{run} has no end"
        assert run.reason.endswith((".", ")")), f"{run}: {run.reason!r}"
        assert run.worker == ""
    done = Counter(run.claim_uid for run in runs if run.state == "done")
    assert set(done.values()) <= {1}

    held = Counter(holdings(lab))
    twice = [device for device, count in held.items() if count > 1]
    assert twice == [], f"booked twice: {twice}"
    for run in runs:
        if run.state == "done":
            assert run.plan == lab.claim(run.claim_name)["status"]["allocation"]

    sweep_leftovers()
    assert lab.left_behind() == []
    assert not PoolLock.objects.exclude(owner="").exists() or not any(
        lock.run and lock.run.state in FINAL
        for lock in PoolLock.objects.exclude(owner="").select_related("run")
    )
    wait_for_the_mirror(lab)
    return Counter(run.state for run in runs)


def bad_ends(*good: str) -> Counter[tuple[str, str]]:
    """State and reason of what ended in another state than ``good``."""
    ends = AllocationRun.objects.exclude(state__in=good)
    return Counter((str(run.state), run.reason) for run in ends)


def holdings(lab: Lab) -> Iterator[tuple[str, str]]:
    for claim in lab.server.store.objects("ResourceClaim"):
        allocation = (claim.get("status") or {}).get("allocation") or {}
        for result in (allocation.get("devices") or {}).get("results") or ():
            yield result["pool"], result["device"]


def wait_for_the_mirror(lab: Lab, seconds: float = PATIENCE) -> None:
    """Until it has the claims that the server has, as the server has them.

    A watch that was cut off several times looks again after up to 10 seconds.
    """
    end = time.monotonic() + seconds
    while (here := _here(lab)) != (there := _there(lab)):
        assert time.monotonic() < end, f"the mirror differs: {here ^ there}"
        time.sleep(0.1)


def _here(lab: Lab) -> set[tuple[Any, ...]]:
    rows = ResourceClaim.objects.filter(cluster=lab.cluster)
    return set(rows.values_list("name", "resource_version"))


def _there(lab: Lab) -> set[tuple[Any, ...]]:
    metas = (c["metadata"] for c in lab.server.store.objects("ResourceClaim"))
    return {(meta["name"], meta["resourceVersion"]) for meta in metas}
