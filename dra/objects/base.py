"""What every object has: how it is read, and its metadata."""

from __future__ import annotations

from typing import Any

import msgspec

Json = dict[str, Any]
RawQuantity = str | int | float


class Base(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Immutable, compared by value, camelCase on the outside."""


class OwnerReference(Base, frozen=True):
    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool | None = None


class Meta(Base, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owner_references: list[OwnerReference] | None = None
