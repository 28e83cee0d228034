"""DeviceClass, and the configuration that classes and claims carry."""

from __future__ import annotations

from typing import Any

from dra.objects.base import Base, Meta
from dra.objects.selectors import DeviceSelector


class OpaqueConfig(Base, frozen=True):
    driver: str = ""
    parameters: Any = None


class ClassConfig(Base, frozen=True):
    opaque: OpaqueConfig | None = None


class DeviceClassSpec(Base, frozen=True):
    selectors: list[DeviceSelector] | None = None
    config: list[ClassConfig] | None = None
    extended_resource_name: str | None = None


class DeviceClass(Base, frozen=True):
    metadata: Meta = Meta()
    spec: DeviceClassSpec = DeviceClassSpec()
