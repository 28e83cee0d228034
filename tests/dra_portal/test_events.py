"""The nudge stream: what changed, in numbers, to those who may know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import AsyncClient

from dra_portal import events
from dra_portal.events import Mark, Poll, nudges
from inventory.models import Cluster, WatchState
from tests.dra_portal.watched import PATIENCE
from web import tokens
from web.doors import Role


class Looking(Poll):
    """Tells when a stream has seen how things are."""

    def __init__(self) -> None:
        super().__init__()
        self.has_looked = asyncio.Event()

    async def versions(self, cluster_id: int, every: float) -> dict[str, int]:
        found = await super().versions(cluster_id, every)
        self.has_looked.set()
        return found


@pytest.fixture
def poll(monkeypatch: pytest.MonkeyPatch) -> Looking:
    """Of this test alone: it has seen nothing yet."""
    made = Looking()
    monkeypatch.setattr(events, "POLL", made)
    return made


async def said_after(
    poll: Looking, cluster: Cluster, *changes: Callable[[], object]
) -> list[str]:
    """What a stream says first, and after each of ``changes``, which come one by one."""
    stream = nudges(cluster.pk, PATIENCE, every=0.01)
    said = [await anext(stream)]
    for change in changes:
        coming = asyncio.ensure_future(anext(stream))
        await poll.has_looked.wait()
        await sync_to_async(change)()
        said.append(await coming)
    await sync_to_async(connections.close_all)()
    return said


def see(cluster: Cluster, kind: str, seq: int) -> None:
    WatchState.objects.update_or_create(
        cluster=cluster, kind=kind, defaults={"seq": seq}
    )


@pytest.fixture
def watched(transactional_db: None, poll: Looking) -> Cluster:
    cluster = Cluster.objects.create(name="demo", source="dump")
    see(cluster, "ResourceClaim", 1)
    return cluster


def test_a_change_of_a_kind_is_told_once_with_its_seq(
    poll: Looking, watched: Cluster
) -> None:
    changes = (
        lambda: see(watched, "ResourceClaim", 7),
        lambda: see(watched, "Node", 8),
    )
    assert asyncio.run(said_after(poll, watched, *changes)) == [
        "retry: 3000\n\n",
        "id: 7.0.0\nevent: ResourceClaim\ndata: 7\n\n",
        "id: 8.0.0\nevent: Node\ndata: 8\n\n",
    ]


def test_what_is_newer_than_the_page_is_told_at_once(watched: Cluster) -> None:
    see(watched, "Node", 5)

    async def first() -> list[str]:
        stream = nudges(watched.pk, PATIENCE, since=Mark(4, 0), every=0.01)
        said = [await anext(stream) for _ in range(2)]
        await sync_to_async(connections.close_all)()
        return said

    assert asyncio.run(first())[1:] == ["id: 5.0.0\nevent: Node\ndata: 5\n\n"]


def test_a_stream_ends_with_its_lifetime(watched: Cluster) -> None:
    async def everything() -> list[str]:
        said = [text async for text in nudges(watched.pk, 0.0, since=Mark(0, 0))]
        await sync_to_async(connections.close_all)()
        return said

    assert asyncio.run(everything()) == ["retry: 3000\n\n"]


@pytest.mark.parametrize("text", ["", "7", "7.x", "-1.2", "1.2", "9" * 40 + ".1.1"])
def test_a_mark_that_is_none_is_ignored(text: str) -> None:
    assert Mark.read(text) is None


def test_a_mark_reads_what_it_writes() -> None:
    assert Mark.read(str(Mark(12, 3, 4))) == Mark(12, 3, 4)


def test_another_clusters_changes_are_not_told(poll: Looking, watched: Cluster) -> None:
    other = Cluster.objects.create(name="other", source="dump")

    def change() -> None:
        see(other, "Node", 3)
        see(watched, "Node", 4)

    said = asyncio.run(said_after(poll, watched, change))
    assert said[1:] == ["id: 4.0.0\nevent: Node\ndata: 4\n\n"]


@pytest.mark.parametrize(("role", "status"), [("viewer", 200), (None, 403)])
def test_only_people_with_a_role_may_listen(
    role: str | None, status: int, watched: Cluster, person: Callable[..., User]
) -> None:
    user = person(role)

    async def ask() -> int:
        client = AsyncClient()
        await client.aforce_login(user)
        answer = await client.get("/events/demo/")
        await sync_to_async(connections.close_all)()
        return answer.status_code

    assert asyncio.run(ask()) == status


@pytest.mark.parametrize(
    ("role", "of_token", "status"),
    [("viewer", True, 200), (None, True, 403), ("viewer", False, 401)],
)
def test_a_tool_listens_with_its_token(
    role: str | None,
    of_token: bool,
    status: int,
    watched: Cluster,
    person: Callable[..., User],
) -> None:
    user = person("viewer")
    _, secret = tokens.create(user=user, name="bell", role=Role.VIEWER)
    if role is None:
        user.groups.clear()

    async def ask() -> int:
        headers = {"authorization": f"Bearer {secret if of_token else 'drap_x'}"}
        answer = await AsyncClient().get("/events/demo/", headers=headers)
        await sync_to_async(connections.close_all)()
        return answer.status_code

    assert asyncio.run(ask()) == status


def test_an_open_stream_holds_no_database_connection(
    watched: Cluster, person: Callable[..., User]
) -> None:
    """A hundred open pages must not use up what a PostgreSQL server allows."""
    user = person("viewer")

    async def connected() -> bool:
        return await sync_to_async(lambda: connection.connection is not None)()

    async def ask() -> list[bool]:
        client = AsyncClient()
        await client.aforce_login(user)
        # As in the ASGI handler: each request has a thread for its database work.
        async with ThreadSensitiveContext():
            answer = await client.get("/events/demo/")
            held = [await connected()]
            said = nudges(watched.pk, PATIENCE, since=Mark(0, 0), every=0.01)
            told = [await anext(said) for _ in range(2)]
            assert "event: ResourceClaim" in told[1]
            held.append(await connected())
            answer.close()
        await sync_to_async(connections.close_all)()
        return held

    assert asyncio.run(ask()) == [False, False]
