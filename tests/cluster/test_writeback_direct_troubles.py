"""The plain write without rights, and with a server in trouble."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.standin.access import Rule, User
from cluster.writeback import (
    Refusal,
    Refused,
    Request,
    Step,
    Unknown,
    Written,
    holds,
)
from cluster.writeback.direct import DirectWriter
from cluster.writeback.patience import Patience
from tests.cluster.writeback_world import (
    World,
    allocation,
    claim,
    namespace,
    outcome_allocation,
    server,
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with server() as running:
        world = World(running, tmp_path)
        yield world
        world.client.close()


# --- rights --------------------------------------------------------------------------


READ = Rule(("get", "list", "watch"), ("*",))
RIGHTS = ["resourceclaims", "resourceclaims/status", "resourceclaims/binding"]


@pytest.mark.parametrize("missing", RIGHTS)
def test_each_missing_right_is_named(tmp_path: Path, missing: str):
    rules = [Rule(("patch",), (right,)) for right in RIGHTS if right != missing]
    with server({"t": User("portal", (READ, *rules))}) as running:
        world = World(running, tmp_path, token="t")
        outcome = world.writer.write(world.order())
        world.client.close()

        assert isinstance(outcome, Refused)
        assert outcome.refusal is Refusal.FORBIDDEN
        assert outcome.missing.startswith(f"patch {missing}")
        assert "allocation" not in world.claim().get("status", {})


def test_the_three_rights_suffice(tmp_path: Path):
    rules = [Rule(("patch",), (right,)) for right in RIGHTS]
    with server({"t": User("portal", (READ, *rules))}) as running:
        world = World(running, tmp_path, token="t")
        assert isinstance(world.writer.write(world.order()), Written)
        world.client.close()


def test_wrong_credentials_are_told_as_such(tmp_path: Path):
    with server({"t": User("portal", (READ,))}) as running:
        world = World(running, tmp_path, token="other")
        outcome = world.writer.write(world.order())
        world.client.close()
        assert isinstance(outcome, Refused)
        assert "credentials" in outcome.reason


# --- a server in trouble -------------------------------------------------------------


def test_429_is_tried_again_after_the_time_asked_for(world: World):
    order = world.order()
    world.writer.write(order)  # discovery is known from here on
    world.server.store.put(claim("two"))
    world.server.faults.retry_after = 2
    world.server.faults.answer(429, times=2)

    assert isinstance(world.writer.write(world.order(name="two")), Written)
    assert world.pauses == [2.0, 2.0]


def test_an_absurd_retry_after_is_bounded(world: World):
    world.server.faults.retry_after = 3600
    world.server.faults.answer(429)
    assert isinstance(world.writer.write(world.order()), Written)
    assert world.pauses == [5.0]


def test_patience_with_429_ends(world: World):
    world.server.faults.answer(429, times=50)
    outcome = world.writer.write(world.order())
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.UNAVAILABLE
    assert len(world.pauses) == 2


@pytest.mark.parametrize("status", [500, 503, 504])
def test_errors_of_the_server_before_the_write_are_tried_again(
    world: World, status: int
):
    world.server.faults.answer(status, times=2)
    assert isinstance(world.writer.write(world.order()), Written)


@pytest.mark.parametrize("status", [500, 504])
def test_a_write_that_was_done_and_answered_with_an_error_is_recognised(
    world: World, status: int
):
    world.server.faults.answer_after_write(status, times=2)
    outcome = world.writer.write(world.order())
    assert isinstance(outcome, Written)
    assert holds(world.claim(), outcome_allocation(outcome))
    assert len(outcome.requests) == 2


def test_a_write_whose_answer_was_lost_is_recognised(world: World):
    world.server.faults.drop_after_write(times=2)
    outcome = world.writer.write(world.order())
    assert isinstance(outcome, Written)
    assert [r.subresource for r in outcome.requests] == ["", "status"]


def test_a_request_that_was_lost_is_sent_again(world: World):
    def lose(step: Step, _request: Request) -> None:
        if step is Step.STATUS and not world.pauses:
            world.server.faults.drop()

    outcome = world.writer.write(world.order(), before=lose)
    assert isinstance(outcome, Written)
    assert [r.subresource for r in outcome.requests] == ["", "status", "status"]


def test_a_server_that_goes_away_after_the_write_leaves_the_outcome_unknown(
    world: World,
):
    def vanish(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            world.server.faults.drop_after_write()

    def pause(_seconds: float) -> None:
        world.server.faults.refuse_connections()

    writer = DirectWriter(world.client, patience=Patience(attempts=3, sleep=pause))
    outcome = writer.write(world.order(), before=vanish)

    assert isinstance(outcome, Unknown)
    assert "may or may not" in outcome.reason


def test_a_server_that_is_not_there_refuses_nothing_written(world: World):
    order = world.order()
    world.server.faults.refuse_connections()
    outcome = world.writer.write(order)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.UNAVAILABLE
    assert "Nothing was allocated" in outcome.reason


def test_a_resumed_order_that_cannot_be_looked_for_has_an_unknown_outcome(
    world: World,
):
    """The worker before may have been heard."""
    order = replace(world.order(), resumed=True)
    world.server.faults.refuse_connections()
    outcome = world.writer.write(order)
    assert isinstance(outcome, Unknown)
    assert "cannot be reached" in outcome.reason


def test_a_resumed_order_that_may_not_be_looked_for_has_an_unknown_outcome(
    tmp_path: Path,
):
    with server(users={"t": User("nobody", ())}) as running:
        world = World(running, tmp_path, token="t")
        outcome = world.writer.write(replace(world.order(), resumed=True))
        world.client.close()
    assert isinstance(outcome, Unknown)
    assert "lacks a right: get resourceclaims" in outcome.reason


def test_a_request_that_the_server_does_not_accept_is_told_in_its_words(world: World):
    outcome = world.writer.write(
        world.order(allocation(parameters={"much": "x" * 3_200_000}))
    )
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.INVALID
    assert "413" in outcome.reason


def test_a_cluster_without_claims_is_told_as_such(tmp_path: Path):
    with server(served={}) as running:
        running.store.put(namespace())
        world = World(running, tmp_path)
        outcome = world.writer.write(world.order())
        world.client.close()
        assert isinstance(outcome, Refused)
        assert outcome.refusal is Refusal.NOT_SERVED
