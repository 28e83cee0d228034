"""One reflector, one store in memory, a stand-in over HTTP, and one situation each."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from cluster.backoff import Backoff
from cluster.client import ClusterClient
from cluster.reflector import Options
from cluster.resources import BY_KIND, ServedResource
from cluster.standin.server import StandinServer
from cluster.store import EventType, State
from tests.cluster.rude import HOLD, RudeServer, config_for, node_list
from tests.cluster.running import (
    CLAIMS,
    NODES,
    SLICES,
    claim,
    client_of,
    resource_slice,
    running,
    wait_for_equality,
)
from tests.cluster.stores import PATIENCE, MemoryStore

Json = dict[str, Any]


# --- list and watch ---


def test_everything_is_listed_first_and_changes_follow(standin, store, live):
    assert store.replaced == 1
    assert len(store.objects) == 20

    standin.store.put(resource_slice("new"))
    standin.store.put(resource_slice("s-00", generation=2))
    standin.store.delete("ResourceSlice", "s-01")

    wait_for_equality(store, standin, "ResourceSlice")
    assert [(e.type, e.object["metadata"]["name"]) for e in store.events] == [
        (EventType.ADDED, "new"),
        (EventType.MODIFIED, "s-00"),
        (EventType.DELETED, "s-01"),
    ]
    assert store.replaced == 1


def test_a_long_list_comes_in_pages_and_is_saved_in_one(client, standin, store):
    options = Options(page_size=7, poll_seconds=0.05)
    with running(client, SLICES, store, options=options):
        wait_for_equality(store, standin, "ResourceSlice")
    assert store.replaced == 1


def test_objects_are_in_v1_form_without_managed_fields(tmp_path, store):
    body = claim("c")
    body["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    served = ServedResource(BY_KIND["ResourceClaim"], "v1beta1")
    with StandinServer([body], served={"resource.k8s.io": ("v1beta1",)}) as standin:
        client = client_of(standin, tmp_path)
        with running(client, served, store):
            store.wait_until(lambda: store.state is State.LIVE)
            standin.store.put(
                claim("d") | {"metadata": body["metadata"] | {"name": "d"}}
            )
            store.wait_until(lambda: len(store.objects) == 2)
    for obj in store.objects.values():
        assert (obj["apiVersion"], obj["kind"]) == (CLAIMS.api_version, "ResourceClaim")
        assert "managedFields" not in obj["metadata"]
        [request] = obj["spec"]["devices"]["requests"]
        assert request["exactly"]["deviceClassName"] == "gpu.example.com"


def test_unknown_fields_stay(standin, store, live):
    body = resource_slice("future")
    body["spec"]["fieldOfTheFuture"] = {"a": [1]}
    standin.store.put(body)
    store.wait_until(lambda: ("", "future") in store.objects)
    assert store.objects["", "future"]["spec"]["fieldOfTheFuture"] == {"a": [1]}


def test_unwanted_objects_never_reach_the_store(client, standin, store):
    def keep(obj: Json) -> bool:
        return bool(obj["metadata"]["name"] >= "s-10")

    with running(client, SLICES, store, keep=keep):
        store.wait_until(lambda: store.state is State.LIVE)
        standin.store.put(resource_slice("a-not-wanted"))
        standin.store.put(resource_slice("z-wanted"))
        store.wait_until(lambda: ("", "z-wanted") in store.objects)
    assert len(store.objects) == 11
    assert len(store.events) == 1


def test_bookmarks_move_the_version_on(standin, store, live):
    """Also when other kinds change, whose events this watch does not see."""
    standin.store.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    newest = str(standin.store.version)
    store.wait_until(lambda: newest in store.bookmarks)
    assert store.version == newest
    assert store.events == []


def test_many_events_are_saved_in_batches(client, standin, store):
    """What comes while the store is busy with the first of them."""
    all_sent = threading.Event()

    def wait_for_all(verb: str) -> None:
        if verb == "apply":
            assert all_sent.wait(PATIENCE)

    store.before = wait_for_all
    options = Options(batch_size=50, poll_seconds=0.05, batch_seconds=PATIENCE)
    with running(client, SLICES, store, options=options):
        store.wait_until(lambda: store.state is State.LIVE)
        for i in range(300):
            standin.store.put(resource_slice(f"n-{i:03}"))
        all_sent.set()
        wait_for_equality(store, standin, "ResourceSlice")
    assert max(len(batch) for batch in store.batches) <= 50
    assert len(store.events) == 300
    # Only a bookmark ends a batch before it is full.
    assert sum(len(b) < 50 for b in store.batches) <= len(store.bookmarks)
    assert store.problems == []


def test_a_single_event_is_not_kept_waiting_for_a_second_one(standin, store, live):
    standin.store.put(resource_slice("one"))
    store.wait_until(lambda: ("", "one") in store.objects)
    assert len(store.events) == 1


def test_a_slow_trickle_is_saved_before_it_ends(client, standin, store):
    """The first event of a batch waits for the time limit, not for a pause."""
    options = Options(batch_seconds=0.2, poll_seconds=0.05)
    with running(client, SLICES, store, options=options):
        store.wait_until(lambda: store.state is State.LIVE)
        end = time.monotonic() + PATIENCE
        sent = 0
        while not store.batches:
            assert time.monotonic() < end
            standin.store.put(resource_slice(f"t-{sent:04}"))
            sent += 1
            time.sleep(0.05)
        wait_for_equality(store, standin, "ResourceSlice")


# --- going on after a restart ---


def test_a_saved_version_is_continued_without_a_list(client, standin, store):
    with running(client, SLICES, store) as run:
        store.wait_until(lambda: store.state is State.LIVE)
        run.stop_now()
    standin.store.put(resource_slice("meanwhile"))
    standin.store.delete("ResourceSlice", "s-03")

    with running(client, SLICES, store):
        wait_for_equality(store, standin, "ResourceSlice")
    assert store.replaced == 1
    assert len(store.events) == 2
    assert store.problems == []


def test_a_saved_version_that_is_too_old_leads_to_a_list(client, standin, store):
    with running(client, SLICES, store) as run:
        store.wait_until(lambda: store.state is State.LIVE)
        run.stop_now()
    standin.store.delete("ResourceSlice", "s-03")
    standin.faults.expire_history()
    standin.store.put(resource_slice("meanwhile"))

    with running(client, SLICES, store):
        wait_for_equality(store, standin, "ResourceSlice")
    assert store.replaced == 2


def test_a_version_of_the_future_leads_to_a_list(client, standin):
    """A server restored from a backup would stay silent on it for days."""
    store = MemoryStore(saved=str(standin.store.version + 1000))
    with running(client, SLICES, store):
        wait_for_equality(store, standin, "ResourceSlice")
    assert store.replaced == 1


@pytest.mark.parametrize("saved", ["dump-6f1c", "", "0x1", str(10**30)])
def test_a_saved_version_that_is_none_leads_to_a_list(client, standin, saved):
    """A watch from one would be answered with a server error for ever."""
    store = MemoryStore(saved=saved)
    with running(client, SLICES, store) as run:
        wait_for_equality(store, standin, "ResourceSlice")
    assert store.replaced == 1
    assert run.waits.seconds == []


# --- stopping ---


def test_a_quiet_watch_stops_at_once(client, store):
    """It would last five minutes."""
    options = Options()
    with running(client, SLICES, store, options=options) as run:
        store.wait_until(lambda: store.state is State.LIVE)
        run.stop_now()
    assert store.state is State.STOPPED


@pytest.mark.parametrize("answers", [(HOLD,), (node_list(10), HOLD)])
def test_a_server_that_says_nothing_cannot_hold_up_a_stop(tmp_path, store, answers):
    """While it lists, and while it opens a watch."""
    with RudeServer(*answers) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        with running(client, NODES, store, options=Options()) as run:
            store.wait_until(lambda: len(server.requests) == len(answers))
            run.stop_now()


def test_a_pause_ends_with_a_stop(client, standin, store):
    pausing = threading.Event()

    def pause(stop: threading.Event, seconds: float) -> None:
        pausing.set()
        stop.wait(seconds)

    standin.faults.refuse_connections()
    long = Backoff(first=1000.0, most=1000.0)
    with running(client, SLICES, store, wait=pause, backoff=long) as run:
        assert pausing.wait(PATIENCE)
        assert store.state is State.RETRYING
        run.stop_now()


def test_no_thread_is_left_behind(client, store):
    with running(client, SLICES, store) as run:
        store.wait_until(lambda: store.state is State.LIVE)
        run.stop_now()
    end = time.monotonic() + PATIENCE
    while any("resourceslices" in thread.name for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)
