"""The nudge stream: what changed, in numbers, to those who may know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import AsyncClient

from dra_portal.events import Mark, nudges
from inventory.models import Cluster, WatchState
from web import tokens
from web.doors import Role


async def collect(
    cluster_id: int, change: Callable[[], object], lifetime: float
) -> list[str]:
    """Everything the stream says while ``change`` happens."""
    said: list[str] = []
    stream = nudges(cluster_id, lifetime, every=0.05)
    async for text in stream:
        if not said:
            await sync_to_async(change)()
        said.append(text)
    await sync_to_async(connections.close_all)()
    return said


@pytest.fixture
def watched(transactional_db: None) -> Cluster:
    cluster = Cluster.objects.create(name="demo", source="dump")
    WatchState.objects.create(cluster=cluster, kind="ResourceClaim", seq=1)
    return cluster


def test_a_change_of_a_kind_is_told_once_with_its_seq(watched: Cluster) -> None:
    async def later() -> list[str]:
        said: list[str] = []
        async for text in nudges(watched.pk, 0.6, every=0.05):
            said.append(text)
            if len(said) == 1:
                asyncio.get_running_loop().call_later(
                    0.2, lambda: asyncio.ensure_future(sync_to_async(change)())
                )
        await sync_to_async(connections.close_all)()
        return said

    def change() -> None:
        WatchState.objects.filter(kind="ResourceClaim").update(seq=7)

    assert asyncio.run(later()) == [
        "retry: 3000\n\n",
        "id: 7.0.0\nevent: ResourceClaim\ndata: 7\n\n",
    ]


def test_what_is_newer_than_the_page_is_told_at_once(watched: Cluster) -> None:
    WatchState.objects.create(cluster=watched, kind="Node", seq=5)

    async def first() -> list[str]:
        said = [
            text async for text in nudges(watched.pk, 0.1, since=Mark(4, 0), every=0.05)
        ]
        await sync_to_async(connections.close_all)()
        return said

    assert asyncio.run(first())[1:] == ["id: 5.0.0\nevent: Node\ndata: 5\n\n"]


@pytest.mark.parametrize("text", ["", "7", "7.x", "-1.2", "1.2", "9" * 40 + ".1.1"])
def test_a_mark_that_is_none_is_ignored(text: str) -> None:
    assert Mark.read(text) is None


def test_a_mark_reads_what_it_writes() -> None:
    assert Mark.read(str(Mark(12, 3, 4))) == Mark(12, 3, 4)


def test_another_clusters_changes_are_not_told(watched: Cluster) -> None:
    other = Cluster.objects.create(name="other", source="dump")

    def change() -> None:
        WatchState.objects.create(cluster=other, kind="Node", seq=3)

    said = asyncio.run(collect(watched.pk, change, 0.4))
    assert said == ["retry: 3000\n\n"]


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
            said = nudges(watched.pk, 0.2, since=Mark(0, 0), every=0.01)
            told = [text async for text in said]
            assert "event: ResourceClaim" in told[1]
            held.append(await connected())
            answer.close()
        await sync_to_async(connections.close_all)()
        return held

    assert asyncio.run(ask()) == [False, False]
