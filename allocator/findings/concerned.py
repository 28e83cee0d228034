"""On which objects' pages a finding is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dra.audits import Code, Finding
from dra.names import DeviceID, PoolKey
from dra.snapshot import Snapshot

MOST = 100
"""Objects of one finding; what concerns more is shown on the first of them."""


class ObjectRef(NamedTuple):
    """``kind`` as in a subject, or "Device" with ``driver/pool/device``."""

    kind: str
    namespace: str
    name: str


def claim_ref(namespace: str, name: str) -> ObjectRef:
    return ObjectRef("ResourceClaim", namespace, name)


def pool_ref(driver: str, pool: str) -> ObjectRef:
    return ObjectRef("Pool", "", f"{driver}/{pool}")


def device_ref(driver: str, pool: str, name: str) -> ObjectRef:
    return ObjectRef("Device", "", f"{driver}/{pool}/{name}")


def pool_of(text: str) -> PoolKey | None:
    """Of ``driver/pool``: a driver's name has no slash, a pool's may."""
    driver, slash, pool = text.partition("/")
    return PoolKey(driver, pool) if slash else None


def device_of(text: str) -> DeviceID | None:
    """Of ``driver/pool/device``: neither a driver's nor a device's name has a slash."""
    driver, _, rest = text.partition("/")
    pool, slash, device = rest.rpartition("/")
    return DeviceID(driver, pool, device) if slash else None


def concerned(found: Finding, snapshot: Snapshot) -> list[ObjectRef]:
    """The subject first; each once."""
    return list(dict.fromkeys(_concerned(found, snapshot)))[:MOST]


def _concerned(found: Finding, snapshot: Snapshot) -> Iterator[ObjectRef]:
    subject = found.subject
    yield ObjectRef(subject.kind, subject.namespace, subject.name)
    device = device_of(subject.device or found.evidence.get("device", ""))
    pool = pool_of(subject.name) if subject.kind == "Pool" else None
    if device is not None:
        yield device_ref(*device)
        pool = PoolKey(device.driver, device.pool)
    if pool is not None:
        yield pool_ref(*pool)
        for node in _nodes(pool, snapshot):
            yield ObjectRef("Node", "", node)
    if subject.kind == "Driver":
        for name in filter(None, found.evidence.get("pools", "").split(", ")):
            yield pool_ref(subject.name, name)
    if subject.kind == "Pool" and pool is not None:
        yield from _holders(_devices(found, device), pool, snapshot)


def _nodes(key: PoolKey, snapshot: Snapshot) -> list[str]:
    pool = snapshot.pools.get(key)
    if pool is None:
        return []
    return sorted({p.spec.node_name for p in pool.arrival if p.spec.node_name})


def _devices(found: Finding, device: DeviceID | None) -> list[str]:
    """Names of the devices that claims together hold too much of."""
    if device is not None:
        return [device.device]
    if found.code == Code.COUNTERS_OVERCOMMITTED:
        return found.evidence.get("devices", "").split(", ")
    return []


def _holders(names: list[str], key: PoolKey, snapshot: Snapshot) -> Iterator[ObjectRef]:
    use = snapshot.in_use.pool(key)
    for name in names:
        yield device_ref(key.driver, key.name, name)
        for holder in use.holders.get(name, ()):
            yield claim_ref(*holder.claim_key)
