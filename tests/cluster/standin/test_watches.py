"""Streams: what they show, in which order, and how they end."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Generator
from contextlib import closing
from typing import Any

import pytest

from cluster.standin.server import StandinServer
from tests.cluster.standin.http_client import SLICES, Http, claim, piece
from tests.cluster.standin.scheduled import eventually

Json = Any


def watch(http: Http, query: str, *, path: str = SLICES) -> Generator[Json]:
    return http.watch(f"{path}?watch=true&{query}")


def kinds_and_names(events: list[Json]) -> list[tuple[str, str]]:
    return [(e["type"], e["object"]["metadata"].get("name", "")) for e in events]


def test_every_change_arrives_once_and_in_order(
    server: StandinServer, http: Http
) -> None:
    start = server.store.version
    for number in range(30):
        server.store.put(piece(f"s-{number % 3}"))
    server.store.delete("ResourceSlice", "s-1")
    events = list(watch(http, f"resourceVersion={start}&timeoutSeconds=1"))
    versions = [int(e["object"]["metadata"]["resourceVersion"]) for e in events]
    assert versions == list(range(start + 1, start + 32))
    assert kinds_and_names(events)[-1] == ("DELETED", "s-1")


def test_an_event_comes_while_the_stream_is_open(
    server: StandinServer, http: Http
) -> None:
    def change() -> None:
        eventually(lambda: server.store.watches, "the watch")
        server.store.put(piece("s-new"))

    changing = threading.Thread(target=change)
    # The client would give up long before the stream ends.
    with closing(watch(http, "resourceVersion=0&timeoutSeconds=600")) as events:
        changing.start()
        assert kinds_and_names([next(events)]) == [("ADDED", "s-new")]
    changing.join()


def test_bookmarks_come_regularly_and_move_with_other_kinds(
    server: StandinServer, http: Http
) -> None:
    server.store.put(piece("s-0"))
    options = "resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=600"
    with closing(watch(http, options)) as events:
        first, end = next(events), next(events)
        assert first["type"] == "ADDED"
        assert end["object"]["metadata"]["annotations"] == {
            "k8s.io/initial-events-end": "true"
        }
        server.store.put(claim())
        newest = str(server.store.version)
        for event in events:
            assert event["type"] == "BOOKMARK"
            if event["object"]["metadata"] == {"resourceVersion": newest}:
                break


def test_without_asking_there_are_no_bookmarks(
    server: StandinServer, http: Http
) -> None:
    server.store.put(piece("s-0"))
    events = list(watch(http, "resourceVersion=0&timeoutSeconds=1"))
    assert kinds_and_names(events) == [("ADDED", "s-0")]


def test_an_object_that_leaves_the_selector_is_deleted_in_its_last_matching_state(
    server: StandinServer, http: Http
) -> None:
    start = server.store.version
    for tier in ("w", "x", "w"):
        made = piece("s-0")
        made["metadata"]["labels"] = {"tier": tier}
        server.store.put(made)
    query = f"resourceVersion={start}&timeoutSeconds=1&labelSelector=tier%3Dw"
    events = list(watch(http, query))
    assert [e["type"] for e in events] == ["ADDED", "DELETED", "ADDED"]
    left = events[1]["object"]["metadata"]
    assert left["labels"] == {"tier": "w"}
    assert left["resourceVersion"] == str(start + 2)


def test_a_cut_history_answers_with_an_error_event(
    server: StandinServer, http: Http
) -> None:
    server.store.put(piece("s-0"))
    old = server.store.version
    server.store.put(piece("s-0"))
    server.faults.expire_history()
    events = list(watch(http, f"resourceVersion={old}&timeoutSeconds=5"))
    assert [e["type"] for e in events] == ["ERROR"]
    status = events[0]["object"]
    assert (status["code"], status["reason"]) == (410, "Expired")


def test_the_ring_forgets_the_oldest_changes() -> None:
    with StandinServer(history_size=5) as server:
        http = Http(server.port)
        for number in range(10):
            server.store.put(piece(f"s-{number}"))
        newest = server.store.version
        too_old = list(watch(http, f"resourceVersion={newest - 6}&timeoutSeconds=1"))
        assert [e["type"] for e in too_old] == ["ERROR"]
        kept = list(watch(http, f"resourceVersion={newest - 5}&timeoutSeconds=1"))
        assert kinds_and_names(kept) == [("ADDED", f"s-{n}") for n in range(5, 10)]


def test_a_quiet_kind_stays_watchable_while_others_change() -> None:
    with StandinServer([piece("s-0")], history_size=5) as server:
        start = server.store.version
        for _ in range(20):
            server.store.put(claim())
        events = watch(Http(server.port), f"resourceVersion={start}&timeoutSeconds=1")
        assert list(events) == []


def test_a_clean_cut_ends_the_stream_and_a_broken_one_breaks_it(
    server: StandinServer, http: Http
) -> None:
    server.store.put(piece("s-0"))
    with closing(watch(http, "resourceVersion=0")) as events:
        next(events)
        assert server.faults.cut_streams(clean=True) == 1
        assert list(events) == []
    with closing(watch(http, "resourceVersion=0")) as events:
        next(events)
        assert server.faults.cut_streams(clean=False) == 1
        with pytest.raises(http_errors()):
            list(events)


def http_errors() -> tuple[type[Exception], ...]:
    """What a client can get to see when a server dies; never a clean end."""
    return (http.client.IncompleteRead, ConnectionError, ValueError)


def test_a_watch_that_the_client_leaves_is_forgotten(
    server: StandinServer, http: Http
) -> None:
    server.store.put(piece("s-0"))
    with closing(watch(http, "resourceVersion=0")) as events:
        next(events)
        assert server.store.watches == 1

    def forgotten() -> bool:
        server.store.put(piece("s-0"))
        return not server.store.watches

    eventually(forgotten, "forgetting the watch")


def test_a_namespace_watch_sees_only_its_own(server: StandinServer, http: Http) -> None:
    start = server.store.version
    server.store.put(claim("theirs", namespace="other"))
    server.store.put(claim("mine"))
    path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
    events = list(watch(http, f"resourceVersion={start}&timeoutSeconds=1", path=path))
    assert kinds_and_names(events) == [("ADDED", "mine")]
