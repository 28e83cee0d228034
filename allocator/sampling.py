"""One sample of the use of a cluster, from its snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np
import structlog
from django.utils import timezone

from allocator import snapshots
from dra.allocation.classes import ClassUsage, class_usage
from dra.allocation.features import Features
from dra.cel.listing import Listing
from dra.device_states import STATES, StateCodes, table_states
from dra.snapshot import Snapshot
from dra.usage import State
from inventory.choices import Source, UsageKind
from inventory.history import storing
from inventory.history.numbers import WHOLE, Key, Numbers
from inventory.models import Cluster, WatchState
from inventory.queries.freshness import watch_lives

log = structlog.get_logger("allocator.sampling")

NEEDED: Final = ("ResourceSlice", "ResourceClaim")
"""Kinds without whose watch the numbers would be old ones."""
_FIELDS: Final = {
    State.FREE: "free",
    State.IN_USE: "in_use",
    State.SHARED: "shared",
    State.BLOCKED: "blocked",
    State.TAINTED: "tainted",
    State.INCOMPLETE: "incomplete",
    State.INVALID: "invalid",
}


def sample_usage() -> int:
    """Keep a sample of every cluster whose mirror is up to date; how many rows changed."""
    changed = 0
    for cluster in Cluster.objects.all():
        try:
            changed += sample(cluster) or 0
        # One cluster that cannot be counted must not cost the others their sample.
        except Exception:
            log.exception("usage.not_sampled", cluster=cluster.name)
    return changed


def sample(cluster: Cluster) -> int | None:
    """Keep a sample of a cluster; how many rows changed, None: there was none to keep.

    A mirror that is not up to date gives none, and that it was not is kept: from the
    sample before to the next one there is a gap.
    """
    at = timezone.now()
    if not is_current(cluster):
        storing.lose(cluster, at)
        return None
    return storing.keep(
        cluster, count(snapshots.current(cluster), cluster.features), at
    )


def is_current(cluster: Cluster) -> bool:
    """Whether the mirror shows what is: the watch lives, and those of its kinds too.

    A dump is what it was when it was read.
    """
    if cluster.error or cluster.left_at:
        return False
    watches = WatchState.objects.filter(cluster=cluster, kind__in=NEEDED)
    by_kind = {watch.kind: watch for watch in watches}
    if set(by_kind) != set(NEEDED):
        return False
    if cluster.source == Source.DUMP:
        return all(watch.listed_at for watch in by_kind.values())
    live = all(watch.state == "live" for watch in by_kind.values())
    return live and watch_lives()


def count(snapshot: Snapshot, features: Features) -> dict[Key, Numbers]:
    """Devices by state of the cluster and its classes, drivers, nodes and namespaces."""
    codes = table_states(snapshot)
    ids = snapshot.devices(lists=features.list_type_attributes).ids
    found = dict(_of_namespaces(snapshot))
    pending = sum(numbers.pending for numbers in found.values())
    whole = _numbers(np.bincount(codes, minlength=len(STATES)).tolist())
    found[WHOLE] = whole._replace(pending=pending)
    found |= _grouped(UsageKind.DRIVER, ids.drivers, codes)
    found |= _grouped(UsageKind.NODE, list(_nodes(ids)), codes)
    for name, usage in class_usage(snapshot, features=features).items():
        found[Key(UsageKind.CLASS, name)] = _of_class(usage)
    return found


def _of_namespaces(snapshot: Snapshot) -> Mapping[Key, Numbers]:
    held: Counter[str] = Counter()
    pending: Counter[str] = Counter()
    for claim in snapshot.claims.values():
        namespace, allocation = claim.metadata.namespace, claim.status.allocation
        if allocation is None:
            pending[namespace] += 1
        else:
            results = allocation.devices.results or ()
            held[namespace] += sum(1 for result in results if not result.admin_access)
    return {
        Key(UsageKind.NAMESPACE, name): Numbers(
            in_use=held[name], pending=pending[name]
        )
        for name in held.keys() | pending.keys()
    }


def _nodes(ids: Listing) -> Iterator[str]:
    """The node of each device; empty where it is on several."""
    for block in ids.blocks:
        node = (block.slice.spec.node_name if block.slice else "") or ""
        for device in ids.devices[block.start : block.stop]:
            yield node or device.node_name or ""


def _grouped(
    kind: UsageKind, names: Iterable[str], codes: StateCodes
) -> dict[Key, Numbers]:
    """Devices by the name at their place, and by state."""
    places: dict[str, int] = {}
    groups = np.fromiter(
        (places.setdefault(name, len(places)) for name in names), np.intp, len(codes)
    )
    width = len(STATES)
    counts = np.bincount(groups * width + codes, minlength=len(places) * width)
    rows = counts.reshape(len(places), width).tolist()
    return {
        Key(kind, name): _numbers(row)
        for name, row in zip(places, rows, strict=True)
        if name
    }


def _numbers(by_code: list[int]) -> Numbers:
    named = {_FIELDS[state]: by_code[code] for code, state in enumerate(STATES)}
    return Numbers(**named)


def _of_class(usage: ClassUsage) -> Numbers:
    return Numbers(
        free=usage.free,
        in_use=usage.in_use,
        shared=usage.shared,
        blocked=usage.blocked,
        tainted=usage.tainted,
        incomplete=usage.incomplete,
        invalid=usage.invalid,
    )
