"""What a plan stands on: its devices as they are published, and who holds them now.

Shares of capacity and counters are judged by the project's own check of allocations
(``dra.allocation.verify``); it sees only the pools concerned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from cluster.writeback import holders
from cluster.writeback.sending import Sender
from cluster.writeback.values import Json, Order, allocation_of, meta_of
from dra.allocation.verify import Code, verify
from dra.errors import DRAError
from dra.names import DeviceID
from dra.objects import Device, ResourceClaim, ResourceSlice, read
from dra.snapshot import Snapshot

_TAKEN: Final = frozenset(
    {
        Code.DEVICE_IN_USE,
        Code.CAPACITY_EXCEEDED,
        Code.COUNTERS_OVERDRAWN,
        Code.GROUPS_INCOMPATIBLE,
        Code.DEVICE_UNKNOWN,
        Code.POOL_UNUSABLE,
    }
)


class Ground:
    """The slices, the node and the classes of one order, read once.

    Raises as :class:`~cluster.writeback.api.Api` does.
    """

    def __init__(self, sender: Sender, order: Order) -> None:
        api = sender.api
        self.order = order
        self.devices = [
            DeviceID(r.driver, r.pool, r.device)
            for r in order.allocation.devices.results or ()
            if not r.admin_access
        ]
        pools = {(device.driver, device.pool) for device in self.devices}
        self.slices = [
            piece
            for driver in sorted({device.driver for device in self.devices})
            for piece in api.list(
                "ResourceSlice", field_selector=f"spec.driver={driver}"
            )
            if (driver, _pool(piece)) in pools
        ]
        self._pools = pools
        node = api.read("Node", None, order.node_name) if order.node_name else None
        self._known = [*self.slices, *api.list("DeviceClass")]
        if node is not None:
            self._known.append(node)

    def taken(self, claims: Iterable[Json]) -> str:
        """Why a device of the plan cannot be had, in a sentence; empty when it can."""
        claims = list(claims)
        plan = self.order.allocation
        if also := holders.also_held(plan, claims, but=self.order.uid):
            return holders.in_words(also)[0].replace(" as well", "")
        mine = [c for c in claims if meta_of(c).get("uid") == self.order.uid]
        held = [c for c in claims if c not in mine and self._concerns(c)]
        try:
            snapshot = Snapshot.build([*self._known, *held, *mine])
            wanted = [read(claim, ResourceClaim) for claim in mine]
            if not wanted or self.order.node_name not in snapshot.nodes:
                return ""
            found = verify(snapshot, wanted, [plan], self.order.node_name)
        except DRAError:
            return ""  # what cannot be read was planned with all the same
        return next((v.sentence for v in found if v.code in _TAKEN), "")

    def _concerns(self, claim: Json) -> bool:
        devices = (allocation_of(claim) or {}).get("devices")
        results = devices.get("results") if isinstance(devices, dict) else None
        return any(
            (r.get("driver"), r.get("pool")) in self._pools for r in results or ()
        )

    def on_node_only(self, node_name: str) -> bool:
        """Whether every slice concerned belongs to this node alone."""
        return bool(node_name) and all(
            (piece.get("spec") or {}).get("nodeName") == node_name
            for piece in self.slices
        )

    def to_guard(self) -> list[DeviceID]:
        """The devices of the plan, and those that draw on the same counters."""
        published = list(self._published())
        drawn = {
            (device.driver, device.pool, counters)
            for device, draws in published
            if device in self.devices
            for counters in draws
        }
        sharing = (
            device
            for device, draws in published
            if any((device.driver, device.pool, c) in drawn for c in draws)
        )
        return list(dict.fromkeys([*self.devices, *sharing]))

    def _published(self) -> Iterator[tuple[DeviceID, set[str]]]:
        """Each device of the pools, and the counter sets that it draws on."""
        for piece in self.slices:
            try:
                spec = read(piece, ResourceSlice).spec
            except DRAError:
                continue
            for device in spec.devices or ():
                found = DeviceID(spec.driver, spec.pool.name, device.name)
                yield found, _draws(device)


def _draws(device: Device) -> set[str]:
    return {c.counter_set for c in device.consumes_counters or ()}


def _pool(piece: Json) -> str:
    return str(((piece.get("spec") or {}).get("pool") or {}).get("name") or "")
