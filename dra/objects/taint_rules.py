"""DeviceTaintRule: taints that an administrator puts on devices."""

from __future__ import annotations

from dra.objects.base import Base, Meta
from dra.objects.taints import DeviceTaint


class TaintRuleSelector(Base, frozen=True):
    """All set members must equal; none set (or no selector) means every device."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(Base, frozen=True):
    device_selector: TaintRuleSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(Base, frozen=True):
    metadata: Meta = Meta()
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
