"""In which versions a cluster serves the kinds that are mirrored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from dra.validation.serving import may_serve
from inventory.models import Cluster, WatchState

_STABLE: Final = "resource.k8s.io/v1"


def newest_served(cluster: Cluster, sent: Iterable[Any]) -> list[str]:
    """For each of ``sent``, any JSON values, the newest version that the watch found for
    its kind.

    Empty where that is not known, as of a dump, and where it is not asked: a release
    that may serve v1 serves it. At most one query.
    """
    kinds = [_kind(cluster, value) for value in sent]
    if not any(kinds):
        return ["" for _ in kinds]
    rows = WatchState.objects.filter(cluster=cluster)
    found = dict(rows.values_list("kind", "api_version"))
    return [found.get(kind, "") for kind in kinds]


def _kind(cluster: Cluster, value: Any) -> str:
    """Empty: there is nothing to ask."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        return ""
    if cluster.version and value.get("apiVersion") == _STABLE:
        return "" if may_serve(kind, _STABLE, cluster.gates.release) else kind
    return kind
