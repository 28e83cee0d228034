"""A client when something goes wrong, and what it does about credentials."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path

import pytest

from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from cluster.errors import (
    Forbidden,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from cluster.standin.access import Rule, User
from cluster.standin.server import StandinServer
from tests.cluster.rude import HOLD, RudeServer, config_for, response
from tests.cluster.running import (
    CLAIMS,
    NODES,
    SLICES,
    claim,
    client_of,
)

# --- when it goes wrong --------------------------------------------------------------


def test_a_busy_server_says_how_long_to_wait(client, standin):
    standin.faults.retry_after = 7
    standin.faults.answer(429)
    with pytest.raises(TooManyRequests) as caught:
        client.version()
    assert caught.value.retry_after == 7


def test_a_refused_connection_is_explained(tmp_path, standin):
    client = client_of(standin, tmp_path)
    standin.faults.refuse_connections()
    with pytest.raises(Unreachable) as caught:
        client.create(CLAIMS, "default", claim("c"))
    assert str(caught.value) == (
        f"127.0.0.1:{standin.port} refuses connections; is the API server running there?"
    )
    assert not caught.value.outcome_unknown


def test_an_unknown_host_is_explained(tmp_path):
    client = ClusterClient.connect(
        config_for(tmp_path, "http://no-such-host.invalid:1")
    )
    with pytest.raises(Unreachable, match=r"no-such-host.invalid:1 cannot be resolved"):
        client.version()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"", "the connection to .* broke"),
        (b"not http\r\n\r\n", "the connection to .* broke"),
        (response(b"<html>"), "not a JSON object; is it the address of a Kubernetes"),
        (response(b"[]"), "not a JSON object"),
        (response(b"", status="302 Found"), "redirects elsewhere"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
            "the connection to .* broke",
        ),
        (response(b"[" * 100_000), "not a JSON object"),
    ],
)
def test_a_useless_answer_is_explained(tmp_path, answer, message):
    with RudeServer(answer) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        with pytest.raises(Unreachable, match=message) as caught:
            client.version()
        assert not caught.value.outcome_unknown


def test_a_silent_server_is_given_up(tmp_path):
    with RudeServer(HOLD) as server:
        client = ClusterClient.connect(
            config_for(tmp_path, server.url), read_timeout=0.2
        )
        with pytest.raises(Unreachable, match="did not answer in time"):
            client.version()


@pytest.mark.parametrize("answer", [b"", HOLD, response(b"<html>")])
def test_a_write_without_an_answer_may_have_happened(tmp_path, answer):
    with RudeServer(answer) as server:
        client = ClusterClient.connect(
            config_for(tmp_path, server.url), read_timeout=0.2
        )
        with pytest.raises(Unreachable) as caught:
            client.create(CLAIMS, "default", claim("c"))
        assert caught.value.outcome_unknown


def test_a_write_that_lost_its_answer_is_marked_and_did_happen(client, standin):
    standin.faults.drop_after_write()
    with pytest.raises(Unreachable) as caught:
        client.create(CLAIMS, "default", claim("c"))
    assert caught.value.outcome_unknown
    assert client.get(CLAIMS, "default", "c")


def test_a_dump_has_no_server_to_connect_to():
    with pytest.raises(Unreachable, match="no server to connect to"):
        ClusterClient.connect(
            ClusterConfig(name="x", dump=(Path("/a.json"),), writer="none")
        )


# --- credentials ---------------------------------------------------------------------


READER = User("reader", rules=(Rule(("list",), ("nodes",)),))


def test_wrong_and_weak_credentials_are_told_apart(tmp_path):
    with StandinServer(users={"good": READER}) as standin:
        wrong = client_of(standin, tmp_path, token="bad")
        with pytest.raises(Unauthorized):
            list(wrong.list_pages(NODES))
        weak = client_of(standin, tmp_path, token="good")
        assert [page.items for page in weak.list_pages(NODES)] == [[]]
        with pytest.raises(Forbidden, match="reader"):
            list(weak.list_pages(SLICES))


def test_credentials_renewed_on_disk_are_taken_up(tmp_path):
    with StandinServer(users={"new": READER}) as standin:
        path = standin.write_kubeconfig(tmp_path / "kubeconfig", token="old")
        config = ClusterConfig(name="demo", kubeconfig=path)
        client = ClusterClient.connect(config, reload_after=0)
        with pytest.raises(Unauthorized):
            list(client.list_pages(NODES))
        standin.write_kubeconfig(path, token="new")
        assert [page.items for page in client.list_pages(NODES)] == [[]]


def test_a_server_that_moved_is_found_again(tmp_path):
    with StandinServer() as first:
        path = first.write_kubeconfig(tmp_path / "kubeconfig")
        client = ClusterClient.connect(
            ClusterConfig(name="d", kubeconfig=path), reload_after=0
        )
        assert client.version()
    with StandinServer() as second:
        second.write_kubeconfig(path)
        with pytest.raises(Unreachable):
            client.version()
        assert client.version()


def test_no_message_holds_a_secret(tmp_path):
    secret = "s3cret-token"
    url = f"http://user:{secret}@127.0.0.1:1"
    client = ClusterClient.connect(config_for(tmp_path, url, user={"token": secret}))
    with pytest.raises(Unreachable) as caught:
        client.version()
    text = "".join(traceback.format_exception(caught.value, chain=False))
    assert secret not in text
    assert secret not in repr(client)
    assert secret not in repr(client.config)
    assert client.address == "127.0.0.1:1"


def test_many_threads_may_share_a_client(client, standin):
    failures: list[Exception] = []

    def work(number: int) -> None:
        try:
            for i in range(10):
                name = f"c-{number}-{i}"
                client.create(CLAIMS, "default", claim(name))
                client.patch(CLAIMS, "default", name, {"metadata": {"labels": {}}})
                assert client.get(CLAIMS, "default", name)["metadata"]["name"] == name
                assert sum(len(page.items) for page in client.list_pages(SLICES)) == 20
        except Exception as error:  # the test names whatever a thread met
            failures.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert len(standin.store.objects("ResourceClaim")) == 80
