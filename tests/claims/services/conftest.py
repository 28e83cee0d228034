"""A cluster that can be written to: a stand-in, its entry in the clusters file, its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cluster.standin.access import User
from cluster.standin.kinds import KINDS
from cluster.standin.server import StandinServer
from inventory import clients
from tests.mirrored import mirror

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


def device_class(name: str) -> Json:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {},
    }


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}}


class Writable:
    """``server`` has the truth; mirrored is what was there at first."""

    def __init__(
        self,
        directory: Path,
        settings: Any,
        *,
        users: dict[str, User] | None = None,
        token: str = "",
        entry: str = "",
        more: Sequence[Json] = (),
    ) -> None:
        self.server = StandinServer(
            [NAMESPACE, claim("one"), device_class("gpu.acme.test"), *more], users=users
        ).start()
        kubeconfig = self.server.write_kubeconfig(directory / "kubeconfig", token=token)
        self.file = directory / "clusters.yaml"
        self.kubeconfig = kubeconfig
        self.enter(entry)
        settings.CLUSTERS_FILE = str(self.file)
        clients.forget()
        self.cluster = mirror(
            (obj for kind in KINDS for obj in self.server.store.objects(kind)),
            name="lab",
        )

    def enter(self, entry: str) -> None:
        """The cluster's entry in the clusters file, with more settings."""
        self.file.write_text(
            f"clusters: [{{name: lab, kubeconfig: {self.kubeconfig}{entry}}}]",
            encoding="utf-8",
        )

    def stored(self, name: str, kind: str = "ResourceClaim") -> Json | None:
        namespace = "" if kind == "DeviceClass" else "lab"
        return self.server.store.get(kind, name, namespace)

    def the(self, name: str = "one", kind: str = "ResourceClaim") -> Json:
        found = self.stored(name, kind)
        assert found is not None
        return found

    def close(self) -> None:
        clients.forget()
        self.server.stop()


@pytest.fixture
def writable_with(
    tmp_path: Path, settings: Any, db: None
) -> Iterator[Callable[..., Writable]]:
    made: list[Writable] = []

    def make(**how: Any) -> Writable:
        made.append(Writable(tmp_path, settings, **how))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def writable(writable_with: Callable[..., Writable]) -> Writable:
    return writable_with()
