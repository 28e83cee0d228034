"""Allocation runs with every real part: API server, watch, queue, eight workers.

    python -m bench.runs NODES DIRECTORY

Needs PostgreSQL and Redis: ``DRA_PORTAL_BENCH_DATABASE`` is the address of a database
that may be filled, ``DRA_PORTAL_BENCH_BROKER`` that of Redis. The stand-in API server
runs in this process, with no scheduler beside us and no guard time.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import django
from django.core.management import call_command

from bench.table import Figure, peak_megabytes, show

ALONE: Final = 30
TOGETHER: Final = 200
WORKERS: Final = 8
BUDGET: Final = 2000.0
"""Milliseconds from "allocate" to confirmed, for 95 of 100 runs."""
RATE: Final = 20.0
"""Runs a second through plan and write."""
_PER_NODE: Final = 4
_GPU: Final = "gpu.bench.test"

Json = dict[str, Any]


def objects(nodes: int) -> list[Json]:
    """Nodes with four devices each and one class."""
    selector = {"cel": {"expression": f'device.driver == "{_GPU}"'}}
    found = [
        of("Namespace", "bench", api="v1"),
        of("DeviceClass", _GPU, spec={"selectors": [selector]}),
    ]
    for number in range(nodes):
        name = f"n{number:03}"
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        devices = [{"name": f"gpu-{i}"} for i in range(_PER_NODE)]
        spec = {"driver": _GPU, "nodeName": name, "pool": pool, "devices": devices}
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        found.append(of("Node", name, api="v1", status=ready))
        found.append(of("ResourceSlice", name, spec=spec))
    return found


def of(kind: str, name: str, *, api: str = "resource.k8s.io/v1", **parts: Any) -> Json:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **parts}


def claim(name: str) -> Json:
    exactly = {"deviceClassName": _GPU, "allocationMode": "ExactCount", "count": 1}
    spec = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
    found = of("ResourceClaim", name, spec=spec)
    found["metadata"]["namespace"] = "bench"
    return found


@contextmanager
def process(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def wait_until(
    true: Callable[[], bool], what: str, seconds: float = 120, look: float = 0.01
) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            sys.exit(f"bench.runs: waited {seconds:.0f} s for {what}")
        time.sleep(look)


def alone(put: Callable[[list[str]], None]) -> list[float]:
    """Milliseconds of runs one after another, nothing else going on."""
    from django.contrib.auth.models import User

    from allocator.models import AllocationRun
    from allocator.services import start_run
    from inventory.models import Cluster

    names = [f"alone-{number:03}" for number in range(ALONE)]
    put(names)
    cluster = Cluster.objects.get(name="bench")
    user = User.objects.first()
    spent = []
    for name in names:
        began = time.perf_counter()
        run = start_run(cluster=cluster, namespace="bench", claim_name=name, user=user)
        over = AllocationRun.objects.filter(pk=run.pk, finished_at__isnull=False)
        wait_until(over.exists, f"the run of {name}")
        spent.append((time.perf_counter() - began) * 1000)
    _all_done(ALONE)
    return spent


def together(put: Callable[[list[str]], None]) -> float:
    """Seconds from the start of a batch until its last run is over."""
    from allocator.models import AllocationRun
    from allocator.services import start_batch
    from inventory.models import Cluster

    names = [f"together-{number:03}" for number in range(TOGETHER)]
    put(names)
    began = time.perf_counter()
    started = start_batch(
        cluster=Cluster.objects.get(name="bench"),
        claims=[("bench", name) for name in names],
        user=None,
    )
    left = AllocationRun.objects.filter(batch=started.batch, finished_at__isnull=True)
    # Who watches is not part of what is measured, but shares its processors.
    wait_until(lambda: not left.exists(), "the batch", seconds=300, look=0.1)
    spent = time.perf_counter() - began
    _all_done(ALONE + TOGETHER)
    return spent


def _all_done(count: int) -> None:
    from allocator.models import AllocationRun

    others = AllocationRun.objects.exclude(state="done")
    if others.exists() or AllocationRun.objects.count() != count:
        reasons = set(others.values_list("state", "reason")[:5])
        sys.exit(f"bench.runs: not every run is done: {reasons}")


def main() -> None:
    nodes, directory = int(sys.argv[1]), Path(sys.argv[2])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dra_portal.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    from claims.models import ResourceClaim
    from cluster.standin.server import StandinServer
    from inventory.models import Cluster, Device

    Cluster.objects.filter(name="bench").delete()
    with StandinServer(objects(nodes)) as server:
        kubeconfig = server.write_kubeconfig(directory / "kubeconfig")
        (directory / "clusters.yaml").write_text(
            f"clusters: [{{name: bench, kubeconfig: {kubeconfig}, writer: unguarded}}]\n",
            "utf-8",
        )

        def put(names: list[str]) -> None:
            for name in names:
                server.store.put(claim(name))
            rows = ResourceClaim.objects.filter(name__in=names)
            wait_until(lambda: rows.count() == len(names), "the watch")

        worker = ("celery", "-A", "dra_portal", "worker", "-c", str(WORKERS))
        with (
            process(sys.executable, "manage.py", "watch"),
            process(sys.executable, "-m", *worker),
        ):
            devices = Device.objects.filter(cluster__name="bench")
            wait_until(lambda: devices.count() == nodes * _PER_NODE, "the mirror")
            put(["warm"])
            one_by_one = alone(put)
            seconds = together(put)
    ordered = sorted(one_by_one)
    p95 = ordered[int(len(ordered) * 0.95) - 1]
    show(
        f"Runs, {nodes} nodes, {WORKERS} workers",
        [
            Figure(
                "allocate → confirmed, median",
                statistics.median(ordered),
                BUDGET,
                "the budget",
                peak_megabytes(),
            ),
            Figure(
                "allocate → confirmed, p95", p95, BUDGET, "the budget", peak_megabytes()
            ),
            Figure(
                f"{TOGETHER} claims in a batch, each",
                seconds * 1000 / TOGETHER,
                1000 / RATE,
                f"{RATE:.0f} a second",
                peak_megabytes(),
            ),
        ],
    )


if __name__ == "__main__":
    main()
