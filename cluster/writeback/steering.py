"""Keeping the scheduler off the other devices, so that it takes the planned ones.

Only where DeviceTaintRules are known to be safe. A rule that comes late costs a wrong
device, never a double booking: the scheduler still decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from cluster.writeback import taint_rules
from cluster.writeback.answers import EndedError
from cluster.writeback.rule_safety import why_no_rules
from cluster.writeback.sending import Sender
from cluster.writeback.tags import Role, Tags
from cluster.writeback.values import Json, Order, Refusal, Refused, allocation_of
from cluster.writer_options import WriterOptions
from dra.names import DeviceID

_MOST: Final = 64
_SPARE: Final = 600.0


class Steering:
    """Does nothing unless ``carrier.exactDevices`` is set."""

    def __init__(self, sender: Sender, order: Order, options: WriterOptions) -> None:
        self.sender = sender
        self.order = order
        self.options = options
        self.done = False
        self.tags = Tags.of(order, options.owner, options.carrier.wait + _SPARE)

    @property
    def wanted(self) -> bool:
        return self.options.carrier.exact_devices and bool(self.order.node_name)

    def on(self) -> None:
        """Taint the free devices that the plan does not name. Raises EndedError."""
        if not self.wanted:
            return
        served = self.sender.settle(
            lambda: self.sender.api.served("DeviceTaintRule") is not None
        )
        if why := why_no_rules(self.options.scheduler, served=served):
            reason = f"carrier.exactDevices needs DeviceTaintRules. {why}"
            raise EndedError(Refused(Refusal.UNGUARDED, reason))
        for device in self.sender.settle(self._others):
            taint_rules.put(self.sender, device, self.tags, Role.STEER)

    def off(self) -> str:
        """Also what an earlier call left. A sentence when a rule stays."""
        if self.done or not self.wanted:
            return ""
        self.done = True
        return taint_rules.remove_all(self.sender, self.tags, Role.STEER)

    def _others(self) -> list[DeviceID]:
        planned = [
            DeviceID(r.driver, r.pool, r.device)
            for r in self.order.allocation.devices.results or ()
        ]
        api = self.sender.api
        held = set(_held(api.list("ResourceClaim")))
        found: list[DeviceID] = []
        for driver in sorted({device.driver for device in planned}):
            node = self.order.node_name
            selector = f"spec.driver={driver},spec.nodeName={node}"
            for piece in api.list("ResourceSlice", field_selector=selector):
                found += [
                    d for d in _devices(piece) if d not in planned and d not in held
                ]
        if len(found) > _MOST:
            raise EndedError(
                Refused(
                    Refusal.UNGUARDED,
                    f"{len(found)} other devices are free on {self.order.node_name}; at "
                    f"most {_MOST} can be tainted for the moment. Name the device in "
                    "the claim's selectors instead.",
                )
            )
        return found


def _devices(piece: Json) -> Iterator[DeviceID]:
    spec = piece.get("spec") or {}
    pool = (spec.get("pool") or {}).get("name")
    for device in spec.get("devices") or ():
        yield DeviceID(str(spec.get("driver")), str(pool), str(device.get("name")))


def _held(claims: Iterable[Json]) -> Iterator[DeviceID]:
    for claim in claims:
        devices = (allocation_of(claim) or {}).get("devices") or {}
        for r in devices.get("results") or ():
            yield DeviceID(str(r["driver"]), str(r["pool"]), str(r["device"]))
