from __future__ import annotations

import threading
import time

import pytest

from cluster.client import ClusterClient
from cluster.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    ServerError,
    Unreachable,
)
from cluster.resources import BY_KIND, ServedResource
from cluster.standin.server import StandinServer
from tests.cluster.rude import HOLD, RudeServer, chunked, config_for, response
from tests.cluster.running import (
    CLAIMS,
    NODES,
    SLICES,
    claim,
    client_of,
    resource_slice,
)

EMPTY = response(b'{"kind": "NodeList", "metadata": {"resourceVersion": "1"}}')


# --- what is there ---


def test_the_version_is_that_of_the_server(client):
    assert client.version() == "v1.36.2"


def test_discovery_leaves_out_what_is_not_served(client):
    served = client.discover()
    assert list(served) == [
        "Namespace",
        "Node",
        "DeviceClass",
        "ResourceSlice",
        "ResourceClaimTemplate",
        "ResourceClaim",
        "Pod",
    ]
    assert served["ResourceSlice"].api_version == "resource.k8s.io/v1"
    assert served["Node"].api_version == "v1"


@pytest.mark.parametrize(
    ("versions", "slices", "rules"),
    [
        (("v1", "v1beta2", "v1beta1"), "v1", "v1beta2"),
        (("v1beta1", "v1beta2"), "v1beta2", "v1beta2"),
        (("v1beta1", "v1alpha3"), "v1beta1", "v1alpha3"),
        ((), None, None),
    ],
)
def test_discovery_takes_the_newest_version_of_each_kind(
    tmp_path, versions, slices, rules
):
    with StandinServer(served={"resource.k8s.io": versions}) as server:
        served = client_of(server, tmp_path).discover()
    found = {kind: resource.version for kind, resource in served.items()}
    assert found.get("ResourceSlice") == slices
    assert found.get("DeviceTaintRule") == rules
    assert found["Pod"] == "v1"


def test_an_unreachable_server_is_not_an_empty_one(tmp_path, standin):
    client = client_of(standin, tmp_path)
    standin.faults.answer(500)
    with pytest.raises(ServerError):
        client.discover()
    standin.faults.drop()
    with pytest.raises(Unreachable):
        client.discover()


# --- lists ---


def test_pages_show_one_moment(client, standin):
    pages = client.list_pages(SLICES, limit=7)
    first = next(pages)
    standin.store.put(resource_slice("s-99"))
    rest = list(pages)
    names = [item["metadata"]["name"] for page in (first, *rest) for item in page.items]
    assert names == [f"s-{i:02}" for i in range(20)]
    assert [len(page.items) for page in (first, *rest)] == [7, 7, 6]
    assert {page.resource_version for page in rest} == {first.resource_version}


def test_a_list_that_expires_between_pages_is_gone(client, standin):
    pages = client.list_pages(SLICES, limit=7)
    next(pages)
    standin.store.put(resource_slice("s-99"))
    standin.faults.expire_history()
    with pytest.raises(Gone):
        list(pages)


def test_selectors_reach_the_server(client):
    pages = client.list_pages(SLICES, field_selector="metadata.name=s-03")
    assert [item["metadata"]["name"] for page in pages for item in page.items] == [
        "s-03"
    ]


def test_null_items_are_an_empty_list(tmp_path):
    body = b'{"metadata": {"resourceVersion": "5"}, "items": null}'
    with RudeServer(response(body)) as server:
        [page] = ClusterClient.connect(config_for(tmp_path, server.url)).list_pages(
            NODES
        )
    assert (page.items, page.resource_version) == ([], "5")


@pytest.mark.parametrize("body", [b'{"items": {}}', b'{"metadata": 5, "items": []}'])
def test_something_else_than_a_list_is_told(tmp_path, body):
    with RudeServer(response(body)) as server:
        pages = ClusterClient.connect(config_for(tmp_path, server.url)).list_pages(
            NODES
        )
        with pytest.raises(Unreachable, match="something that is not a list"):
            next(pages)


# --- objects ---


