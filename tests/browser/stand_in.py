"""The demo's stand-in cluster, written to past the portal, as anybody with kubectl does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from tests.running_demo import Demo


@contextmanager
def connected(demo: Demo) -> Iterator[ClusterClient]:
    path = demo.directory / "kubeconfig"
    client = ClusterClient.connect(ClusterConfig(name="demo", kubeconfig=path))
    try:
        yield client
    finally:
        client.close()


def label_claim(demo: Demo, namespace: str, name: str, label: str) -> None:
    """A change of a claim that changes nothing about its devices."""
    with connected(demo) as client:
        served = client.discover()["ResourceClaim"]
        client.patch(served, namespace, name, {"metadata": {"labels": {label: "true"}}})
