"""Taints of devices, and what tolerates them."""

from __future__ import annotations

from dra.objects.base import Base


class DeviceTaint(Base, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class Toleration(Base, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None