def test_an_object_is_created_read_changed_and_deleted(client):
    created = client.create(CLAIMS, "default", claim("c"))
    assert client.get(CLAIMS, "default", "c")["metadata"] == created["metadata"]

    patched = client.patch(
        CLAIMS, "default", "c", {"metadata": {"labels": {"a": "b"}}}, dry_run=True
    )
    assert patched["metadata"]["labels"] == {"a": "b"}
    assert "labels" not in client.get(CLAIMS, "default", "c")["metadata"]

    created["metadata"]["labels"] = {"c": "d"}
    replaced = client.replace(CLAIMS, "default", "c", created)
    assert replaced["metadata"]["labels"] == {"c": "d"}

    ignored = {"metadata": {"labels": {"e": "f"}}}
    answer = client.patch(CLAIMS, "default", "c", ignored, subresource="status")
    assert answer["metadata"]["labels"] == {"c": "d"}

    with pytest.raises(Conflict):
        client.delete(CLAIMS, "default", "c", uid="another")
    client.delete(CLAIMS, "default", "c", uid=created["metadata"]["uid"])
    with pytest.raises(NotFound) as caught:
        client.get(CLAIMS, "default", "c")
    assert not caught.value.not_served


def test_refusals_are_told_apart(client):
    created = client.create(CLAIMS, "default", claim("c"))
    with pytest.raises(AlreadyExists):
        client.create(CLAIMS, "default", claim("c"))
    client.patch(CLAIMS, "default", "c", {"metadata": {"labels": {"a": "b"}}})
    with pytest.raises(Conflict):
        client.replace(CLAIMS, "default", "c", created)
    with pytest.raises(Invalid) as caught:
        client.create(CLAIMS, "default", claim("UPPER"))
    assert caught.value.causes
    with pytest.raises(NotFound) as missing:
        client.get(ServedResource(BY_KIND["DeviceTaintRule"], "v1"), None, "x")
    assert missing.value.not_served


@pytest.mark.parametrize("name", ["..", ".", "a/b", "a?b", "a b", "ä", "%2e%2e", "#"])
def test_a_name_stays_one_part_of_the_path(client, standin, name):
    with pytest.raises(ApiError):
        client.get(CLAIMS, "default", name)
    assert "/" not in CLAIMS.path("default", name).rpartition("/resourceclaims/")[2]


# --- what is sent ---


def test_requests_say_who_asks_and_what_for(tmp_path):
    with RudeServer(response(b"{}"), chunked()) as server:
        config = config_for(tmp_path, server.url + "/prefix/", user={"token": "s3cret"})
        client = ClusterClient.connect(config)
        client.patch(
            CLAIMS, "ns", "c", [{"op": "test"}], "status", "json", dry_run=True
        )
        list(client.watch(NODES, resource_version="7", timeout_seconds=9))
    patch, watch = (request.decode() for request in server.requests)
    path = "/prefix/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status"
    assert patch.startswith(f"PATCH {path}?dryRun=All HTTP/1.1\r\n")
    assert "Content-Type: application/json-patch+json\r\n" in patch
    assert "User-Agent: dra-portal/0.1\r\n" in patch
    assert "Accept: application/json\r\n" in patch
    assert "Authorization: Bearer s3cret\r\n" in patch
    assert patch.endswith('[{"op":"test"}]')
    assert watch.startswith(
        "GET /prefix/api/v1/nodes?watch=true&resourceVersion=7&timeoutSeconds=9"
        "&allowWatchBookmarks=true HTTP/1.1\r\n"
    )
    assert "Accept-Encoding: identity\r\n" in watch


# --- watches ---


def test_a_watch_tells_changes_and_bookmarks(client, standin):
    [page] = client.list_pages(SLICES)
    stream = client.watch(
        SLICES, resource_version=page.resource_version, timeout_seconds=300
    )
    assert not stream.opened
    standin.store.put(resource_slice("s-00", generation=2))
    standin.store.delete("ResourceSlice", "s-01")
    events = [next(stream).type for _ in range(3)]
    assert stream.opened
    assert events == ["MODIFIED", "DELETED", "BOOKMARK"]
    stream.close()


def test_a_watch_ends_when_the_server_ends_it(client, standin):
    [page] = client.list_pages(SLICES)
    stream = client.watch(
        SLICES, resource_version=page.resource_version, timeout_seconds=1
    )
    assert {event.type for event in stream} <= {"BOOKMARK"}
    assert stream.opened


def test_an_expired_version_is_gone(client, standin):
    standin.store.put(resource_slice("s-00", generation=2))
    standin.faults.expire_history()
    with pytest.raises(Gone):
        next(client.watch(SLICES, resource_version="1", timeout_seconds=5))


