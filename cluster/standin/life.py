"""Life on a stand-in for the demo: pods come and go, devices fail, drivers republish.

One step does one visible thing. What life made is bounded: so many pods, one
taint, one pool under way; the rest of the cluster is left as it is.
"""

from __future__ import annotations

import random
import threading
from typing import Any, Final

import structlog

from cluster.standin.controllers import ANYONE, ClaimController, target
from cluster.standin.kinds import KINDS
from cluster.standin.scheduling import Scheduler
from cluster.standin.store import Entry, Store, now
from cluster.standin.versions import clone
from cluster.standin.writing import MERGE, Writer

Json = dict[str, Any]
log = structlog.get_logger("cluster.standin.life")

LABEL: Final = "example.com/made-by-life"
TAINT_KEY: Final = "example.com/life-degraded"
_NAMES: Final = ("nightly-eval", "ablation", "batch-scoring", "smoke-test", "rerank")


class Life:
    """Runs by itself between :meth:`start` and :meth:`stop`, or step by step."""

    def __init__(
        self,
        store: Store,
        *,
        seed: int = 1,
        interval: float = 8.0,
        max_pods: int = 6,
        scheduling: bool = True,
    ) -> None:
        """``scheduling`` False: pods and claims are left to a ControlPlane."""
        self._store = store
        self._random = random.Random(seed)  # noqa: S311 a demo, not secrets
        self._interval = interval
        self._max_pods = max_pods
        writer = Writer(store, seed=seed)
        self._writer = writer
        self._controller = ClaimController(store, writer)
        self._scheduler = Scheduler(store, writer)
        self._scheduling = scheduling
        self._unfinished: tuple[str, str] | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    # --- as a thread ------------------------------------------------------

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="standin-life")
        self._thread.start()

    def stop(self) -> None:
        """Returns when the step under way is done."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            try:
                done = self.step()
            except Exception:
                # Whatever a client wrote to the objects, life goes on.
                log.exception("life_step_failed")
            else:
                log.debug("life_step", done=done)

    # --- one step ---------------------------------------------------------

    def step(self) -> list[str]:
        """Do one thing, and the controllers' work that follows; says what was done."""
        if not self._scheduling:
            action = self._act()
            return [action] if action else []
        with self._store.lock:
            done = self._controller.run() + self._scheduler.run()
            if action := self._act():
                done.append(action)
            done += self._controller.run()
            return done

    def _act(self) -> str:
        if self._unfinished is not None:
            return self._finish_republish(self._unfinished)
        pods = self._own_pods()
        actions = [(self.arrive, 5 if len(pods) < self._max_pods else 0)]
        actions += [
            (self.leave, 4 if len(pods) > 1 else 0),
            (self.taint, 1),
            (self.republish, 1),
        ]
        functions = [function for function, weight in actions for _ in range(weight)]
        return self._random.choice(functions)()

    def _own_pods(self) -> list[Entry]:
        return [
            entry
            for entry in self._store.current(KINDS["Pod"])[1]
            if LABEL in (entry.body["metadata"].get("labels") or {})
        ]

    def arrive(self) -> str:
        """A pod with a claim template appears; the next step schedules it."""
        templates = self._store.current(KINDS["ResourceClaimTemplate"])[1]
        if not templates:
            return ""
        template = self._random.choice(templates)
        name = f"{self._random.choice(_NAMES)}-{self._writer.suffix()}"
        entry = "devices"
        container = {
            "name": "main",
            "image": "registry.example.com/job:1.0",
            "resources": {"claims": [{"name": entry}]},
        }
        pod = {
            "metadata": {"name": name, "labels": {LABEL: "true"}},
            "spec": {
                "containers": [container],
                "resourceClaims": [
                    {"name": entry, "resourceClaimTemplateName": template.name}
                ],
            },
        }
        where = target("Pod", namespace=template.namespace)
        self._writer.create(where, pod, dry_run=False)
        return f"pod {template.namespace}/{name} appeared"

    def leave(self) -> str:
        """The oldest pod that life made ends; its claim goes with it."""
        pods = self._own_pods()
        if not pods:
            return ""
        oldest = min(
            pods, key=lambda e: (e.body["metadata"]["creationTimestamp"], e.key)
        )
        where = target("Pod", oldest.name, oldest.namespace)
        self._writer.delete(where, {}, dry_run=False)
        return f"pod {oldest.key} ended"

    def taint(self) -> str:
        """A device is tainted, or the one that life tainted is well again."""
        slices = self._store.current(KINDS["ResourceSlice"])[1]
        for entry in slices:
            for device in entry.body["spec"].get("devices") or []:
                if any(t.get("key") == TAINT_KEY for t in device.get("taints") or []):
                    return self._untaint(entry, device["name"])
        able = [
            entry
            for entry in slices
            if 0 < len(entry.body["spec"].get("devices") or []) <= 64
        ]
        if not able:
            return ""
        entry = self._random.choice(able)
        body = clone(entry.body)
        device = self._random.choice(body["spec"]["devices"])
        taint = {
            "key": TAINT_KEY,
            "value": "ecc-errors",
            "effect": "NoSchedule",
            "timeAdded": now(),
        }
        device["taints"] = [*(device.get("taints") or []), taint]
        self._put_devices(entry, body)
        return f"device {device['name']} of {entry.name} is degraded"

    def _untaint(self, entry: Entry, name: str) -> str:
        body = clone(entry.body)
        for device in body["spec"]["devices"]:
            left = [t for t in device.get("taints") or [] if t.get("key") != TAINT_KEY]
            device["taints"] = left
            if not left:
                del device["taints"]
        self._put_devices(entry, body)
        return f"device {name} of {entry.name} is well again"

    def _put_devices(self, entry: Entry, body: Json) -> None:
        patch = {"spec": {"devices": body["spec"]["devices"]}}
        where = target("ResourceSlice", entry.name)
        self._writer.patch(where, patch, MERGE, ANYONE, dry_run=False)

    # --- republishing -----------------------------------------------------

    def republish(self) -> str:
        """A driver starts a new generation of a pool: only its first slice, for now."""
        pools = [key for key, parts in self._pools().items() if _complete(parts)]
        if not pools:
            return ""
        key = self._random.choice(sorted(pools))
        parts = self._pools()[key]
        self._raise_generation(parts[0], _generation(parts[0]) + 1)
        self._unfinished = key
        return f"pool {'/'.join(key)} is being republished"

    def _finish_republish(self, key: tuple[str, str]) -> str:
        self._unfinished = None
        parts = self._pools().get(key, [])
        if not parts:
            return ""
        newest = max(_generation(part) for part in parts)
        for part in parts:
            if _generation(part) < newest:
                self._raise_generation(part, newest)
        return f"pool {'/'.join(key)} is complete again"

    def _raise_generation(self, part: Entry, generation: int) -> None:
        patch = {"spec": {"pool": {"generation": generation}}}
        where = target("ResourceSlice", part.name)
        self._writer.patch(where, patch, MERGE, ANYONE, dry_run=False)

    def _pools(self) -> dict[tuple[str, str], list[Entry]]:
        """The slices of each pool of several slices, by driver and pool name."""
        pools: dict[tuple[str, str], list[Entry]] = {}
        for entry in self._store.current(KINDS["ResourceSlice"])[1]:
            spec = entry.body["spec"]
            pools.setdefault((spec["driver"], spec["pool"]["name"]), []).append(entry)
        return {key: parts for key, parts in pools.items() if len(parts) > 1}


def _generation(part: Entry) -> int:
    return int(part.body["spec"]["pool"].get("generation") or 0)


def _complete(parts: list[Entry]) -> bool:
    count = parts[0].body["spec"]["pool"].get("resourceSliceCount")
    return len(parts) == count and len({_generation(part) for part in parts}) == 1
