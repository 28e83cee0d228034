"""Starting, loading, stopping; and that nothing is left behind."""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing
from http.client import RemoteDisconnected
from pathlib import Path

import pytest
import yaml

from cluster.errors import DumpError
from cluster.standin.server import StandinServer
from cluster.standin.store import Store
from tests.cluster.standin.http_client import CLAIMS, SLICES, Http, claim, piece


def test_stopping_ends_all_threads_and_open_streams_quickly() -> None:
    before = set(threading.enumerate())
    server = StandinServer([piece("s-0")]).start()
    http = Http(server.port)
    streams = [http.watch(f"{SLICES}?watch=true&resourceVersion=0") for _ in range(5)]
    for stream in streams:
        next(stream)
    with closing(http.connection()) as idle:
        idle.request("GET", SLICES)
        idle.getresponse().read()
        started = time.monotonic()
        server.stop()
        # The streams would last for half an hour.
        assert time.monotonic() - started < 60
    for stream in streams:
        stream.close()
    assert set(threading.enumerate()) <= before
    server.stop()


def test_a_port_that_is_taken_is_an_error_and_leaks_nothing() -> None:
    with StandinServer() as server:
        port = server.port
        with pytest.raises(OSError):
            StandinServer(port=port).start().stop()
        server.faults.refuse_connections()
        with pytest.raises(OSError):
            StandinServer(port=port).start().stop()
    with StandinServer(port=port) as again:
        assert Http(again.port).get("/version").status == 200


def test_the_kubeconfig_names_the_server_and_is_private(
    server: StandinServer, tmp_path: Path
) -> None:
    path = server.write_kubeconfig(tmp_path / "config", token="secret")
    read = yaml.safe_load(path.read_text())
    assert read["clusters"][0]["cluster"]["server"] == server.url
    assert read["users"][0]["user"] == {"token": "secret"}
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_a_dump_keeps_its_uids_and_versions(tmp_path: Path, suffix: str) -> None:
    item = piece("s-0")
    item["metadata"] |= {"uid": "u-1", "resourceVersion": "4711"}
    listed = {"apiVersion": "v1", "kind": "List", "items": [item, claim()]}
    text = json.dumps(listed) if suffix == "json" else yaml.safe_dump(listed)
    path = tmp_path / f"dump.{suffix}"
    path.write_text(text)
    with StandinServer() as server:
        assert server.load(path) == ()
        http = Http(server.port)
        meta = http.get(f"{SLICES}/s-0").json["metadata"]
        assert (meta["uid"], meta["resourceVersion"]) == ("u-1", "4711")
        created = http.post(CLAIMS, claim("next")).json["metadata"]
        assert int(created["resourceVersion"]) > 4711


def test_a_broken_dump_says_so(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{")
    with StandinServer() as server, pytest.raises(DumpError):
        server.load(path)


def test_loading_tells_running_watches_to_list_anew(
    server: StandinServer, http: Http
) -> None:
    server.store.put(piece("s-0"))
    old = server.store.version
    server.store.load([piece("s-1")])
    events = list(
        http.watch(f"{SLICES}?watch=true&resourceVersion={old}&timeoutSeconds=1")
    )
    assert [event["type"] for event in events] == ["ERROR"]


def test_what_the_store_gives_out_is_a_copy() -> None:
    store = Store()
    sent = piece("s-0")
    store.put(sent)
    sent["spec"]["driver"] = "changed"
    got = store.objects("ResourceSlice")[0]
    got["spec"]["driver"] = "changed"
    kept = store.get("ResourceSlice", "s-0")
    assert kept is not None
    assert kept["spec"]["driver"] == "gpu.acme.test"


def test_putting_again_keeps_uid_and_birthday() -> None:
    store = Store()
    first = store.put(piece("s-0"))["metadata"]
    second = store.put(piece("s-0"))["metadata"]
    assert (first["uid"], first["creationTimestamp"]) == (
        second["uid"],
        second["creationTimestamp"],
    )
    assert int(second["resourceVersion"]) == int(first["resourceVersion"]) + 1


def test_deleting_what_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Store().delete("Node", "nobody")


def test_large_answers_come_whole(server: StandinServer, http: Http) -> None:
    for number in range(300):
        server.store.put(piece(f"s-{number:03d}"))
    assert len(http.get(SLICES).names) == 300


def test_a_body_may_come_in_pieces(http: Http) -> None:
    pieces = [json.dumps(claim()).encode()[n : n + 50] for n in range(0, 400, 50)]
    with closing(http.connection()) as connection:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", CLAIMS, iter(pieces), headers, encode_chunked=True)
        assert connection.getresponse().status == 201


def test_a_body_in_pieces_may_not_be_too_large(http: Http) -> None:
    pieces = (b" " * 1024 * 1024 for _ in range(4))
    with closing(http.connection()) as connection:
        connection.request("POST", CLAIMS, pieces, encode_chunked=True)
        assert connection.getresponse().status == 413


@pytest.mark.parametrize("length", ["ten", "-5"])
def test_a_length_that_is_no_length_loses_the_connection(
    http: Http, length: str
) -> None:
    with closing(http.connection()) as connection:
        connection.putrequest("POST", CLAIMS)
        connection.putheader("Content-Length", length)
        connection.endheaders()
        with pytest.raises((RemoteDisconnected, ConnectionError)):
            connection.getresponse()
    assert http.get(SLICES).status == 200
