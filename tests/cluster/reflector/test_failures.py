"""What breaks while a reflector follows: streams, the server's goodwill, the store."""

from __future__ import annotations

import time

import pytest

from cluster.client import ClusterClient
from cluster.reflector import Options
from cluster.resources import BY_KIND, ServedResource
from cluster.standin.access import Rule, User
from cluster.standin.server import StandinServer
from cluster.store import State
from tests.cluster.rude import HOLD, RudeServer, chunked, config_for, node_list
from tests.cluster.running import (
    NODES,
    SLICES,
    client_of,
    resource_slice,
    running,
    wait_for_equality,
)
from tests.cluster.stores import PATIENCE, MemoryStore

# --- broken streams ------------------------------------------------------------------


@pytest.mark.parametrize("clean", [True, False])
def test_a_cut_stream_is_continued_without_a_list(standin, store, live, clean):
    for i in range(5):
        standin.store.put(resource_slice(f"n-{i}"))
        standin.faults.cut_streams(clean=clean)
        standin.store.put(resource_slice(f"m-{i}"))
        standin.store.delete("ResourceSlice", f"s-{i:02}")
        wait_for_equality(store, standin, "ResourceSlice")
    assert store.replaced == 1
    assert len(store.events) == 15


def test_a_stream_that_the_server_ends_is_continued_at_once(client, standin, store):
    options = Options(watch_seconds=(1, 1), poll_seconds=0.05)
    with running(client, SLICES, store, options=options) as run:
        store.wait_until(lambda: len(store.bookmarks) > 4)
        standin.store.put(resource_slice("later"))
        wait_for_equality(store, standin, "ResourceSlice")
        assert run.waits.seconds == []
    assert store.replaced == 1
    assert [state for state, _ in store.states] == [
        State.STARTING,
        State.LISTING,
        State.LIVE,
        State.STOPPED,
    ]


@pytest.mark.parametrize(("proven", "low", "high"), [(0.2, 0.8, 1.6), (60, 5, 10)])
def test_a_stream_that_lived_makes_the_next_cut_a_first_one(
    client, standin, store, proven, low, high
):
    standin.faults.answer(500, times=4)
    options = Options(poll_seconds=0.05, proven_seconds=proven)
    with running(client, SLICES, store, options=options) as run:
        store.wait_until(lambda: store.state is State.LIVE)
        time.sleep(0.5)
        standin.faults.cut_streams(clean=False)
        store.wait_until(lambda: len(run.waits.seconds) == 5)
    assert low <= run.waits.seconds[-1] <= high


def node_event(version: int, name: str = "n") -> bytes:
    meta = f'{{"name":"{name}-{version}","resourceVersion":"{version}"}}'
    return f'{{"type":"ADDED","object":{{"metadata":{meta}}}}}\n'.encode()


def watched_versions(server: RudeServer) -> list[str]:
    lines = [request.decode().partition("\r\n")[0] for request in server.requests]
    return [
        line.partition("resourceVersion=")[2].partition("&")[0]
        for line in lines
        if "watch=true" in line
    ]


def test_an_event_that_was_cut_in_the_middle_comes_again(tmp_path, store):
    half = node_event(12)
    with RudeServer(
        node_list(10),
        chunked(node_event(11), half[:20], end=b"200\r\n" + half[20:30]),
        node_list(11),
        chunked(node_event(12), end=b"") + HOLD,
    ) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        with running(client, NODES, store):
            store.wait_until(lambda: len(store.objects) == 2)
    assert watched_versions(server) == ["10", "11"]
    assert store.replaced == 1
    assert store.problems == []


def test_a_server_that_ends_every_watch_at_once_is_not_asked_without_pause(
    tmp_path, store
):
    with RudeServer(node_list(10), chunked()) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        with running(client, NODES, store) as run:
            store.wait_until(lambda: len(run.waits.seconds) >= 5)
        assert run.waits.seconds[4] > run.waits.seconds[0] >= 0.8
        assert set(watched_versions(server)) == {"10"}
    assert store.replaced == 1


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"ADDED","object":{"metadata":{"name":"x"}}}\n',
        b'{"type":"ADDED","object":{"metadata":5}}\n',
        b'{"type":"BOOKMARK","object":{}}\n',
    ],
)
def test_an_event_without_a_version_leads_to_a_list(tmp_path, store, line):
    with RudeServer(
        node_list(10),
        chunked(node_event(11), line),
        node_list(20, "a"),
        chunked(end=b"") + HOLD,
    ) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        with running(client, NODES, store):
            store.wait_until(lambda: ("", "a") in store.objects)
    assert store.replaced == 2
    assert len(store.events) == 1
    errors = [error for state, error in store.states if state is State.RETRYING]
    assert errors == ["the server sent an event without a resourceVersion"]


def test_an_event_of_a_type_that_does_not_exist_yet_is_passed_over(tmp_path, store):
    new = b'{"type":"SPLIT","object":{"metadata":{"resourceVersion":"11"}}}\n'
    answer = chunked(new, node_event(12), end=b"") + HOLD
    with RudeServer(node_list(10), answer) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        with running(client, NODES, store):
            store.wait_until(lambda: len(store.objects) == 1)
    assert len(store.events) == 1


# --- refusals ------------------------------------------------------------------------


def test_gone_leads_to_a_list_that_removes_what_is_gone(standin, store, live):
    standin.faults.refuse_connections()
    standin.store.delete("ResourceSlice", "s-07")
    standin.faults.expire_history()
    standin.store.put(resource_slice("new"))
    standin.faults.accept_connections()
    wait_for_equality(store, standin, "ResourceSlice")
    assert store.replaced == 2
    assert store.events == []


