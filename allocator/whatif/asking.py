"""A scenario asked on the newest snapshot of a cluster, within bounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from allocator import snapshots
from allocator.whatif.results import stored
from dra.allocation.features import Features
from dra.cel.selection import Stop
from dra.snapshot import Snapshot
from dra.whatif import Scenario, Simulation, simulate
from dra.whatif.run import Report
from inventory.models import Cluster


@dataclass(frozen=True, slots=True)
class Asked:
    """``result`` as a row holds it, and the state of the cluster that was asked."""

    result: dict[str, Any]
    seq: int
    at: datetime
    seconds: float

    @property
    def complete(self) -> bool:
        return bool(self.result["complete"])

    @property
    def found(self) -> int:
        return found_in(self.result)


def found_in(result: Mapping[str, Any]) -> int:
    """How far an answer is: how many pods and claims have found a place by then."""
    left_out = result["leftOut"].get("placements", 0)
    return len(result["placements"]) + int(left_out)


type Look = Callable[[Callable[[], Asked]], None]
"""Called now and then; what it is given makes the answer so far."""


def ask(
    cluster: Cluster,
    scenario: Scenario,
    *,
    stop: Stop | None = None,
    progress: Report | None = None,
    look: Look | None = None,
    count_always: bool = False,
    goes_on: bool = False,
) -> Asked:
    """``count_always``: tell the difference before and after even when it was stopped;
    ``goes_on``: a worker goes on when it is.

    Raises :class:`~dra.whatif.ScenarioError` for what this cluster cannot have.
    """
    snapshot, at = snapshots.current(cluster), timezone.now()
    began = time.monotonic()

    def asked(found: Simulation) -> Asked:
        return Asked(
            stored(snapshot, found), snapshot.seq, at, time.monotonic() - began
        )

    def partly(so_far: Callable[[], Simulation]) -> None:
        if look is not None:
            look(lambda: asked(so_far()))

    return asked(
        simulate(
            snapshot,
            scenario,
            features=features_of(cluster),
            extended_resources=extended_resources_of(cluster),
            stop=stop,
            progress=progress,
            partly=partly if look is not None else None,
            count_always=count_always,
            goes_on=goes_on,
        )
    )


def features_of(cluster: Cluster) -> Features:
    """The gates of the cluster's version, as the engine takes them."""
    return cluster.features


def extended_resources_of(cluster: Cluster) -> bool:
    """Whether classes stand for extended resources; as in 1.36 where that is not known."""
    return cluster.gates.extended_resource


def snapshot_of(cluster: Cluster) -> Snapshot:
    """What a scenario would be asked on now."""
    return snapshots.current(cluster)
