"""Which writer brings allocations into which cluster, as ``clusters.yaml`` says.

One client per cluster and process, made when first needed: importing what talks to
an API server takes a second that a page should not wait for.
"""

from __future__ import annotations

import threading
from pathlib import Path

from django.conf import settings

from cluster.config import ClusterConfig, load_clusters
from cluster.errors import ClusterError
from cluster.writeback import Writer

_made: dict[str, tuple[ClusterConfig, Writer]] = {}
_lock = threading.Lock()


class NoWriterError(Exception):
    """Nothing can be written to this cluster; the text is a sentence that says why."""


def writer_for(cluster_name: str) -> Writer:
    """The writer of a cluster. Raises NoWriterError.

    ``clusters.yaml`` is read each time, so a change there needs no restart; the
    client stays as long as its entry does.
    """
    try:
        config = _config(cluster_name)
        if config.writer == "none":
            raise NoWriterError(f"The cluster {cluster_name} is read-only here.")
        with _lock:
            made = _made.get(cluster_name)
            if made is None or made[0] != config:
                made = _made[cluster_name] = (config, _make(config))
            return made[1]
    except ClusterError as error:
        raise NoWriterError(f"{error}.".replace("..", ".")) from error


def preload() -> None:
    """Import what talks to API servers now rather than when it is needed."""
    import cluster.client
    import cluster.writeback.direct  # noqa: F401


def forget() -> None:
    """Make clients anew when they are needed next."""
    with _lock:
        _made.clear()


def _config(cluster_name: str) -> ClusterConfig:
    for config in load_clusters(Path(settings.CLUSTERS_FILE)):
        if config.name == cluster_name:
            return config
    raise NoWriterError(f"The cluster {cluster_name} is not in the clusters file.")


def _make(config: ClusterConfig) -> Writer:
    from cluster.client import ClusterClient
    from cluster.writeback.direct import DirectWriter

    return DirectWriter(ClusterClient.connect(config, read_timeout=10.0))
