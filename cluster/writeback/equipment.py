"""What everybody who writes to a cluster holds: its API, its options, patience."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.writeback.api import Api
from cluster.writeback.patience import Patience
from cluster.writeback.sending import Sender
from cluster.writeback.values import Beat, Before, Order, Release, still
from cluster.writer_options import WriterOptions

if TYPE_CHECKING:
    from cluster.client import ClusterClient


class Equipped:
    """May be used by many threads, like its client.

    ``options`` are those of the clusters file where none are given.
    """

    def __init__(
        self,
        client: ClusterClient,
        options: WriterOptions | None = None,
        *,
        patience: Patience | None = None,
    ) -> None:
        self._api = Api(client)
        self._options = options or client.config.options
        self._patience = patience or Patience()

    def _sender(
        self, order: Order | Release, before: Before, beat: Beat = still
    ) -> Sender:
        return Sender(self._api, order, before, patience=self._patience, beat=beat)
