"""The only writer of the tables of claims, templates and pods.

:func:`store_for` gives the store of any mirrored kind, those of ``inventory``
included, wired so that devices learn what claims hold.
"""

from __future__ import annotations

from claims.mirror.claims import ResourceClaimStore, ResourceClaimTemplateStore
from claims.mirror.pods import PodGroupStore, PodStore
from claims.mirror.states import held_devices
from inventory.mirror import (
    ALWAYS,
    DeviceClassStore,
    DeviceTaintRuleStore,
    Guard,
    MirrorStore,
    NamespaceStore,
    NodeStore,
    ResourceSliceStore,
)

_PLAIN: dict[str, type[MirrorStore]] = {
    store.kind: store
    for store in (
        DeviceClassStore,
        NamespaceStore,
        NodeStore,
        PodGroupStore,
        PodStore,
        ResourceClaimStore,
        ResourceClaimTemplateStore,
    )
}

KINDS = (
    "Namespace",
    "Node",
    "DeviceClass",
    "DeviceTaintRule",
    "ResourceClaimTemplate",
    "PodGroup",
    "Pod",
    "ResourceClaim",
    "ResourceSlice",
)
"""All mirrored kinds, in the order in which a whole cluster is read most cheaply:
what others are derived from first. Any other order ends in the same rows."""


def store_for(
    kind: str, cluster_id: int, *, guard: Guard = ALWAYS, compare_raw: bool = False
) -> MirrorStore:
    """The mirror of ``kind`` of one cluster; KeyError for a kind we do not mirror."""
    if kind == ResourceSliceStore.kind:
        return ResourceSliceStore(
            cluster_id, guard=guard, compare_raw=compare_raw, holdings=held_devices
        )
    if kind == DeviceTaintRuleStore.kind:
        return DeviceTaintRuleStore(
            cluster_id, guard=guard, compare_raw=compare_raw, holdings=held_devices
        )
    return _PLAIN[kind](cluster_id, guard=guard, compare_raw=compare_raw)


__all__ = ["KINDS", "PodGroupStore", "PodStore", "ResourceClaimStore", "store_for"]
