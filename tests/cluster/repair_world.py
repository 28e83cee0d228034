"""A cluster in which a device is booked twice, beside a scheduler that forgets."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

from cluster.writeback import Release
from cluster.writeback.putting_back import Rewrite
from cluster.writeback.quarantining import Quarantine, Quarantined, Quarantiner
from cluster.writeback.releasing import Releaser
from cluster.writeback.rewriting import Rewriter
from dra.names import DeviceID
from tests.cluster.guarded_world import QUICK, GuardedWorld, options
from tests.cluster.standin import scheduled as small

Json = dict[str, Any]
GPU = DeviceID(small.DRIVER, "n1", "gpu-0")
REPAIR = "6f1c2b1e-0000-4000-8000-000000000001"
SAFE = {"taint_rules": "safe"}


def book_twice(world: GuardedWorld, **first: Any) -> None:
    """The scheduler gave the device to "first", somebody else wrote it for "second"."""
    world.add("first", **first)
    world.store.put(small.pod("one", "first"))
    small.eventually(lambda: small.scheduled(world.store, "one") == "True", "binding")
    world.add("second")
    second = world.claim("second")
    held = copy.deepcopy(world.claim("first")["status"]["allocation"])
    held["devices"]["results"] = held["devices"]["results"][:1]
    second["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]
    second["status"] = {"allocation": held}
    world.store.put(second)


def third(world: GuardedWorld) -> None:
    world.add("third")
    world.store.put(small.pod("three", "third"))
    small.eventually(lambda: small.scheduled(world.store, "three"), "a verdict")


def quarantine(**changes: Any) -> Quarantine:
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    given: dict[str, Any] = {"expires": end, "finding": "12", "created_by": "ada"}
    return Quarantine(GPU, REPAIR, **given | changes)


def quarantiner(world: GuardedWorld, **told: Any) -> Quarantiner:
    return Quarantiner(world.client, options(**told), patience=QUICK)


def put(world: GuardedWorld, told: dict[str, Any], **changes: Any) -> Quarantined:
    outcome = quarantiner(world, **told).put(quarantine(**changes))
    assert isinstance(outcome, Quarantined), outcome
    return outcome


def release(world: GuardedWorld, name: str) -> None:
    claim = world.claim(name)
    meta = claim["metadata"]
    order = Release(
        "lab", name, meta["uid"], override=True, seen=meta["resourceVersion"]
    )
    Releaser(world.client, options(), patience=QUICK).release(order)
    assert world.devices(name) == []


def rewrite_order(world: GuardedWorld, name: str = "first", **changes: Any) -> Rewrite:
    claim = world.claim(name)
    given = {
        "status": claim.get("status", {}),
        "seen": claim["metadata"]["resourceVersion"],
        "quarantine": REPAIR,
        "run": "run-9",
    }
    return Rewrite("lab", name, claim["metadata"]["uid"], **given | changes)


def rewriter(world: GuardedWorld, **told: Any) -> Rewriter:
    return Rewriter(world.client, options(**told), patience=QUICK)
