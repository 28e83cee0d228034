"""The writer that ``clusters.yaml`` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.writeback.carrier import CarrierWriter
from cluster.writeback.direct import DirectWriter
from cluster.writeback.guarded import GuardedWriter
from cluster.writeback.patience import Patience
from cluster.writeback.values import Writer

if TYPE_CHECKING:
    from cluster.client import ClusterClient


def make_writer(client: ClusterClient, patience: Patience | None = None) -> Writer:
    """A writer by ``client.config.writer``. ValueError for a read-only cluster."""
    match client.config.writer:
        case "carrier":
            return CarrierWriter(client, patience=patience)
        case "direct":
            return GuardedWriter(client, patience=patience)
        case "unguarded":
            return DirectWriter(client, patience=patience)
        case "none":
            raise ValueError(f"the cluster {client.config.name} is read-only")
