"""A stand-in cluster, its mirror, and the file that names it: what a run needs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from allocator.models import AllocationRun
from allocator.services import execute_run, start_run
from cluster.standin.server import StandinServer
from tests.allocator import builders as build
from tests.allocator.builders import Json, Mirror


class KilledError(BaseException):
    """Stands for kill -9: nothing of ours may catch it."""


class Lab:
    """One cluster: ``server`` has the truth, ``sync`` brings it into the mirror."""

    def __init__(self, server: StandinServer, directory: Path, **columns: Any) -> None:
        self.server = server
        kubeconfig = server.write_kubeconfig(directory / "kubeconfig")
        self.file = directory / "clusters.yaml"
        self.file.write_text(
            f"clusters:\n- name: lab\n  kubeconfig: {kubeconfig}\n", encoding="utf-8"
        )
        self.mirror = Mirror("lab", **columns)
        self.cluster = self.mirror.cluster
        self.sync()

    def sync(self) -> None:
        """As the watch would, after a list of everything."""
        self.mirror.replace(
            obj
            for kind in self.mirror.stores
            if kind != "PodGroup"
            for obj in self.server.store.objects(kind)
        )

    def put(self, *objects: Json) -> None:
        for obj in objects:
            self.server.store.put(obj)
        self.sync()

    def start(self, claim_name: str, **how: Any) -> AllocationRun:
        how = {"namespace": "lab", "user": None} | how
        return start_run(cluster=self.cluster, claim_name=claim_name, **how)

    def execute(self, run: AllocationRun, hook: Any = None) -> AllocationRun:
        """To its end, with a mirror that follows the write at once."""

        def follow(point: str) -> None:
            if point == "now verifying":
                self.sync()
            if hook is not None:
                hook(point)

        execute_run(run.pk, hook=follow)
        run.refresh_from_db()
        return run

    def claim(self, name: str) -> Json:
        found = self.server.store.get("ResourceClaim", name, "lab")
        assert found is not None
        return found

    def devices(self, name: str) -> list[str]:
        """``pool/device`` of each result that the claim holds on the server."""
        allocation = self.claim(name).get("status", {}).get("allocation")
        results = allocation["devices"]["results"] if allocation else []
        return [f"{r['pool']}/{r['device']}" for r in results]

    def touch(self, name: str, value: str) -> None:
        """A second writer changes the claim on the server."""
        changed = self.claim(name)
        changed["metadata"].setdefault("labels", {})["touched"] = value
        self.server.store.put(changed)

    def give_away(self, name: str, pool: str, device: str) -> None:
        """A second writer allocates the claim on the server."""
        changed = self.claim(name)
        changed["status"] = {
            "allocation": {"devices": {"results": [build.result(pool, device)]}}
        }
        self.server.store.put(changed)


def states(run: AllocationRun) -> list[str]:
    return [t.to_state for t in run.transitions.all()]


def end_lease(run: AllocationRun) -> None:
    """As if the dead worker's lease had run out."""
    AllocationRun.objects.filter(pk=run.pk).update(
        lease_until=timezone.now() - timedelta(seconds=1)
    )
