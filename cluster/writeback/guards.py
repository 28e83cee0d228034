"""What keeps a scheduler from choosing the devices of a plan while it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from cluster.writeback import in_flight, node_taint, taint_rules
from cluster.writeback.answers import EndedError
from cluster.writeback.ground import Ground
from cluster.writeback.rule_safety import why_no_rules
from cluster.writeback.sending import Sender
from cluster.writeback.tags import Role, Tags
from cluster.writeback.values import Json, Order, Refusal, Refused
from cluster.writer_options import WriterOptions
from dra.names import DeviceID

_MOST: Final = 128
"""Rules for one write; a partitioned device may have dozens of siblings."""


class Guard(Protocol):
    """On before the write, off after it, whatever happened in between."""

    def on(self) -> None: ...

    def off(self) -> str:
        """A sentence when something stays."""

    def stands(self) -> bool:
        """Whether all of it is there. Raises EndedError and PASSING."""

    def unheeding(self, claims: Iterable[Json], pods: Iterable[Json]) -> list[str]:
        """What waits and would get the device in spite of the guard."""


class RuleGuard:
    """A DeviceTaintRule for each device."""

    def __init__(self, sender: Sender, order: Order, tags: Tags) -> None:
        self.sender = sender
        self.order = order
        self.tags = tags
        self.devices: Sequence[DeviceID] = ()

    def on(self) -> None:
        for device in self.devices:
            taint_rules.put(self.sender, device, self.tags, Role.GUARD)

    def off(self) -> str:
        return taint_rules.remove_all(self.sender, self.tags, Role.GUARD)

    def stands(self) -> bool:
        there = taint_rules.names(self.sender, self.tags, Role.GUARD)
        return there.issuperset(
            taint_rules.rule_name(device, self.tags, Role.GUARD)
            for device in self.devices
        )

    def unheeding(self, claims: Iterable[Json], pods: Iterable[Json]) -> list[str]:
        del pods
        taint = taint_rules.taint_of(self.tags)
        return in_flight.unheeding_claims(claims, taint, self.order)


class NodeGuard:
    """A taint on the node: keeps every pod without a toleration away from it."""

    def __init__(self, sender: Sender, order: Order, tags: Tags) -> None:
        self.sender = sender
        self.order = order
        self.tags = tags

    def on(self) -> None:
        node_taint.put(self.sender, self.order.node_name, self.tags)

    def off(self) -> str:
        if not self.order.node_name:
            return ""
        return node_taint.remove(self.sender, self.order.node_name, self.tags)

    def stands(self) -> bool:
        node = self.sender.api.read("Node", None, self.order.node_name)
        key = node_taint.taint_key(self.tags)
        return node is not None and node_taint.is_tainted(node, key)

    def unheeding(self, claims: Iterable[Json], pods: Iterable[Json]) -> list[str]:
        del claims
        return in_flight.unheeding_pods(pods, node_taint.taint_key(self.tags))


def choose(
    sender: Sender, order: Order, options: WriterOptions, ground: Ground, tags: Tags
) -> Guard:
    """The guard that the options and the cluster allow. Raises EndedError."""
    by = options.guard.by
    served = sender.api.served("DeviceTaintRule") is not None
    no_rules = why_no_rules(options.scheduler, served=served)
    if by != "node-taint" and not no_rules:
        guard = RuleGuard(sender, order, tags)
        guard.devices = ground.to_guard()
        if len(guard.devices) <= _MOST:
            return guard
        no_rules = f"{len(guard.devices)} devices would have to be guarded, at most {_MOST} can."
    if by == "rule":
        raise _unguarded(no_rules)
    if ground.on_node_only(order.node_name):
        return NodeGuard(sender, order, tags)
    reason = (
        "The devices can be used from other nodes too, so no node taint guards them."
    )
    raise _unguarded(reason if by == "node-taint" else f"{no_rules} {reason}")


def _unguarded(why: str) -> EndedError:
    return EndedError(
        Refused(
            Refusal.UNGUARDED,
            f"{why} Nothing was written, since a scheduler could take the same devices "
            "at the same moment. Use writer: carrier for this cluster.",
        )
    )
