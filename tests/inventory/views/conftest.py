"""Small clusters for pages, written by the real mirror."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from inventory.models import Cluster
from tests.mirrored import mirror, mirror_demo

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo(nodes=6)


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def named(kind: str, name: str, spec: Json, *, namespace: str = "") -> Json:
    version = "v1" if kind in {"Node", "Pod", "Namespace"} else "resource.k8s.io/v1"
    meta = {"name": name, "uid": f"uid-{kind}-{name}"}
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


def slice_(
    name: str, devices: list[Json], *, generation: int = 1, count: int = 1, **spec: Any
) -> Json:
    pool = {"name": "p1", "generation": generation, "resourceSliceCount": count}
    body = {"driver": "d.example", "nodeName": "n1", "pool": pool, **spec}
    return named(
        "ResourceSlice", name, body | ({"devices": devices} if devices else {})
    )


def claim(name: str, *results: Json) -> Json:
    request = {"name": "r", "exactly": {"deviceClassName": "any", "count": 1}}
    found = named(
        "ResourceClaim", name, {"devices": {"requests": [request]}}, namespace="team"
    )
    if results:
        full = [
            {"request": "r", "driver": "d.example", "pool": "p1"} | r for r in results
        ]
        found["status"] = {"allocation": {"devices": {"results": full}}}
    return found


@pytest.fixture
def small(db: None) -> Callable[..., Cluster]:
    """``small(*objects)``: a cluster "lab" with one node and these objects."""

    def make(*objects: Json) -> Cluster:
        return mirror([named("Node", "n1", {}), *objects], name="lab")

    return make
