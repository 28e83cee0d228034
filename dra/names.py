"""Names: what identifies an object, a pool, a device, and an attribute."""

from __future__ import annotations

from typing import NamedTuple


class ObjectKey(NamedTuple):
    """Which object. ``namespace`` is empty for cluster-scoped kinds."""

    kind: str
    namespace: str
    name: str


type NamespacedName = tuple[str, str]
"""Namespace and name."""


class PoolKey(NamedTuple):
    """Which pool. Equal to the plain pair ``(driver, name)``."""

    driver: str
    name: str


class DeviceID(NamedTuple):
    """Which device. The generation of its pool is not part of its identity."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class QualifiedName(NamedTuple):
    """The two halves of an attribute's or a capacity's name."""

    domain: str
    identifier: str

    def __str__(self) -> str:
        return f"{self.domain}/{self.identifier}"


def split_qualified_name(name: str, driver: str) -> QualifiedName:
    """Split at the first ``/``; without one, the domain is the ``driver``."""
    domain, slash, identifier = name.partition("/")
    return QualifiedName(domain, identifier) if slash else QualifiedName(driver, name)


def qualified_name(name: str, driver: str) -> str:
    """``name`` with its domain written out."""
    return name if "/" in name else f"{driver}/{name}"
