"""One client for each cluster and process, made when first needed, by the clusters file.

The file is read each time, so a change there needs no restart; a client stays as long
as its entry does. Importing what talks to an API server takes a second that a page
should not wait for, so that happens here and late.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.conf import settings

from cluster.config import ClusterConfig, load_clusters
from cluster.errors import ClusterError

if TYPE_CHECKING:
    from cluster.client import ClusterClient
    from cluster.objects.writing import ObjectWriter

READ_SECONDS: Final = 10.0
"""How long an API server may be silent: somebody or a run is waiting."""


class NoClientError(Exception):
    """The cluster cannot be talked to; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Connected:
    """A cluster as the file has it, and what talks to it."""

    config: ClusterConfig
    client: ClusterClient
    objects: ObjectWriter


_made: dict[str, Connected] = {}
_lock = threading.Lock()


def config_of(cluster_name: str) -> ClusterConfig:
    """The entry of the clusters file. Raises NoClientError."""
    try:
        for config in load_clusters(Path(settings.CLUSTERS_FILE)):
            if config.name == cluster_name:
                return config
    except ClusterError as error:
        raise NoClientError(_sentence(error)) from error
    raise NoClientError(f"The cluster {cluster_name} is not in the clusters file.")


def rule_risks() -> dict[str, str]:
    """By cluster of the clusters file: what an administrator risks there who says that
    DeviceTaintRules are safe. Empty too where the file cannot be read."""
    from cluster.writeback.rule_safety import overridden

    try:
        configs = load_clusters(Path(settings.CLUSTERS_FILE))
    except ClusterError:
        return {}  # the pages that are about the file say so
    found = {
        config.name: overridden(config.options.scheduler)
        for config in configs
        if config.writer != "none"
    }
    return {name: risk for name, risk in found.items() if risk}


def connected(cluster_name: str) -> Connected:
    """What talks to a cluster. Raises NoClientError, for a dump always.

    Whether the server answers shows at the first request.
    """
    config = config_of(cluster_name)
    if config.source == "dump":
        raise NoClientError(
            f"The cluster {cluster_name} is a dump file: there is no API server."
        )
    with _lock:
        made = _made.get(cluster_name)
        if made is None or made.config != config:
            try:
                made = _made[cluster_name] = _connect(config)
            except ClusterError as error:
                raise NoClientError(_sentence(error)) from error
        return made


def preload() -> None:
    """Import what talks to API servers now rather than when it is needed."""
    import cluster.client
    import cluster.credentials
    import cluster.objects.writing

    cluster.credentials.preload()


def forget() -> None:
    """Make clients anew when they are needed next."""
    with _lock:
        _made.clear()


def _connect(config: ClusterConfig) -> Connected:
    from cluster.client import ClusterClient
    from cluster.objects.writing import ObjectWriter

    client = ClusterClient.connect(config, read_timeout=READ_SECONDS)
    return Connected(config, client, ObjectWriter(client))


def _sentence(error: ClusterError) -> str:
    return f"{error}.".replace("..", ".")
