"""Device taints: which rules put them where, and who tolerates them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from dra.names import DeviceID
from dra.objects import (
    DeviceTaint,
    DeviceTaintRule,
    TaintRuleSelector,
    Toleration,
)
from dra.pools import Pool

PREVENTING: Final = frozenset({"NoSchedule", "NoExecute"})
"""Effects that keep claims off a device. ``None`` and unknown ones never do."""


def prevents_allocation(taint: DeviceTaint) -> bool:
    """Whether claims that do not tolerate ``taint`` cannot get the device."""
    return taint.effect in PREVENTING


def tolerates(toleration: Toleration, taint: DeviceTaint) -> bool:
    """Whether ``toleration`` matches ``taint`` (allocator.md section 7).

    An empty effect or key matches any. ``tolerationSeconds`` plays no role here:
    it matters for eviction only.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in {"", "Equal"}:
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def untolerated(
    taints: Iterable[DeviceTaint], tolerations: Sequence[Toleration] | None
) -> DeviceTaint | None:
    """The first taint that prevents allocation in spite of ``tolerations``."""
    for taint in taints:
        if prevents_allocation(taint) and not any(
            tolerates(toleration, taint) for toleration in tolerations or ()
        ):
            return taint
    return None


class RuleTaint(NamedTuple):
    """A taint and the DeviceTaintRule that puts it on a device."""

    rule: str
    taint: DeviceTaint


class TaintRules:
    """The taint rules of a cluster, filed so that a device need not try each.

    A rule means the devices that equal every set member of its selector; no selector
    means every device, which is what the scheduler does with it (the API's
    documentation says that it means none). So a device is meant by the rules filed
    under any of the eight combinations of its own names and "not asked for".
    """

    def __init__(self, rules: Iterable[DeviceTaintRule]) -> None:
        self._filed: dict[tuple[str | None, ...], list[RuleTaint]] = {}
        for rule in rules:
            selector = rule.spec.device_selector or TaintRuleSelector()
            filed = (selector.driver, selector.pool, selector.device)
            found = RuleTaint(rule.metadata.name, rule.spec.taint)
            self._filed.setdefault(filed, []).append(found)

    def for_device(self, device: DeviceID) -> list[RuleTaint]:
        """The taints that rules put on ``device``, by name of the rule."""
        if not self._filed:
            return []
        found = [
            taint
            for driver in (device.driver, None)
            for pool in (device.pool, None)
            for name in (device.device, None)
            for taint in self._filed.get((driver, pool, name), ())
        ]
        return sorted(found, key=lambda taint: taint.rule)

    def for_pool(self, pool: Pool) -> dict[str, list[DeviceTaint]]:
        """Per device of ``pool`` that any rule means, the taints it gets."""
        if not any(self._may_mean(pool)):
            return {}
        found = {}
        for device in pool.devices():
            name = DeviceID(pool.driver, pool.name, device.name)
            taints = [taint.taint for taint in self.for_device(name)]
            if taints:
                found[device.name] = taints
        return found

    def _may_mean(self, pool: Pool) -> Iterator[bool]:
        for driver, name, _ in self._filed:
            yield driver in {None, pool.driver} and name in {None, pool.name}
