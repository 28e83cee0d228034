"""Which writer brings allocations into which cluster, as ``clusters.yaml`` says.

The client is the one of :mod:`inventory.clients`; a writer lives as long as it does.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from django.conf import settings

from cluster.writeback import Writer
from inventory import clients
from inventory.clients import Connected, NoClientError

if TYPE_CHECKING:
    from cluster.client import ClusterClient
    from cluster.writeback.quarantining import Quarantiner
    from cluster.writeback.releasing import Releaser
    from cluster.writeback.rewriting import Rewriter

_made: dict[str, tuple[Connected, Writer]] = {}
_lock = threading.Lock()


class NoWriterError(Exception):
    """Nothing can be written to this cluster; the text is a sentence that says why."""


def writer_for(cluster_name: str) -> Writer:
    """The writer of a cluster. Raises NoWriterError.

    ``clusters.yaml`` is read each time, so a change there needs no restart.
    """
    connected = _connected(cluster_name)
    with _lock:
        made = _made.get(cluster_name)
        if made is None or made[0] is not connected:
            made = _made[cluster_name] = (connected, _make(connected))
        return made[1]


def releaser_for(cluster_name: str) -> Releaser:
    """What takes allocations of a cluster back. Raises NoWriterError."""
    from cluster.writeback.patience import Patience
    from cluster.writeback.releasing import Releaser

    patience = Patience.lasting(settings.RUN_SERVER_SECONDS)
    return Releaser(client_for(cluster_name), patience=patience)


def rewriter_for(cluster_name: str) -> Rewriter:
    """What writes allocations of a cluster anew. Raises NoWriterError."""
    from cluster.writeback.patience import Patience
    from cluster.writeback.rewriting import Rewriter

    patience = Patience.lasting(settings.RUN_SERVER_SECONDS)
    return Rewriter(client_for(cluster_name), patience=patience)


def quarantiner_for(cluster_name: str) -> Quarantiner:
    """What keeps others off a device of a cluster. Raises NoWriterError."""
    from cluster.writeback.quarantining import Quarantiner

    return Quarantiner(client_for(cluster_name))


def client_for(cluster_name: str) -> ClusterClient:
    """The client of a cluster that may be written to. Raises NoWriterError."""
    return _connected(cluster_name).client


def _connected(cluster_name: str) -> Connected:
    try:
        if clients.config_of(cluster_name).writer == "none":
            raise NoWriterError(f"The cluster {cluster_name} is read-only here.")
        return clients.connected(cluster_name)
    except NoClientError as error:
        raise NoWriterError(str(error)) from error


def preload() -> None:
    """Import what talks to API servers now rather than when it is needed."""
    import cluster.writeback.making  # noqa: F401

    clients.preload()


def forget() -> None:
    """Make clients and writers anew when they are needed next."""
    clients.forget()
    with _lock:
        _made.clear()


def _make(connected: Connected) -> Writer:
    from cluster.writeback.making import make_writer
    from cluster.writeback.patience import Patience

    patience = Patience.lasting(settings.RUN_SERVER_SECONDS)
    return make_writer(connected.client, patience)
