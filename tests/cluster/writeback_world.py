"""A stand-in cluster with one pending claim, and a writer that is not patient."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from cluster.standin.access import User
from cluster.standin.server import StandinServer
from cluster.writeback import Order, Written, timestamp
from cluster.writeback.direct import DirectWriter
from cluster.writeback.patience import Patience
from dra.objects import (
    AllocationConfig,
    AllocationDevices,
    AllocationResult,
    DeviceResult,
    NodeSelector,
    NodeSelectorTerm,
    OpaqueConfig,
    SelectorRequirement,
    read,
    write,
)

Json = dict[str, Any]


def claim(name: str = "one", **metadata: Any) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "lab", "name": name, **metadata},
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "gpu",
                        "exactly": {
                            "deviceClassName": "gpu.acme.test",
                            "allocationMode": "ExactCount",
                            "count": 1,
                        },
                    }
                ]
            }
        },
    }


def namespace() -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}}


def allocation(device: str = "gpu-0", parameters: Any = None) -> AllocationResult:
    return AllocationResult(
        devices=AllocationDevices(
            results=[
                DeviceResult(
                    request="gpu", driver="gpu.acme.test", pool="n1", device=device
                )
            ],
            config=[
                AllocationConfig(
                    source="FromClass",
                    requests=["gpu"],
                    opaque=OpaqueConfig(
                        driver="gpu.acme.test",
                        parameters={"mode": "exclusive"}
                        if parameters is None
                        else parameters,
                    ),
                )
            ],
        ),
        node_selector=NodeSelector(
            node_selector_terms=[
                NodeSelectorTerm(
                    match_fields=[
                        SelectorRequirement(
                            key="metadata.name", operator="In", values=["n1"]
                        )
                    ]
                )
            ]
        ),
        allocation_timestamp=timestamp(),
    )


class World:
    """The server, a client of it, and the writer under test."""

    def __init__(
        self, server: StandinServer, directory: Path, *, token: str = ""
    ) -> None:
        self.server = server
        self.pauses: list[float] = []
        path = server.write_kubeconfig(directory / "kubeconfig", token=token)
        config = ClusterConfig(name="standin", kubeconfig=path)
        self.client = ClusterClient.connect(config)
        self.writer = DirectWriter(
            self.client, patience=Patience(attempts=3, sleep=self.pauses.append)
        )

    def claim(self, name: str = "one") -> Json:
        found = self.server.store.get("ResourceClaim", name, "lab")
        assert found is not None
        return found

    def order(self, wanted: AllocationResult | None = None, name: str = "one") -> Order:
        return Order(
            namespace="lab",
            name=name,
            uid=self.claim(name)["metadata"]["uid"],
            allocation=wanted or allocation(),
            node_name="n1",
        )

    def label(self, name: str = "one", value: str = "x") -> None:
        """A second writer changes the claim."""
        changed = self.claim(name)
        changed["metadata"].setdefault("labels", {})["touched"] = value
        self.server.store.put(changed)

    def allocate_elsewhere(self, device: str = "gpu-7") -> None:
        """A scheduler takes the claim."""
        changed = self.claim()
        changed["status"] = {"allocation": write(allocation(device))}
        self.server.store.put(changed)


def server(users: dict[str, User] | None = None, **served: Any) -> StandinServer:
    return StandinServer([namespace(), claim()], users=users, **served)


def outcome_allocation(outcome: Written) -> AllocationResult:
    """What the claim holds after the write."""
    return read(outcome.claim["status"]["allocation"], AllocationResult)
