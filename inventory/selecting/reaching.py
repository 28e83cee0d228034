"""Which devices a node reaches: its own, and those it shares with other nodes."""

from __future__ import annotations

from dataclasses import dataclass

from dra import cel
from dra.errors import DRAError
from dra.node_reach import Reach, node_reach
from dra.snapshot import Snapshot
from inventory.models import Cluster
from inventory.selecting.asking import features_of


class NoSuchNode(DRAError):  # noqa: N818 - reads better
    """The snapshot has no such node, or it cannot be read; the text says so."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The devices of ``table`` as one node reaches them."""

    table: cel.DeviceTable
    reach: Reach


def reached(cluster: Cluster, snapshot: Snapshot, node_name: str) -> Reached:
    """``snapshot`` is of ``cluster``, whose gates count. Raises :class:`NoSuchNode`."""
    node = snapshot.nodes.get(node_name)
    if node is None:
        raise NoSuchNode(
            f"The cluster has no node named “{node_name}” that can be read, so nobody "
            "knows which devices it reaches."
        )
    lists = features_of(cluster).list_type_attributes
    table = snapshot.devices(lists=lists)
    return Reached(table, node_reach(table, node, cluster.features))
