"""A stand-in with one claim and one class, and a writer that is not patient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from cluster.objects import Expected, expected_of
from cluster.objects.writing import ObjectWriter
from cluster.standin.access import User
from cluster.standin.server import StandinServer
from cluster.writeback.patience import Patience

Json = dict[str, Any]
GROUP = "resource.k8s.io"


def claim(name: str = "new", **meta: Any) -> Json:
    exactly = {"deviceClassName": "gpu.acme.test"}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "lab", "name": name, **meta},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
    }


def template(name: str = "new") -> Json:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"namespace": "lab", "name": name},
        "spec": {"spec": claim()["spec"]},
    }


def device_class(name: str = "new.acme.test") -> Json:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {},
    }


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}}


class World:
    """A server, and a writer that knows already where the kinds are served."""

    def __init__(
        self,
        directory: Path,
        *,
        version: str = "v1",
        users: dict[str, User] | None = None,
        token: str = "",
    ) -> None:
        self.server = StandinServer(
            [NAMESPACE, claim("one"), device_class("gpu.acme.test")],
            served={GROUP: (version,)},
            users=users,
        ).start()
        self.pauses: list[float] = []
        path = self.server.write_kubeconfig(directory / "kubeconfig", token=token)
        self.client = ClusterClient.connect(ClusterConfig(name="lab", kubeconfig=path))
        patience = Patience(attempts=3, sleep=self.pauses.append)
        self.writer = ObjectWriter(self.client, patience=patience)
        self.writer.create(claim("warm"), dry_run=True)

    def close(self) -> None:
        self.client.close()
        self.server.stop()

    @property
    def faults(self) -> Any:
        return self.server.faults

    def stored(self, name: str, kind: str = "ResourceClaim") -> Json | None:
        namespace = "" if kind == "DeviceClass" else "lab"
        return self.server.store.get(kind, name, namespace)

    def the(self, name: str = "one", kind: str = "ResourceClaim") -> Json:
        found = self.stored(name, kind)
        assert found is not None
        return found

    def seen(self, name: str = "one", kind: str = "ResourceClaim") -> Expected:
        return expected_of(self.the(name, kind))

    def touch(self, name: str = "one") -> None:
        """Somebody else changes the claim."""
        changed = self.the(name)
        changed["metadata"].setdefault("labels", {})["touched"] = "yes"
        self.server.store.put(changed)

    def put(self, obj: Json) -> None:
        self.server.store.put(obj)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def world_of(tmp_path: Path) -> Iterator[Callable[..., World]]:
    made: list[World] = []

    def make(**how: Any) -> World:
        made.append(World(tmp_path, **how))
        return made[-1]

    yield make
    for each in made:
        each.close()
