"""A cluster in the tables, written by the real mirror."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from claims.mirror import store_for
from cluster.resources import RESOURCES
from cluster.standin.generator import generate
from cluster.store import State
from inventory.choices import Source
from inventory.models import Cluster

Json = dict[str, Any]


def mirror(
    objects: Iterable[Json], *, name: str = "demo", read_only: bool = False
) -> Cluster:
    """Make a cluster row and list ``objects`` into it, kind by kind."""
    cluster = Cluster.objects.create(
        name=name, source=Source.KUBECONFIG, read_only=read_only, version="v1.36.2"
    )
    by_kind: dict[str, list[Json]] = {resource.kind: [] for resource in RESOURCES}
    for number, obj in enumerate(objects, start=1):
        obj["metadata"].setdefault("resourceVersion", str(number))
        by_kind[obj["kind"]].append(obj)
    for kind, of_kind in by_kind.items():
        store = store_for(kind, cluster.pk)
        store.replace(of_kind, "1000")
        store.report(State.LIVE, api_version="v1")
    cluster.refresh_from_db()
    return cluster


def mirror_demo(*, nodes: int = 20, name: str = "demo") -> Cluster:
    """The demo's cluster."""
    return mirror(generate(nodes=nodes), name=name)