def test_an_expired_history_alone_is_harmless(standin, store, live):
    standin.restart()
    standin.store.put(resource_slice("after"))
    wait_for_equality(store, standin, "ResourceSlice")


def test_a_busy_server_is_waited_for_as_long_as_it_asks_without_a_list(
    standin, store, live
):
    standin.faults.retry_after = 42
    standin.faults.answer(429, times=3)
    standin.faults.cut_streams(clean=True)
    standin.store.put(resource_slice("new"))
    wait_for_equality(store, standin, "ResourceSlice")
    assert live.waits.seconds.count(42) == 3
    assert store.replaced == 1
    assert (State.RETRYING, "the server is busy and asked us to wait") in store.states


def test_nobody_can_make_us_wait_for_a_day(standin, store, live):
    standin.faults.retry_after = 86_400
    standin.faults.answer(429)
    standin.faults.cut_streams(clean=True)
    store.wait_until(lambda: 300 in live.waits.seconds)


def test_server_errors_are_retried_with_growing_pauses(client, standin, store):
    standin.faults.answer(500, times=5)
    with running(client, SLICES, store) as run:
        store.wait_until(lambda: store.state is State.LIVE)
    assert len(run.waits.seconds) == 5
    steps = [(0.8, 1.6), (1.6, 3.2), (3.2, 6.4), (5, 10), (5, 10)]
    for seconds, (low, high) in zip(run.waits.seconds, steps, strict=True):
        assert low <= seconds <= high
    states = [state for state, _ in store.states]
    assert State.RETRYING in states
    assert store.states[-2] == (State.LIVE, "")


def test_an_unreachable_server_is_told_in_words_and_found_again(standin, store, live):
    standin.faults.refuse_connections()
    store.wait_until(
        lambda: (
            store.states[-1]
            == (
                State.RETRYING,
                f"127.0.0.1:{standin.port} refuses connections; "
                "is the API server running there?",
            )
        )
    )
    standin.store.put(resource_slice("meanwhile"))
    standin.faults.accept_connections()
    wait_for_equality(store, standin, "ResourceSlice")
    store.wait_until(lambda: store.states[-1] == (State.LIVE, ""))
    assert store.replaced == 1


def test_a_kind_that_is_forbidden_is_asked_for_now_and_then(tmp_path, store):
    with StandinServer(users={"t": User("portal")}) as standin:
        client = client_of(standin, tmp_path, token="t")
        with running(client, SLICES, store) as run:
            store.wait_until(lambda: len(run.waits.seconds) > 2)
    assert all(60 <= seconds <= 72 for seconds in run.waits.seconds)
    [error] = {error for state, error in store.states if state is State.FORBIDDEN}
    assert 'User "portal" cannot list resource "resourceslices"' in error


def test_a_list_without_the_right_to_watch_is_told(tmp_path, store):
    rules = (Rule(("list",), ("*",)),)
    users = {"t": User("portal", rules)}
    with StandinServer([resource_slice("s")], users=users) as standin:
        client = client_of(standin, tmp_path, token="t")
        with running(client, SLICES, store) as run:
            store.wait_until(lambda: len(run.waits.seconds) > 2)
    assert len(store.objects) == 1
    assert store.replaced == 1
    assert State.FORBIDDEN in [state for state, _ in store.states]


def test_wrong_credentials_count_as_forbidden(tmp_path, store):
    with StandinServer(users={"t": User("portal")}) as standin:
        client = client_of(standin, tmp_path, token="wrong")
        with running(client, SLICES, store):
            store.wait_until(lambda: store.state is State.FORBIDDEN)


def test_a_kind_that_is_not_served_is_told(client, store):
    served = ServedResource(BY_KIND["DeviceTaintRule"], "v1beta2")
    with running(client, served, store) as run:
        store.wait_until(lambda: len(run.waits.seconds) > 1)
    assert store.states[1:3] == [
        (State.LISTING, ""),
        (
            State.NOT_SERVED,
            "the server does not serve devicetaintrules in resource.k8s.io/v1beta2",
        ),
    ]
    assert run.waits.seconds[0] >= 60


# --- a store that fails --------------------------------------------------------------


class Failing:
    """Raises in one verb of a store for a number of times."""

    def __init__(self, verb: str, times: int) -> None:
        self.verb = verb
        self.left = times

    def __call__(self, verb: str) -> None:
        if verb == self.verb and self.left:
            self.left -= 1
            raise RuntimeError("the database is away")


@pytest.mark.parametrize("verb", ["replace", "apply", "bookmark", "report"])
def test_nothing_is_lost_when_the_store_fails(client, standin, store, verb):
    store.before = failing = Failing(verb, 2)
    with running(client, SLICES, store):
        for i in range(5):
            standin.store.put(resource_slice(f"n-{i}"))
            standin.store.delete("ResourceSlice", f"s-0{i}")
        end = time.monotonic() + PATIENCE
        while failing.left:
            # What came before a list is no event any more, so there has to be another.
            assert time.monotonic() < end
            standin.store.put(resource_slice("again"))
            time.sleep(0.05)
        wait_for_equality(store, standin, "ResourceSlice")
        store.wait_until(lambda: store.state is State.LIVE)
    assert store.problems == []
    if verb != "report":
        [error] = {error for state, error in store.states if state is State.RETRYING}
        assert error == (
            "saving what the cluster sent failed (RuntimeError); "
            "everything is read again"
        )


def test_a_store_that_cannot_say_where_it_was_gets_a_list(client, standin):
    store = MemoryStore(saved="1")
    store.before = Failing("resume_from", 1)
    with running(client, SLICES, store):
        wait_for_equality(store, standin, "ResourceSlice")
    assert store.replaced == 1
