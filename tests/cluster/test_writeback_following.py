"""Following objects over HTTP, through what happens to watches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from cluster.errors import Forbidden
from cluster.resources import BY_KIND, ServedResource
from cluster.standin.access import Rule, User
from cluster.standin.faults import Fault
from cluster.standin.server import StandinServer
from cluster.writeback.following import Followed, Following
from tests.cluster.standin import scheduled as small

CLAIM = Followed(ServedResource(BY_KIND["ResourceClaim"], "v1"), "lab", "one")


def client_of(server: StandinServer, folder: Path, token: str = "") -> ClusterClient:
    path = server.write_kubeconfig(folder / "kubeconfig", token=token)
    return ClusterClient.connect(ClusterConfig(name="a", kubeconfig=path))


@pytest.fixture
def server() -> Iterator[StandinServer]:
    with StandinServer([*small.small_cluster(), small.claim("one")]) as running:
        yield running


@pytest.fixture
def client(server: StandinServer, tmp_path: Path) -> Iterator[ClusterClient]:
    made = client_of(server, tmp_path)
    yield made
    made.close()


def label(server: StandinServer, value: str, name: str = "one") -> None:
    found = server.store.get("ResourceClaim", name, "lab")
    assert found is not None
    found["metadata"]["labels"] = {"value": value}
    server.store.put(found)


def await_label(states: Following, value: str) -> None:
    deadline = time.monotonic() + small.PATIENCE
    while time.monotonic() < deadline:
        state = states.next(1.0)
        found: Any = state[1] if state else None
        if found and (found["metadata"].get("labels") or {}).get("value") == value:
            return
    pytest.fail(f"the state {value} was not seen")


def test_the_state_that_is_there_comes_first_and_then_each_change(
    server: StandinServer, client: ClusterClient
):
    with Following(client, {"claim": CLAIM}) as states:
        first = states.next(small.PATIENCE)
        assert first is not None
        key, found = first
        assert key == "claim"
        assert found is not None
        assert found["kind"] == "ResourceClaim"
        label(server, "a")
        await_label(states, "a")


def test_other_objects_are_not_shown(server: StandinServer, client: ClusterClient):
    server.store.put(small.claim("two"))
    with Following(client, {"claim": CLAIM}) as states:
        assert states.next(small.PATIENCE)
        label(server, "x", name="two")
        assert states.next(0.2) is None


def test_the_end_of_the_object_is_a_state(server: StandinServer, client: ClusterClient):
    with Following(client, {"claim": CLAIM}) as states:
        assert states.next(small.PATIENCE)
        server.store.delete("ResourceClaim", "one", "lab")
        assert states.next(small.PATIENCE) == ("claim", None)


def test_an_object_that_is_not_there(server: StandinServer, client: ClusterClient):
    server.store.delete("ResourceClaim", "one", "lab")
    with Following(client, {"claim": CLAIM}) as states:
        assert states.next(small.PATIENCE) == ("claim", None)


@pytest.mark.parametrize("how", ["clean end", "broken", "history gone", "restart"])
def test_a_watch_that_ends_begins_anew(
    server: StandinServer, client: ClusterClient, how: str
):
    with Following(client, {"claim": CLAIM}) as states:
        assert states.next(small.PATIENCE)
        small.eventually(lambda: server.store.watches)
        match how:
            case "clean end" | "broken":
                server.faults.cut_streams(clean=how == "clean end")
            case "history gone":
                server.faults.expire_history()
                server.faults.cut_streams()
            case "restart":
                server.restart()
        label(server, "later")
        await_label(states, "later")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_in_trouble_is_asked_again(
    server: StandinServer, client: ClusterClient, status: int
):
    server.faults.plan(Fault(status))
    server.faults.plan(Fault(status), position=3)
    with Following(client, {"claim": CLAIM}) as states:
        assert states.next(small.PATIENCE)
        label(server, "later")
        await_label(states, "later")


def test_a_refusal_is_raised(server: StandinServer, tmp_path: Path):
    users = {"t": User("nobody", (Rule(("get",), ("resourceclaims",)),))}
    with StandinServer([small.claim("one")], users=users) as guarded:
        client = client_of(guarded, tmp_path, "t")
        with Following(client, {"claim": CLAIM}) as states:
            assert states.next(small.PATIENCE)
            with pytest.raises(Forbidden):
                states.next(small.PATIENCE)
        client.close()


def test_it_leaves_no_watch_behind(server: StandinServer, client: ClusterClient):
    with Following(client, {"claim": CLAIM}) as states:
        assert states.next(small.PATIENCE)
        small.eventually(lambda: server.store.watches)
    # The stand-in notices a closed connection when it next writes to it.
    label(server, "later")
    label(server, "later still")
    small.eventually(lambda: not server.store.watches)
