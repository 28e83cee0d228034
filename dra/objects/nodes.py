"""Node and Namespace."""

from __future__ import annotations

from dra.objects.base import Base, Meta, RawQuantity


class NodeTaint(Base, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Base, frozen=True):
    unschedulable: bool = False
    taints: list[NodeTaint] | None = None


class Condition(Base, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class NodeStatus(Base, frozen=True):
    """``allocatable`` tells what device plugins serve; devices of DRA are not in it."""

    conditions: list[Condition] | None = None
    allocatable: dict[str, RawQuantity] | None = None


class Node(Base, frozen=True):
    metadata: Meta = Meta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(Base, frozen=True):
    metadata: Meta = Meta()
