"""The roles against the requests that are made: nothing missing, nothing to spare.

A user who may do everything notes what the server was asked for, while writers write,
resume, release and clean up, reflectors follow and people's objects are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cluster.client import ClusterClient
from cluster.objects import Created, Deleted, Updated
from cluster.resources import BY_KIND
from cluster.rights import ROLES, repair_role, roles_for
from cluster.standin.access import Rule, User
from cluster.store import State
from cluster.writeback import Order, Release, Released, Step, Written
from cluster.writeback.leftovers import leftovers, sweep
from cluster.writeback.making import make_writer
from cluster.writeback.putting_back import Rewritten
from cluster.writeback.quarantining import Lifted
from cluster.writeback.releasing import Releaser
from cluster.writer_options import WriterName
from tests.cluster import repair_world as repair
from tests.cluster.guarded_world import GuardedWorld, options
from tests.cluster.objects.conftest import World, claim, device_class, template
from tests.cluster.running import running
from tests.cluster.stores import MemoryStore
from tests.cluster.writeback_faults import DiedError

LATER = datetime.now(UTC) + timedelta(days=1)
Asked = tuple[str, str, str]
"""Verb, group, resource: as a rule of a role has it."""


@dataclass(frozen=True)
class Noting(User):
    """Notes what is asked of the authorizer, in ``seen``."""

    seen: set[Asked] = field(default_factory=set)

    def may(
        self,
        verb: str,
        group: str,
        resource: str,
        namespace: str = "",
        name: str = "",
    ) -> bool:
        self.seen.add((verb, group, resource))
        return super().may(verb, group, resource, namespace, name)


def anybody() -> Noting:
    return Noting("portal", (Rule(("*",), ("*",)),))


def needed(names: Iterable[str]) -> set[Asked]:
    return {
        (verb, need.group, need.resource)
        for name in names
        for need in ROLES[name]
        for verb in need.verbs
    }


SETUPS: list[tuple[WriterName, dict[str, Any]]] = [
    ("carrier", {}),
    ("carrier", {"exact_devices": True, "taint_rules": "safe"}),
    ("direct", {"by": "node-taint"}),
    ("direct", {"by": "rule", "taint_rules": "safe"}),
    ("unguarded", {}),
]


def asked_by(tmp_path: Path, writer: WriterName, told: dict[str, Any]) -> set[Asked]:
    """What is asked for to write, go on after each point of death, release, clean up."""
    user = anybody()
    with GuardedWorld(tmp_path, users={"t": user}, token="t", devices=3) as world:
        chosen = options(**told)
        config = replace(world.client.config, writer=writer, options=chosen)
        client = ClusterClient.connect(config)
        sent: list[Step] = []
        world.add("first")
        write(client, world.order("first"), lambda at: sent.append(at))
        for number, step in enumerate(dict.fromkeys(sent)):
            name = f"killed-{number}"
            world.add(name)
            order = world.order(name, "gpu-1", run=name)
            with pytest.raises(DiedError):
                write(client, order, dying_at(step))
            write(client, order, lambda _at: None)  # the next worker goes on
            release(client, order)
            world.store.delete("ResourceClaim", name, "lab")
            world.add(name)
            order = world.order(name, "gpu-1", run=f"{name}-again")
            with pytest.raises(DiedError):
                write(client, order, dying_at(step))
            swept = sweep(
                client, leftovers(client), ended=lambda one: "again" in one.run,
                now=LATER,
            )  # fmt: skip
            assert [one.problem for one in swept if one.problem] == []
            world.store.delete("ResourceClaim", name, "lab")
        client.close()
    return user.seen


def write(client: ClusterClient, order: Order, at: Callable[[Step], None]) -> None:
    outcome = make_writer(client).write(order, before=lambda step, _request: at(step))
    assert isinstance(outcome, Written), outcome


def dying_at(step: Step) -> Callable[[Step], None]:
    def die(at: Step) -> None:
        if at is step:
            raise DiedError

    return die


def release(client: ClusterClient, order: Order) -> None:
    outcome = Releaser(client).release(Release("lab", order.name, order.uid))
    assert isinstance(outcome, Released), outcome


def test_the_writers_roles_are_what_their_writers_ask_for(tmp_path: Path) -> None:
    reader = needed(["dra-portal-reader"])
    used: dict[str, set[Asked]] = {}
    for number, (writer, told) in enumerate(SETUPS):
        folder = tmp_path / str(number)
        folder.mkdir()
        asked = asked_by(folder, writer, told)
        names = roles_for(writer, options(**told), rules_served=True)
        assert asked <= needed(names), f"{writer} {told} asks for more than it is given"
        for name in names[1:]:
            used.setdefault(name, set()).update(asked & needed([name]))
    unused = {name: needed([name]) - asked for name, asked in used.items()}
    assert {name: left for name, left in unused.items() if left} == {}
    twice = {name: needed([name]) & reader for name in used}
    # Bound to a namespace, or left out where the reader is: these stand for themselves.
    allowed = {"dra-portal-carrier-pods", "dra-portal-rules", "dra-portal-barrier"}
    assert {name for name, both in twice.items() if both} <= allowed


@pytest.mark.parametrize("told", [{}, repair.SAFE], ids=["node taint", "rule"])
def test_a_repair_asks_for_its_role_beside_that_of_the_writer(
    tmp_path: Path, told: dict[str, Any]
) -> None:
    user = anybody()
    with GuardedWorld(tmp_path, users={"t": user}, token="t") as world:
        repair.book_twice(world)
        repair.put(world, told)
        later = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)
        repair.put(world, told, expires=later)
        repair.release(world, "second")
        outcome = repair.rewriter(world, **told).rewrite(repair.rewrite_order(world))
        assert isinstance(outcome, Rewritten), outcome
        lifted = repair.quarantiner(world, **told).lift(repair.quarantine())
        assert isinstance(lifted, Lifted), lifted
    own = repair_role("carrier", options(**told), rules_served=True)
    names = roles_for("carrier", options(**told), rules_served=True)
    assert user.seen <= needed([*names, own])
    assert needed([own]) <= user.seen


def live(store: MemoryStore) -> Callable[[], bool]:
    return lambda: store.state is State.LIVE


def test_the_reader_is_what_the_watch_asks_for(tmp_path: Path) -> None:
    user = anybody()
    with GuardedWorld(tmp_path, users={"t": user}, token="t") as world:
        served = world.client.discover().values()
        for one in served:
            store = MemoryStore()
            with running(ClusterClient.connect(world.client.config), one, store):
                store.wait_until(live(store))
    kinds = {one.resource.plural for one in served}
    given = needed(["dra-portal-reader"])
    assert user.seen == {right for right in given if right[2] in kinds}
    assert {right[2] for right in given} == {one.plural for one in BY_KIND.values()}


@pytest.mark.parametrize("lost", [False, True], ids=["answered", "answers lost"])
def test_authoring_is_what_people_who_write_ask_for(tmp_path: Path, lost: bool) -> None:
    user = anybody()
    world = World(tmp_path, users={"t": user}, token="t")
    user.seen.clear()
    for value in (claim("a"), template("a"), device_class("a.acme.test")):
        kind = value["kind"]
        where = value["metadata"].get("namespace", "")

        def done(outcome: Any, world: World = world) -> None:
            assert isinstance(outcome, Created | Updated | Deleted), outcome
            if lost:
                world.faults.drop_after_write()

        if lost:
            world.faults.drop_after_write()
        done(world.writer.create(value))
        name = value["metadata"]["name"]
        changed = world.the(name, kind)
        changed["metadata"]["labels"] = {"changed": "true"}
        done(world.writer.update(changed, name, world.seen(name, kind), where))
        outcome = world.writer.delete(kind, name, world.seen(name, kind), where)
        assert isinstance(outcome, Deleted), outcome
    world.close()
    needs = needed(["dra-portal-authoring"])
    assert user.seen == {right for right in needs if lost or right[0] != "get"}
