"""A stand-in cluster, its mirror, and the file that names it: what a run needs."""

from __future__ import annotations

from collections.abc import Callable
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


def die_at(point: str) -> Callable[[str], None]:
    """A hook that kills the worker there."""

    def die(here: str) -> None:
        if here == point:
            raise KilledError

    return die


class Lab:
    """One cluster: ``server`` has the truth, ``sync`` brings it into the mirror."""

    def __init__(self, server: StandinServer, directory: Path, **columns: Any) -> None:
        self.server = server
        kubeconfig = server.write_kubeconfig(directory / "kubeconfig")
        self.file = directory / "clusters.yaml"
        self.file.write_text(
            f"clusters:\n- name: lab\n  kubeconfig: {kubeconfig}\n  writer: unguarded\n",
            encoding="utf-8",
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

    def use(self, writer: str) -> None:
        """Name another writer in the clusters file, and make what it needs."""
        text = self.file.read_text(encoding="utf-8")
        text = text.replace("writer: unguarded", f"writer: {writer}")
        if writer == "direct":  # waits that the stand-in does not need
            text += "  guard: {settleMilliseconds: 20}\n"
        self.file.write_text(text, encoding="utf-8")
        meta = {"name": "dra-portal"}
        self.put({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})

    def left_behind(self) -> list[str]:
        """What writers have put into the cluster and not taken away; pins are wanted."""
        store = self.server.store
        pods = [p["metadata"] for p in store.objects("Pod")]
        ours = "app.kubernetes.io/managed-by"
        found = [f"pod {m['name']}" for m in pods if ours in (m.get("labels") or {})]
        found += [
            f"rule {r['metadata']['name']}" for r in store.objects("DeviceTaintRule")
        ]
        for node in store.objects("Node"):
            found += [f"taint {t['key']}" for t in node["spec"].get("taints") or ()]
        for claim in store.objects("ResourceClaim"):
            held = (claim.get("status") or {}).get("allocation")
            if claim["metadata"].get("finalizers") and not held:
                found.append(f"finalizer of {claim['metadata']['name']}")
        return found

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
