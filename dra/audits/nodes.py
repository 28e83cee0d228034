"""Nodes that lack what others of their kind have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from dra.audits.codes import Code
from dra.audits.finding import Finding, Subject, finding
from dra.objects import Node
from dra.snapshot import Snapshot

KIND_LABELS: Final = (
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
)
"""What makes nodes of one kind: the first of these labels that a node has."""
_SAYS_NOTHING: Final = frozenset({"k3s", "rke2"})
"""Types that a distribution gives to all nodes, whatever they are."""
FEWEST: Final = 4
"""Nodes that a kind has before one of them can be an exception."""
MOST_PART: Final = 0.75
"""A driver that publishes on so many nodes of a kind should on all."""


def node_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Drivers that publish on most nodes of a kind but not on all, node by node."""
    kinds: dict[str, list[str]] = {}
    for name, node in snapshot.nodes.items():
        kind = kind_of(node)
        if kind and _is_well(node):
            kinds.setdefault(kind, []).append(name)
    for kind, names in sorted(kinds.items()):
        if len(names) < FEWEST:
            continue
        drivers = {name: drivers_on(snapshot, name) for name in names}
        published = Counter(d for found in drivers.values() for d in found)
        for driver, number in sorted(published.items()):
            if number == len(names) or number < MOST_PART * len(names):
                continue
            for name in sorted(n for n in names if driver not in drivers[n]):
                yield finding(
                    Code.NODE_DRIVER_MISSING,
                    Subject("Node", "", name, "", driver),
                    f"Driver {driver} publishes on {number:,} of {len(names):,} nodes of "
                    f"kind {kind}, but not on {name}.",
                    driver=driver,
                    kind=kind,
                )


def kind_of(node: Node) -> str:
    """What a node is an example of; empty when it does not say."""
    labels: Mapping[str, str] = node.metadata.labels or {}
    found = next((labels[name] for name in KIND_LABELS if labels.get(name)), "")
    return "" if found in _SAYS_NOTHING else found


def drivers_on(snapshot: Snapshot, name: str) -> frozenset[str]:
    """Drivers with slices of a node."""
    return frozenset(key.driver for key in snapshot.pool_index.by_node.get(name, ()))


def _is_well(node: Node) -> bool:
    """A node that is not ready or going lacks its drivers for a reason that shows."""
    if node.metadata.deletion_timestamp:
        return False
    return all(
        c.status == "True" for c in node.status.conditions or () if c.type == "Ready"
    )
