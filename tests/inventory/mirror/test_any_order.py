"""The law of the mirror: whatever happened, the tables are the server's objects."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import pytest

from claims.mirror import KINDS, store_for
from cluster.store import Event, EventType
from inventory.choices import Source
from inventory.mirror import Guard
from inventory.models import Cluster, WatchState
from tests.inventory.mirror.equality import Follower, assert_mirror_equals_server, key
from tests.inventory.mirror.worlds import ChangingWorld, Json

pytestmark = pytest.mark.django_db(transaction=True)


class KilledError(Exception):
    """Stands for the death of the process at that line."""


class Killer(Guard):
    """Raises at the n-th look, counted over all transactions."""

    def __init__(self) -> None:
        self.left = -1

    def fence(self) -> None:
        self.check()

    def check(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise KilledError


class Server:
    """The objects of a server and the events that each kind has not been told yet."""

    def __init__(self) -> None:
        self.version = 0
        self.tables: dict[str, dict[tuple[str, str], Json]] = {k: {} for k in KINDS}
        self.events: dict[str, list[tuple[int, Event]]] = {k: [] for k in KINDS}

    def put(self, obj: Json) -> None:
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        table = self.tables[obj["kind"]]
        type_ = EventType.MODIFIED if key(obj) in table else EventType.ADDED
        table[key(obj)] = obj
        self.events[obj["kind"]].append((self.version, Event(type_, obj)))

    def delete(self, kind: str, name: str, namespace: str) -> None:
        self.version += 1
        gone = self.tables[kind].pop((namespace, name))
        meta = {**gone["metadata"], "resourceVersion": str(self.version)}
        event = Event(EventType.DELETED, {**gone, "metadata": meta})
        self.events[kind].append((self.version, event))

    def objects(self, kind: str) -> Iterator[Json]:
        yield from self.tables[kind].values()

    def since(self, kind: str, version: str) -> list[tuple[int, Event]]:
        return [(v, e) for v, e in self.events[kind] if v > int(version)]


@pytest.mark.parametrize("seed", range(5))
def test_the_tables_equal_the_server_after_any_changes_kills_and_relists(
    seed: int,
) -> None:
    pick = random.Random(seed)
    server, killer = Server(), Killer()
    world = ChangingWorld(seed, server.put, server.delete)
    cluster = Cluster.objects.create(name="c", source=Source.KUBECONFIG)
    follower = Follower(cluster)
    for turn in range(18):
        for _ in range(pick.randrange(1, 8)):
            world.step()
        for kind in pick.sample(KINDS, pick.randrange(1, len(KINDS) + 1)):
            killer.left = pick.choice([-1, -1, 1, 2, 3, 4, 5])
            with contextlib.suppress(KilledError):
                _catch_up(kind, cluster, server, killer, relist=pick.random() < 0.2)
        if pick.random() < 0.3:
            follower.follow()
        if turn % 3 == 2:
            killer.left = -1
            for kind in KINDS:
                _catch_up(kind, cluster, server, killer, relist=pick.random() < 0.2)
            assert_mirror_equals_server(cluster, server.objects)
            follower.assert_saw(server.objects)
    _nothing_changes_when_told_again(cluster, server, killer)


def _catch_up(
    kind: str, cluster: Cluster, server: Server, guard: Guard, *, relist: bool
) -> None:
    """What a reflector does: continue from the saved version, or list."""
    store = store_for(kind, cluster.pk, guard=guard)
    version = store.resume_from()
    if version is None or relist:
        store.replace(list(server.objects(kind)), str(server.version))
        return
    events = server.since(kind, version)
    for start in range(0, len(events), 5):
        part = events[start : start + 5]
        store.apply([event for _, event in part], str(part[-1][0]))
    store.bookmark(str(server.version))


def _nothing_changes_when_told_again(
    cluster: Cluster, server: Server, guard: Guard
) -> None:
    cluster.refresh_from_db()
    before = cluster.seq
    for kind in KINDS:
        _catch_up(kind, cluster, server, guard, relist=True)
        last = {key(e.object): e for _, e in server.events[kind]}
        again = [e for e in last.values() if key(e.object) in server.tables[kind]]
        store_for(kind, cluster.pk).apply(again, str(server.version))
    cluster.refresh_from_db()
    assert cluster.seq == before
    assert WatchState.objects.filter(cluster=cluster, seq__gt=before).count() == 0
