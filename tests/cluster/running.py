"""A reflector in its thread, against a stand-in over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from cluster.reflector import Options, Reflector
from cluster.resources import BY_KIND, ServedResource
from cluster.standin.server import StandinServer
from tests.cluster.stores import PATIENCE, MemoryStore

Json = dict[str, Any]

SLICES = ServedResource(BY_KIND["ResourceSlice"], "v1")
CLAIMS = ServedResource(BY_KIND["ResourceClaim"], "v1")
NODES = ServedResource(BY_KIND["Node"], "v1")


def client_of(
    standin: StandinServer, folder: Path, *, token: str = ""
) -> ClusterClient:
    path = standin.write_kubeconfig(folder / "kubeconfig", token=token)
    return ClusterClient.connect(ClusterConfig(name="demo", kubeconfig=path))


def resource_slice(name: str, *, generation: int = 1, node: str = "node-1") -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": node,
            "pool": {"name": name, "generation": generation, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0", "attributes": {"model": {"string": "A"}}}],
        },
    }


def claim(name: str, *, namespace: str = "default") -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "devices": {
                "requests": [
                    {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
                ]
            }
        },
    }


class Waits:
    """Stands in for waiting: remembers how long it should have been, and does not."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, stop: threading.Event, seconds: float) -> None:
        self.seconds.append(seconds)
        # A moment, so that a loop without waits does not starve the test.
        stop.wait(0.01)


class Running:
    """What a test wants to know about a reflector that runs."""

    def __init__(self, reflector: Reflector, store: MemoryStore, waits: Waits) -> None:
        self.store = store
        self.waits = waits
        self.stop = threading.Event()
        self.thread = threading.Thread(target=reflector.run, args=[self.stop])

    def stop_now(self) -> None:
        self.stop.set()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


@contextmanager
def running(
    client: ClusterClient,
    served: ServedResource,
    store: MemoryStore,
    *,
    options: Options | None = None,
    **arguments: Any,
) -> Iterator[Running]:
    waits = Waits()
    reflector = Reflector(
        client,
        served,
        store,
        options=options or Options(poll_seconds=0.05),
        **{"wait": waits, **arguments},
    )
    run = Running(reflector, store, waits)
    run.thread.start()
    try:
        yield run
    finally:
        run.stop_now()
        client.close()


def same_as_server(store: MemoryStore, standin: StandinServer, kind: str) -> bool:
    """The mirror holds exactly what the server holds."""
    server = {
        (obj["metadata"].get("namespace", ""), obj["metadata"]["name"]): obj
        for obj in standin.store.objects(kind)
    }
    return store.objects == server


def wait_for_equality(store: MemoryStore, standin: StandinServer, kind: str) -> None:
    store.wait_until(lambda: same_as_server(store, standin, kind))
