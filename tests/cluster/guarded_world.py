"""A cluster where a scheduler works, and a writer beside it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from cluster.standin.access import User
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from cluster.standin.server import StandinServer
from cluster.writeback import Order, timestamp
from cluster.writeback.patience import Patience
from cluster.writer_options import (
    CarrierOptions,
    GuardOptions,
    SchedulerOptions,
    WriterOptions,
)
from dra.objects import (
    AllocationDevices,
    AllocationResult,
    DeviceResult,
    NodeSelector,
    NodeSelectorTerm,
    SelectorRequirement,
)
from tests.cluster.standin import scheduled as small

Json = dict[str, Any]
SERVED = {"resource.k8s.io": ("v1", "v1beta2")}
PATIENCE = 60.0
"""Seconds for what comes in a moment."""
REFUSED = Habits(delay=0.0, refuse_binding="dra-portal-carrier-", backoff=600.0)
"""A policy refuses to bind carriers; while a test looks, nobody tries once more."""
QUICK = Patience(attempts=6, delay=0.01, longest=0.05)
"""Enough for the faults of these tests."""


def allocation(*devices: str, node: str = "n1") -> AllocationResult:
    field = SelectorRequirement(key="metadata.name", operator="In", values=[node])
    return AllocationResult(
        devices=AllocationDevices(
            results=[
                DeviceResult(request="gpu", driver=small.DRIVER, pool=node, device=d)
                for d in devices or ("gpu-0",)
            ]
        ),
        node_selector=NodeSelector(
            node_selector_terms=[NodeSelectorTerm(match_fields=[field])]
        ),
        allocation_timestamp=timestamp(),
    )


def options(**changes: Any) -> WriterOptions:
    """Long patience, no pauses; keyword names are those of the groups of options."""

    def some(kind: type[Any], **quick: Any) -> Any:
        known = {field.name for field in dataclasses.fields(kind)}
        return kind(**quick | {k: v for k, v in changes.items() if k in known})

    return WriterOptions(
        carrier=some(CarrierOptions, wait=PATIENCE, clean=PATIENCE),
        guard=some(
            GuardOptions, settle=0.0, barrier=PATIENCE, marks=PATIENCE, busy=600.0
        ),
        scheduler=some(SchedulerOptions),
    )


class GuardedWorld:
    """``server`` has the truth; ``with world:`` the scheduler runs."""

    def __init__(
        self,
        directory: Path,
        *,
        nodes: int = 1,
        devices: int = 1,
        users: dict[str, User] | None = None,
        token: str = "",
        served: dict[str, tuple[str, ...]] | None = None,
        habits: Habits | None = None,
    ) -> None:
        objects = small.small_cluster(nodes=nodes, devices=devices)
        self.server = StandinServer(objects, users=users, served=served or SERVED)
        self.store = self.server.store
        self.plane = ControlPlane(self.store, habits or Habits(delay=0.0))
        self._directory = directory
        self._token = token

    def __enter__(self) -> GuardedWorld:
        self.server.start()
        path = self.server.write_kubeconfig(
            self._directory / "kubeconfig", token=self._token
        )
        config = ClusterConfig(name="standin", kubeconfig=path)
        self.client = ClusterClient.connect(config)
        self.plane.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.plane.stop()
        self.client.close()
        self.server.stop()

    def add(self, name: str = "one", **request: Any) -> Json:
        return self.store.put(small.claim(name, **request))

    def order(
        self, name: str = "one", *devices: str, node: str = "n1", **changes: Any
    ) -> Order:
        return Order(
            namespace="lab",
            name=name,
            uid=self.claim(name)["metadata"]["uid"],
            allocation=allocation(*devices, node=node),
            node_name=node,
            **{"run": "run-1", **changes},
        )

    def claim(self, name: str = "one") -> Json:
        found = self.store.get("ResourceClaim", name, "lab")
        assert found is not None
        return found

    def devices(self, name: str = "one") -> list[str]:
        return small.devices_of(self.store, name)

    def reserved(self, name: str = "one") -> list[str]:
        """Kinds of who has the claim reserved."""
        found = self.claim(name).get("status", {}).get("reservedFor") or []
        return [entry["resource"] for entry in found]

    def pods(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in self.store.objects("Pod")]

    def nothing_left(self) -> bool:
        """No pod, no rule and no node taint is there."""
        taints = [n["spec"].get("taints") for n in self.store.objects("Node")]
        rules = self.store.objects("DeviceTaintRule")
        return not self.pods() and not rules and not any(taints)
