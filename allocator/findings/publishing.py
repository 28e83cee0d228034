"""What drivers stopped publishing, across restarts and workers.

Two looks are needed to see it, and the next look may be another process's: the types
that each pool published are kept in a table. A pool is compared when it is complete
again, also after it was away for a while, which is how drivers are upgraded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched
from typing import Any, Final

from django.db.models import Q

from allocator.models import PublishedPool
from dra.audits import Finding
from dra.audits.drift import (
    Lost,
    LostByAttribute,
    Published,
    Types,
    drift_findings,
    lost_between,
    published,
)
from dra.names import PoolKey
from dra.snapshot import Snapshot
from inventory.models import Cluster, Pool, ResourceSlice, Tombstone

KEPT: Final = timedelta(days=7)
"""How long a pool that is gone is remembered."""

_BATCH: Final = 500


@dataclass
class Publishing:
    """What one look found; ``store`` writes it, in the transaction of the findings."""

    findings: list[Finding]
    rows: list[PublishedPool] = field(default_factory=list)
    """New or changed."""
    gone: list[int] = field(default_factory=list)
    """Keys of rows of pools that are gone since the last look."""

    def store(self, cluster: Cluster, now: datetime) -> None:
        table = PublishedPool.objects.filter(cluster=cluster)
        for pks in batched(self.gone, _BATCH):
            table.filter(pk__in=pks).update(gone_at=now)
        PublishedPool.objects.bulk_create(
            self.rows,
            batch_size=_BATCH,
            update_conflicts=True,
            unique_fields=["cluster", "driver", "pool"],
            update_fields=["generation", "types", "lost", "losing", "gone_at"],
        )
        table.filter(gone_at__lt=now - KEPT).delete()


def look(cluster: Cluster, snapshot: Snapshot, since: int) -> Publishing:
    """Compare what changed after ``since`` (-1: everything) with what is kept."""
    changed = _changed(cluster, snapshot, since)
    kept = _kept(cluster, changed)
    rows = []
    for key in changed:
        row = _compared(cluster, key, snapshot, kept.get(key))
        if row is not None:
            rows.append(row)
    lost = _lost(cluster, snapshot)
    for row in rows:
        key = PoolKey(row.driver, row.pool)
        lost.pop(key, None)
        if row.losing:
            lost[key] = read_lost(row.lost)
    gone = _gone(cluster, snapshot) if changed or _went(cluster, since) else []
    return Publishing(list(drift_findings(lost)), rows, gone)


def _changed(cluster: Cluster, snapshot: Snapshot, since: int) -> list[PoolKey]:
    """Pools that have to be compared: complete ones, with names that a table takes."""
    if since < 0:
        keys: Iterable[PoolKey] = snapshot.pools
    else:
        slices = ResourceSlice.objects.filter(cluster=cluster, seq__gt=since)
        pools = Pool.objects.filter(cluster=cluster, seq__gt=since)
        keys = {
            PoolKey(*key)
            for key in (
                *slices.values_list("driver", "pool_name"),
                *pools.values_list("driver", "name"),
            )
        }
    found = []
    for key in sorted(keys):
        pool = snapshot.pools.get(key)
        fits = len(key.driver) <= 63 and len(key.name) <= 253
        if pool is not None and pool.complete and fits:
            found.append(key)
    return found


def _kept(cluster: Cluster, keys: list[PoolKey]) -> dict[PoolKey, PublishedPool]:
    rows: list[PublishedPool] = []
    table = PublishedPool.objects.filter(cluster=cluster)
    for some in batched(keys, _BATCH):
        names = Q(driver__in={k.driver for k in some}, pool__in={k.name for k in some})
        rows += table.filter(names)
    return {PoolKey(row.driver, row.pool): row for row in rows}


def _compared(
    cluster: Cluster, key: PoolKey, snapshot: Snapshot, row: PublishedPool | None
) -> PublishedPool | None:
    """The row as it should be; None when it is so already."""
    now = published(snapshot.pools[key])
    types = write_types(now.types)
    lost: LostByAttribute = {}
    if row is not None:
        was = Published(row.generation, read_types(row.types))
        lost = lost_between(read_lost(row.lost), was, now)
        same = (row.generation, row.types, row.lost, row.gone_at)
        if same == (now.generation, types, write_lost(lost), None):
            return None
    return PublishedPool(
        cluster=cluster,
        driver=key.driver,
        pool=key.name,
        generation=now.generation,
        types=types,
        lost=write_lost(lost),
        losing=bool(lost),
        gone_at=None,
    )


def _lost(cluster: Cluster, snapshot: Snapshot) -> dict[PoolKey, LostByAttribute]:
    """Of pools that exist; what a pool that is gone had lost is nobody's trouble."""
    rows = PublishedPool.objects.filter(cluster=cluster, losing=True)
    return {
        key: read_lost(lost)
        for driver, pool, lost in rows.values_list("driver", "pool", "lost")
        if (key := PoolKey(driver, pool)) in snapshot.pools
    }


def _went(cluster: Cluster, since: int) -> bool:
    """Whether a slice may have been deleted."""
    deleted = Tombstone.objects.filter(
        cluster=cluster, kind="ResourceSlice", seq__gt=since
    )
    pruned = Cluster.objects.filter(pk=cluster.pk, pruned_seq__gt=since)
    return deleted.exists() or pruned.exists()


def _gone(cluster: Cluster, snapshot: Snapshot) -> list[int]:
    rows = PublishedPool.objects.filter(cluster=cluster, gone_at=None)
    return [
        pk
        for pk, driver, pool in rows.values_list("pk", "driver", "pool")
        if PoolKey(driver, pool) not in snapshot.pools
    ]


# --- as JSON ---------------------------------------------------------------------


def write_types(types: Types) -> list[Any]:
    """One entry for all devices that are alike: ``[types, names]``."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for device, attributes in types.items():
        alike.setdefault(tuple(sorted(attributes.items())), []).append(device)
    return [[dict(attributes), names] for attributes, names in alike.items()]


def read_types(stored: list[Any]) -> Types:
    return {name: attributes for attributes, names in stored for name in names}


def write_lost(lost: Mapping[tuple[str, str], Lost]) -> list[Any]:
    return [[*key, *one] for key, one in sorted(lost.items())]


def read_lost(stored: list[Any]) -> LostByAttribute:
    return {
        (device, name): Lost(was, now, generation)
        for device, name, was, now, generation in stored
    }
