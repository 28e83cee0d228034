"""The mirror equals the server after any sequence of changes and troubles."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cluster.reflector import Options
from cluster.standin.server import StandinServer
from cluster.store import Event, State
from tests.cluster.running import (
    SLICES,
    Running,
    client_of,
    resource_slice,
    running,
    wait_for_equality,
)
from tests.cluster.stores import MemoryStore

Json = dict[str, Any]


class UnreliableStore(MemoryStore):
    """Now and then raises, before a change or after it was taken (a lost commit)."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.chance = chance
        self.before = lambda verb: self.may_fail()
        self.reliable = False

    def may_fail(self) -> None:
        if not self.reliable and self.chance.random() < 0.1:
            raise ConnectionError("the database is away")

    def replace(self, objects: Sequence[Json], resource_version: str) -> None:
        super().replace(objects, resource_version)
        self.may_fail()

    def apply(self, events: Sequence[Event], resource_version: str) -> None:
        super().apply(events, resource_version)
        self.may_fail()


class Storm:
    """Changes and troubles, drawn from one seed."""

    def __init__(self, standin: StandinServer, seed: int) -> None:
        self.random = random.Random(seed)
        self.standin = standin
        self.generation = 1

    def change(self) -> None:
        name = f"s-{self.random.randrange(15):02}"
        exists = any(
            obj["metadata"]["name"] == name
            for obj in self.standin.store.objects("ResourceSlice")
        )
        if exists and self.random.random() < 0.4:
            self.standin.store.delete("ResourceSlice", name)
        else:
            self.generation += 1
            self.standin.store.put(resource_slice(name, generation=self.generation))

    def trouble(self) -> None:
        faults = self.standin.faults
        troubles: list[Callable[[], object]] = [
            lambda: faults.cut_streams(clean=True),
            lambda: faults.cut_streams(clean=False),
            faults.drop_connections,
            faults.expire_history,
            self.standin.restart,
            lambda: faults.answer(500, times=2),
            lambda: faults.answer(503),
            lambda: faults.answer(504),
            lambda: faults.answer(429),
            lambda: faults.drop(times=2),
            faults.refuse_connections,
        ]
        self.random.choice(troubles)()

    def blow(self, steps: int) -> None:
        for _ in range(steps):
            for _ in range(self.random.randrange(4)):
                self.change()
            if self.random.random() < 0.3:
                self.trouble()
            time.sleep(self.random.uniform(0, 0.02))
            self.standin.faults.accept_connections()


def calm(storm: Storm, run: Running, store: MemoryStore) -> None:
    storm.standin.faults.clear()
    wait_for_equality(store, storm.standin, "ResourceSlice")
    store.wait_until(lambda: store.state is State.LIVE)


@pytest.mark.parametrize("seed", range(6))
def test_the_mirror_equals_the_server_after_a_storm(tmp_path: Path, seed: int):
    options = Options(page_size=4, batch_size=5, batch_seconds=0.01, poll_seconds=0.02)
    store = MemoryStore()
    with StandinServer([resource_slice("s-00")]) as standin:
        storm = Storm(standin, seed)
        client = client_of(standin, tmp_path)
        with running(client, SLICES, store, options=options) as run:
            storm.blow(60)
            calm(storm, run, store)
    assert store.problems == []


@pytest.mark.parametrize("seed", range(6))
def test_also_when_the_store_fails_and_the_reflector_restarts(
    tmp_path: Path, seed: int
):
    options = Options(page_size=4, batch_size=5, batch_seconds=0.01, poll_seconds=0.02)
    with StandinServer([resource_slice("s-00")]) as standin:
        storm = Storm(standin, 1000 + seed)
        store = UnreliableStore(random.Random(seed))
        for _ in range(3):
            client = client_of(standin, tmp_path)
            with running(client, SLICES, store, options=options):
                storm.blow(20)
            storm.change()
        store.reliable = True
        client = client_of(standin, tmp_path)
        with running(client, SLICES, store, options=options) as run:
            calm(storm, run, store)
    assert store.problems == []


def test_changes_without_trouble_are_each_applied_once(tmp_path: Path):
    store = MemoryStore()
    with StandinServer() as standin:
        storm = Storm(standin, 7)
        client = client_of(standin, tmp_path)
        with running(client, SLICES, store) as run:
            store.wait_until(lambda: store.state is State.LIVE)
            before = standin.store.version
            for _ in range(500):
                storm.change()
            calm(storm, run, store)
    assert len(store.events) == standin.store.version - before
    assert store.replaced == 1
    assert store.problems == []
