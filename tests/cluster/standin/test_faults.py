"""Making things go wrong, and right again."""

from __future__ import annotations

import http.client
import time
from contextlib import closing

import pytest

from cluster.standin.faults import Fault
from cluster.standin.server import StandinServer
from tests.cluster.standin.http_client import CLAIMS, SLICES, Http, claim, piece

LOST = (http.client.RemoteDisconnected, ConnectionError)


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_the_next_requests_get_a_status_and_are_not_done(
    server: StandinServer, http: Http, status: int
) -> None:
    server.faults.answer(status, times=2)
    assert http.post(CLAIMS, claim()).status == status
    assert http.get(SLICES).status == status
    assert http.get(SLICES).status == 200
    assert server.store.objects("ResourceClaim") == []


def test_429_is_plain_text_with_a_time_to_wait(
    server: StandinServer, http: Http
) -> None:
    server.faults.retry_after = 7
    server.faults.answer(429)
    reply = http.get(SLICES)
    assert reply.headers["retry-after"] == "7"
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"


def test_a_status_that_no_server_gives_is_refused(server: StandinServer) -> None:
    for order in (server.faults.answer, server.faults.answer_after_write):
        with pytest.raises(ValueError, match="418"):
            order(418)


def test_a_dropped_request_is_not_done(server: StandinServer, http: Http) -> None:
    server.faults.drop()
    with pytest.raises(LOST):
        http.post(CLAIMS, claim())
    assert server.store.objects("ResourceClaim") == []
    assert http.post(CLAIMS, claim()).status == 201


def test_a_write_can_happen_and_lose_its_answer(
    server: StandinServer, http: Http
) -> None:
    server.faults.drop_after_write()
    assert http.get(SLICES).status == 200
    with pytest.raises(LOST):
        http.post(CLAIMS, claim())
    assert len(server.store.objects("ResourceClaim")) == 1
    server.faults.answer_after_write(504)
    assert http.delete(f"{CLAIMS}/c1").status == 504
    assert server.store.objects("ResourceClaim") == []


def test_latency_delays_every_answer(server: StandinServer, http: Http) -> None:
    server.faults.latency = 0.3
    started = time.monotonic()
    http.get(SLICES)
    assert time.monotonic() - started >= 0.3


def test_a_server_that_refuses_comes_back_on_its_port(
    server: StandinServer, http: Http
) -> None:
    server.faults.refuse_connections()
    for _ in range(3):
        with pytest.raises(ConnectionRefusedError):
            http.get(SLICES)
    server.faults.accept_connections()
    assert http.get(SLICES).status == 200


def test_dropped_connections_break_streams_and_idle_clients(
    server: StandinServer, http: Http
) -> None:
    with closing(http.connection()) as idle:
        idle.request("GET", SLICES)
        assert idle.getresponse().read()
        server.faults.drop_connections()
        with pytest.raises(LOST):
            _ask(idle)
    assert http.get(SLICES).status == 200


def _ask(connection: http.client.HTTPConnection) -> None:
    connection.request("GET", SLICES)
    connection.getresponse()


def test_a_restart_keeps_objects_and_loses_history(
    server: StandinServer, http: Http
) -> None:
    server.store.put(piece("s-0"))
    old = server.store.version
    server.store.put(piece("s-1"))
    port = server.port
    server.restart()
    assert server.port == port
    assert http.get(SLICES).names == ["s-0", "s-1"]
    exact = f"{SLICES}?resourceVersion={old}&resourceVersionMatch=Exact"
    assert http.get(exact).status == 410


def test_clearing_ends_every_fault(server: StandinServer, http: Http) -> None:
    server.faults.answer(500, times=5)
    server.faults.drop(times=5)
    server.faults.drop_after_write(times=5)
    server.faults.refuse_connections()
    server.faults.latency = 10
    server.faults.clear()
    assert http.post(CLAIMS, claim()).status == 201


# --- over HTTP -------------------------------------------------------------


def test_the_control_endpoint_is_closed_unless_asked_for(http: Http) -> None:
    assert http.post("/standin/faults", {"status": 500}).status == 404


def test_the_control_endpoint_orders_faults() -> None:
    with StandinServer(control=True) as server:
        http = Http(server.port)
        assert http.post("/standin/faults", {"status": 500, "times": 2}).status == 200
        assert http.post("/standin/faults", {"drop": True}).status == 200
        with pytest.raises(LOST):
            http.get(SLICES)
        assert [http.get(SLICES).status for _ in range(3)] == [500, 500, 200]
        after = {"status": 504, "after_write": True}
        assert http.post("/standin/faults", after).status == 200
        assert http.post(CLAIMS, claim()).status == 504
        assert len(server.store.objects("ResourceClaim")) == 1
        order = {"latency": 5, "cut": "broken", "expire": True}
        assert http.post("/standin/faults", order).json == {"latency": 5.0}
        assert http.post("/standin/faults", {"clear": True}).json == {"latency": 0.0}


@pytest.mark.parametrize(
    "order",
    [
        b"no json",
        {"unknown": 1},
        {"status": 418},
        {"latency": 61},
        {"latency": "long"},
        {"times": 0},
        {"cut": "sideways"},
    ],
)
def test_a_senseless_order_is_refused(order: object) -> None:
    with StandinServer(control=True) as server:
        http = Http(server.port)
        assert http.post("/standin/faults", order).status == 400
        assert http.get("/standin/faults").status == 405
        assert http.get(SLICES).status == 200


def test_a_fault_can_be_planned_for_one_request_to_come(
    server: StandinServer, http: Http
) -> None:
    server.faults.plan(Fault(503), position=2)
    server.faults.plan(Fault(0, after=True), position=3)
    assert http.get(SLICES).status == 200
    assert http.post(CLAIMS, claim()).status == 503
    assert server.store.objects("ResourceClaim") == []
    with pytest.raises(LOST):
        http.post(CLAIMS, claim())
    assert len(server.store.objects("ResourceClaim")) == 1
    assert http.get(SLICES).status == 200
    assert server.faults.requests == 4


def test_a_planned_fault_can_hit_a_watch(server: StandinServer, http: Http) -> None:
    server.faults.plan(Fault(0, after=True))
    with pytest.raises(LOST):
        http.get(f"{SLICES}?watch=true&timeoutSeconds=1")
    assert server.store.watches == 0


def test_a_planned_fault_is_one_that_servers_have(server: StandinServer) -> None:
    with pytest.raises(ValueError, match="418"):
        server.faults.plan(Fault(418))
