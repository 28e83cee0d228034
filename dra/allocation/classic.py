"""The cluster as the older allocator of Kubernetes sees it (quirk classic-allocator)."""

from __future__ import annotations

from typing import cast

from msgspec.structs import replace

from dra.objects import ResourceSlice
from dra.snapshot import Snapshot


def without_sharing(snapshot: Snapshot) -> Snapshot:
    """The same cluster with no device that allows multiple allocations.

    The older allocator does not tell selectors of it, so for them no device does.
    """
    memo = snapshot.device_tables.memo
    found = memo.get("without sharing")
    if found is None or found[0] is not snapshot:
        changed = [s for s in snapshot.slices.values() if _is_shared(s)]
        plain = snapshot.edit(add=map(_plain, changed)) if changed else snapshot
        found = memo["without sharing"] = (snapshot, plain)
    return cast("Snapshot", found[1])


def _is_shared(piece: ResourceSlice) -> bool:
    return any(d.allow_multiple_allocations for d in piece.spec.devices or ())


def _plain(piece: ResourceSlice) -> ResourceSlice:
    devices = [
        replace(d, allow_multiple_allocations=None) for d in piece.spec.devices or ()
    ]
    return replace(piece, spec=replace(piece.spec, devices=devices))
