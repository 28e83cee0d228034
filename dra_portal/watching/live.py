"""A cluster with an API server: a reflector for each kind that it serves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
from django.db import Error as DBError
from django.db import connections

from claims.mirror import KINDS, ResourceClaimStore, store_for
from cluster.backoff import Backoff
from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from cluster.errors import ClusterError
from cluster.reflector import Options, Reflector
from cluster.resources import BY_KIND, ServedResource
from cluster.store import State, Store
from dra_portal.watching.clusters import note
from dra_portal.watching.guard import StoppedError
from dra_portal.watching.lock import LockLostError
from dra_portal.watching.runs import ClaimsOfRuns
from inventory.mirror import ClusterGoneError, Guard, MirrorStore
from inventory.models import WatchState

log = structlog.get_logger("dra_portal.watch")

DISCOVERY_SECONDS = 60.0
"""How often a cluster is asked for its version and what it serves."""
JOIN_SECONDS = 2.0
LOOK_SECONDS = 5.0
"""How often stores are asked whether they still keep the right objects."""
DRA_GROUP = "resource.k8s.io"


@dataclass(slots=True)
class _KindWatch:
    """The thread of one kind."""

    served: ServedResource
    store: MirrorStore
    thread: threading.Thread
    stop: threading.Event = field(default_factory=threading.Event)


class LiveCluster:
    """Connects, discovers, and keeps one reflector running per served kind.

    A server that does not answer becomes one sentence in ``Cluster.error`` and is
    asked again; reflectors that already run go on by themselves.
    """

    def __init__(
        self,
        cluster_id: int,
        config: ClusterConfig,
        guard: Guard,
        *,
        options: Options | None = None,
        discovery_seconds: float = DISCOVERY_SECONDS,
        join_seconds: float = JOIN_SECONDS,
        new_backoff: Callable[[], Backoff] = Backoff,
    ) -> None:
        self.cluster_id = cluster_id
        self.config = config
        self.guard = guard
        self._options = options
        self._discovery_seconds = discovery_seconds
        self._join_seconds = join_seconds
        self._new_backoff = new_backoff
        self._backoff = new_backoff()
        self._client: ClusterClient | None = None
        self._kinds: dict[str, _KindWatch] = {}
        self._told = ""
        """The last reason that was logged: a server that stays away is one line."""
        self._log = log.bind(cluster=config.name)

    def run(self, stop: threading.Event) -> None:
        """Until ``stop`` is set; in a thread of its own."""
        try:
            while not stop.is_set():
                self._pause(stop, self.step())
        finally:
            self._end(list(self._kinds))
            if self._client is not None:
                self._client.close()
            connections.close_all()

    def step(self) -> float:
        """One discovery; the seconds until the next."""
        try:
            client, served = self._discover()
            self._follow(client, served)
        except (
            ClusterError,
            ClusterGoneError,
            DBError,
            LockLostError,
            StoppedError,
        ) as error:
            self._tell(str(error))
            return self._backoff.next()
        # A fault of ours in one cluster must not end the watch of it, or of others.
        except Exception:
            self._log.exception("watch.cluster_failed")
            return self._backoff.next()
        return self._discovery_seconds

    def renew_outdated(self) -> None:
        """Begin anew with every kind whose store keeps other objects than it should."""
        try:
            outdated = {
                k: w.served for k, w in self._kinds.items() if w.store.outdated()
            }
        except DBError as error:
            self._tell(str(error))
            return
        if self._client is not None and outdated:
            self._log.info("watch.listing_anew", kinds=sorted(outdated))
            self._end(list(outdated))
            for kind, served in outdated.items():
                self._start(self._client, kind, served)

    def _pause(self, stop: threading.Event, seconds: float) -> None:
        """Wait for the next discovery, looking after the stores meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if stop.wait(min(left, LOOK_SECONDS)):
                return
            self.renew_outdated()

    def list_once(self, stop: threading.Event) -> list[str]:
        """List every served kind into the mirror; a sentence per failure."""
        try:
            client, served = self._discover()
        except ClusterError as error:
            return [f"{self.config.name}: {error}"]
        self._clear_unserved(served)
        failures = []
        for kind in KINDS:
            if kind not in served:
                continue
            resource = served[kind]
            store = self._store(kind)
            self._reflector(client, resource, store).step(stop)
            states = WatchState.objects.values_list("error", flat=True)
            reason = states.get(cluster_id=self.cluster_id, kind=kind)
            if reason:
                plural = resource.resource.plural
                failures.append(f"{self.config.name}: {plural}: {reason}")
            store.report(State.STOPPED, error=reason)
        return failures

    def _discover(self) -> tuple[ClusterClient, dict[str, ServedResource]]:
        try:
            if self._client is None:
                self._client = ClusterClient.connect(self.config)
            version, served = self._client.version(), self._client.discover()
        except ClusterError as error:
            note(self.cluster_id, self.guard, error=str(error))
            raise
        missing = self._without_dra(served)
        note(self.cluster_id, self.guard, error=missing, version=version)
        if missing:
            self._tell(missing)
        elif self._told:
            self._told = ""
            self._log.info("watch.cluster_is_back")
        return self._client, served

    def _without_dra(self, served: dict[str, ServedResource]) -> str:
        if any(r.resource.group == DRA_GROUP for r in served.values()):
            return ""
        return (
            f"the server does not serve {DRA_GROUP}, so there are no devices to show; "
            "Kubernetes serves it from 1.34 on, before that behind a feature gate"
        )

    def _tell(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            self._log.warning("watch.cluster_failed", reason=reason)

    def _follow(self, client: ClusterClient, served: dict[str, ServedResource]) -> None:
        """Start and end reflectors until those of ``served`` run."""
        changed = [
            kind
            for kind, watch in self._kinds.items()
            if watch.served != served.get(kind) or not watch.thread.is_alive()
        ]
        self._end(changed)
        self._clear_unserved(served)
        for kind, resource in served.items():
            if kind not in self._kinds:
                self._start(client, kind, resource)

    def _start(
        self, client: ClusterClient, kind: str, resource: ServedResource
    ) -> None:
        store = self._store(kind)
        reflector = self._reflector(client, resource, store)
        stop = threading.Event()

        def run() -> None:
            try:
                reflector.run(stop)
            finally:
                connections.close_all()

        name = f"{self.config.name} {resource.resource.plural}"
        thread = threading.Thread(target=run, name=name, daemon=True)
        self._kinds[kind] = _KindWatch(resource, store, thread, stop)
        thread.start()

    def _reflector(
        self, client: ClusterClient, resource: ServedResource, store: MirrorStore
    ) -> Reflector:
        told: Store = store
        if store.kind == ResourceClaimStore.kind:
            told = ClaimsOfRuns(store, self.cluster_id, self.config.name)
        return Reflector(
            client,
            resource,
            told,
            keep=store.wants,
            options=self._options,
            backoff=self._new_backoff(),
        )

    def _end(self, kinds: list[str]) -> None:
        watches = [self._kinds.pop(kind) for kind in kinds]
        for watch in watches:
            watch.stop.set()
        for watch in watches:
            watch.thread.join(self._join_seconds)

    def _clear_unserved(self, served: dict[str, ServedResource]) -> None:
        """Kinds that the server does not have: nothing in the mirror, and say so."""
        for kind in BY_KIND.keys() - served.keys():
            state = WatchState.objects.get(cluster_id=self.cluster_id, kind=kind)
            if state.state == State.NOT_SERVED and not state.object_count:
                continue
            store = self._store(kind)
            if state.object_count:
                store.replace([], "")
            store.report(State.NOT_SERVED)

    def _store(self, kind: str) -> MirrorStore:
        return store_for(kind, self.cluster_id, guard=self.guard)