def test_another_error_event_is_raised_as_what_it_is(tmp_path):
    status = b'{"kind":"Status","code":403,"reason":"Forbidden","message":"no"}'
    line = b'{"type":"ERROR","object":%s}\n' % status
    with RudeServer(chunked(line)) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        with pytest.raises(Forbidden, match="no"):
            next(client.watch(NODES, resource_version="1", timeout_seconds=5))


def event(version: int) -> bytes:
    return (
        b'{"type":"ADDED","object":{"metadata":'
        b'{"name":"n%d","resourceVersion":"%d"}}}\n' % (version, version)
    )


def test_events_are_cut_at_newlines_not_at_chunks(tmp_path):
    text = event(1) + event(2) + b"\n" + event(3).rstrip()
    parts = [text[i : i + 7] for i in range(0, len(text), 7)]
    with RudeServer(chunked(*parts)) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        events = list(client.watch(NODES, resource_version="0", timeout_seconds=5))
    assert [e.object["metadata"]["name"] for e in events] == ["n1", "n2", "n3"]


def test_a_stream_without_chunks_is_read_as_it_comes(tmp_path):
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    with RudeServer(head + event(1) + HOLD) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        stream = client.watch(NODES, resource_version="0", timeout_seconds=5)
        assert next(stream).object["metadata"]["name"] == "n1"
        stream.close()


@pytest.mark.parametrize(
    "answer",
    [
        chunked(event(1), end=b""),
        chunked(event(1), end=b"40\r\n{"),
        chunked(event(1), end=b"zz\r\n"),
        chunked(event(1), b'{"type":"ADDED","obj'),
        chunked(event(1), b"[]\n"),
        chunked(event(1), b'{"type":5,"object":{}}\n'),
        chunked(event(1), b'{"type":"ADDED","object":[]}\n'),
        chunked(event(1), b"\xff\n"),
    ],
)
def test_a_broken_stream_gives_what_came_before_and_an_error(tmp_path, answer):
    with RudeServer(answer) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        stream = client.watch(NODES, resource_version="0", timeout_seconds=5)
        assert next(stream).object["metadata"]["name"] == "n1"
        with pytest.raises(Unreachable):
            next(stream)


def test_a_watch_that_is_closed_before_it_begins_asks_for_nothing(client, standin):
    stream = client.watch(SLICES, resource_version="0", timeout_seconds=300)
    stream.close()
    before = standin.faults.requests
    assert list(stream) == []
    assert standin.faults.requests == before


def test_a_watch_that_is_closed_while_it_opens_waits_for_no_event(client, standin):
    standin.faults.latency = 0.3
    version = str(standin.store.version)
    stream = client.watch(SLICES, resource_version=version, timeout_seconds=300)
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.extend(e.type for e in stream))
    thread.start()
    while not standin.faults.requests:
        time.sleep(0.01)
    stream.close()
    # There is a bookmark after a second, where we came too late, and then each minute.
    thread.join(50)
    assert not thread.is_alive()
    assert {*seen} <= {"BOOKMARK"}


def test_a_watch_that_nobody_reads_any_more_gives_its_connection_back(client, standin):
    standin.store.put(resource_slice("s-00", generation=2))
    stream = client.watch(SLICES, resource_version="1", timeout_seconds=300)
    with pytest.raises(Gone):
        next(stream)
    version = str(standin.store.version - 1)
    stream = client.watch(SLICES, resource_version=version, timeout_seconds=300)
    assert next(stream).type == "MODIFIED"
    response = stream._response
    assert response is not None
    stream.close()
    assert response.closed
    assert list(stream) == []


def test_closing_wakes_a_blocked_watch(client, standin):
    [page] = client.list_pages(SLICES)
    stream = client.watch(
        SLICES, resource_version=page.resource_version, timeout_seconds=300
    )
    assert next(stream).type == "BOOKMARK"
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.extend(e.type for e in stream))
    thread.start()
    time.sleep(0.1)  # it most probably reads by then
    stream.close()
    # The next bookmark would come after a minute.
    thread.join(50)
    assert not thread.is_alive()
    assert seen == []


def test_a_stop_ends_a_watch_at_the_next_event(client, standin):
    stop = threading.Event()
    [page] = client.list_pages(SLICES)
    stream = client.watch(
        SLICES,
        resource_version=page.resource_version,
        timeout_seconds=300,
        stop=stop,
    )
    standin.store.put(resource_slice("s-00", generation=2))
    next(stream)
    stop.set()
    standin.store.put(resource_slice("s-00", generation=3))
    assert list(stream) == []
