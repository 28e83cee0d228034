"""Lost answers, failing and overloaded servers: what is said is what happened."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cluster.client import ClusterClient
from cluster.objects import (
    Changed,
    Created,
    Deleted,
    Forbidden,
    Invalid,
    NotServed,
    Outcome,
    Throttled,
    Unavailable,
    Unknown,
    Updated,
)
from cluster.objects.writing import ObjectWriter
from cluster.standin.access import Rule, User
from cluster.writeback.patience import Patience
from tests.cluster.objects.conftest import World, claim
from tests.cluster.rude import RudeServer, config_for, response

type Write = Callable[[World], Outcome]


def create(world: World) -> Outcome:
    return world.writer.create(claim())


def update(world: World) -> Outcome:
    wanted = copy.deepcopy(world.the())
    wanted["metadata"]["labels"] = {"team": "vision"}
    return world.writer.update(wanted, "one", world.seen(), "lab")


def delete(world: World) -> Outcome:
    return world.writer.delete("ResourceClaim", "one", world.seen(), "lab")


def done(world: World) -> list[bool]:
    """Whether the claim was created, labelled, deleted."""
    one = world.stored("one")
    return [
        world.stored("new") is not None,
        one is not None and "labels" in one["metadata"],
        one is None,
    ]


EACH = pytest.mark.parametrize(
    ("write", "position", "success"),
    [(create, 0, Created), (update, 1, Updated), (delete, 2, Deleted)],
    ids=["create", "update", "delete"],
)


@EACH
@pytest.mark.parametrize("status", [0, 500, 504])
def test_a_write_that_arrived_unanswered_is_recognised(
    world: World, write: Write, position: int, success: Any, status: int
) -> None:
    if status:
        world.faults.answer_after_write(status)
    else:
        world.faults.drop_after_write()
    outcome = write(world)
    assert isinstance(outcome, success)
    assert outcome.confirmed
    assert "The connection broke" in outcome.reason
    assert done(world)[position]


@EACH
@pytest.mark.parametrize("status", [0, 429, 500, 503, 504])
def test_a_write_that_did_not_arrive_is_sent_again(
    world: World, write: Write, position: int, success: Any, status: int
) -> None:
    if status:
        world.faults.answer(status)
    else:
        world.faults.drop()
    outcome = write(world)
    assert isinstance(outcome, success)
    assert not outcome.confirmed
    assert done(world)[position]


@EACH
def test_an_overloaded_server_is_given_up_with_nothing_written(
    world: World, write: Write, position: int, success: Any
) -> None:
    world.faults.retry_after = 7
    world.faults.answer(429, times=9)
    outcome = write(world)
    assert isinstance(outcome, Throttled)
    assert outcome.reason.endswith("Nothing was written; try again in 7 s.")
    assert done(world) == [False, False, False]


@EACH
def test_a_server_that_is_away_has_got_nothing(
    world: World, write: Write, position: int, success: Any
) -> None:
    world.faults.refuse_connections()
    outcome = write(world)
    assert isinstance(outcome, Unavailable)
    assert "refuses connections" in outcome.reason
    assert outcome.reason.endswith("Nothing was written; try again later.")


@EACH
def test_503_to_the_end_means_that_nothing_was_written(
    world: World, write: Write, position: int, success: Any
) -> None:
    world.faults.answer(503, times=9)
    assert isinstance(write(world), Unavailable)


def _blind(world: World) -> None:
    """From now on every look at an object is answered with 503."""
    look = world.client.get

    def blind(*args: Any, **how: Any) -> Any:
        world.faults.answer(503)
        return look(*args, **how)

    world.client.get = blind  # type: ignore[method-assign]


@EACH
@pytest.mark.parametrize("after", [True, False], ids=["done", "not done"])
def test_when_the_object_cannot_be_looked_at_the_end_is_unknown(
    world: World, write: Write, position: int, success: Any, after: bool
) -> None:
    if after:
        world.faults.drop_after_write()
        _blind(world)
    else:
        world.faults.answer(500, times=9)
    outcome = write(world)
    assert isinstance(outcome, Unknown)
    assert "It is not known whether the write happened" in outcome.reason
    assert done(world)[position] is after


def test_a_dry_run_is_never_unknown(world: World) -> None:
    world.faults.answer(500, times=9)
    outcome = world.writer.create(claim(), dry_run=True)
    assert isinstance(outcome, Unavailable)


def test_a_lost_create_whose_name_somebody_took_is_not_called_ours(
    world: World,
) -> None:
    world.put(claim("new", labels={"theirs": "yes"}))
    wanted = claim(labels={"ours": "yes"})
    world.faults.drop()
    outcome = world.writer.create(wanted)
    assert isinstance(outcome, Unknown)
    assert outcome.current == world.the("new")


def test_a_lost_update_that_somebody_overtook_is_a_change(world: World) -> None:
    wanted, seen = claim("one", labels={"ours": "yes"}), world.seen()
    world.touch()
    world.faults.drop()
    outcome = world.writer.update(wanted, "one", seen, "lab")
    assert isinstance(outcome, Changed)
    assert outcome.current == world.the()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_stumbles_over_the_first_question_is_asked_again(
    world: World, status: int
) -> None:
    patience = Patience(attempts=3, sleep=world.pauses.append)
    world.faults.answer(status, times=2)
    outcome = ObjectWriter(world.client, patience=patience).create(claim())
    assert isinstance(outcome, Created)
    assert len(world.pauses) == 2


@pytest.mark.parametrize(
    ("status", "kind"), [(429, Throttled), (500, Unavailable), (503, Unavailable)]
)
def test_a_server_that_never_tells_what_it_serves_has_got_nothing(
    world: World, status: int, kind: type
) -> None:
    patience = Patience(attempts=3, sleep=world.pauses.append)
    world.faults.answer(status, times=99)
    outcome = ObjectWriter(world.client, patience=patience).create(claim())
    assert isinstance(outcome, kind)
    assert "Nothing was written" in outcome.reason


# --- rights -----------------------------------------------------------------------

LOOKS = Rule(("get", "list", "watch"), ("*",))


def refused(world: World, write: Write) -> Forbidden:
    outcome = write(world)
    assert isinstance(outcome, Forbidden)
    return outcome


@pytest.mark.parametrize(
    ("write", "verb"), [(create, "create"), (update, "update"), (delete, "delete")]
)
def test_a_missing_right_is_named_with_the_commands_that_grant_it(
    world_of: Callable[..., World], write: Write, verb: str
) -> None:
    portal = User("system:serviceaccount:dra:portal", (LOOKS,))
    world = world_of(users={"t": portal}, token="t")
    outcome = refused(world, write)
    assert outcome.missing == f"{verb} resourceclaims in the namespace lab"
    assert f"may not {verb} resourceclaims in the namespace lab" in outcome.reason
    assert outcome.grant.splitlines() == [
        "kubectl create role dra-portal-resourceclaims --verb=get,create,update,delete "
        "--resource=resourceclaims.resource.k8s.io --namespace=lab",
        "kubectl create rolebinding dra-portal-resourceclaims "
        "--role=dra-portal-resourceclaims --serviceaccount=dra:portal --namespace=lab",
    ]
    assert done(world) == [False, False, False]


def test_the_name_of_an_account_cannot_smuggle_a_command(
    world_of: Callable[..., World],
) -> None:
    world = world_of(users={"t": User("a; rm -rf x", (LOOKS,))}, token="t")
    assert "'--user=a; rm -rf x'" in refused(world, create).grant


def test_in_the_name_of_a_user_that_user_s_rights_count(
    world_of: Callable[..., World],
) -> None:
    users = {
        "t": User("portal", (LOOKS, Rule(("impersonate",), ("users",)))),
        "a": User("ada", (Rule(("*",), ("*",)),)),
    }
    world = world_of(users=users, token="t")
    assert isinstance(world.writer.create(claim(), as_user="ada"), Created)
    outcome = world.writer.create(claim("other"), as_user="bob")
    assert isinstance(outcome, Forbidden)
    assert outcome.reason.startswith("The user bob may not create resourceclaims")


def test_without_the_right_to_impersonate_both_ways_out_are_said(
    world_of: Callable[..., World],
) -> None:
    world = world_of(users={"t": User("portal", (LOOKS,))}, token="t")
    outcome = world.writer.create(claim(), as_user="ada")
    assert isinstance(outcome, Forbidden)
    assert outcome.missing == "impersonate users ada"
    assert "impersonate: false" in outcome.reason
    assert outcome.grant.splitlines() == [
        "kubectl create clusterrole dra-portal-impersonate-ada --verb=impersonate "
        "--resource=users --resource-name=ada",
        "kubectl create clusterrolebinding dra-portal-impersonate-ada "
        "--clusterrole=dra-portal-impersonate-ada --user=portal",
    ]


def test_credentials_that_are_not_accepted_are_said(
    world_of: Callable[..., World],
) -> None:
    world = world_of(users={"t": User("portal")}, token="stale")
    outcome = refused(world, create)
    assert "does not accept our credentials" in outcome.reason


# --- odd servers --------------------------------------------------------------------


def against(tmp_path: Path, *answers: bytes) -> Outcome:
    """A create that meets prepared answers after discovery."""
    discovery = [
        response(b'{"versions": ["v1"]}'),
        response(b'{"resources": []}'),
        response(b'{"versions": [{"version": "v1"}]}'),
        response(
            b'{"resources": [{"name": "resourceclaims", "verbs": ["list", "watch"]}]}'
        ),
        response(b'{"versions": []}'),
    ]
    with RudeServer(*discovery, *answers) as server:
        client = ClusterClient.connect(
            config_for(tmp_path, server.url), read_timeout=2.0
        )
        patience = Patience(attempts=2, sleep=lambda _: None)
        outcome = ObjectWriter(client, patience=patience).create(claim())
        client.close()
        return outcome


def test_a_quota_or_an_admission_plugin_is_quoted(tmp_path: Path) -> None:
    body = (
        b'{"kind": "Status", "code": 403, "reason": "Forbidden", '
        b'"message": "exceeded quota: gpus"}'
    )
    outcome = against(tmp_path, response(body, status="403 Forbidden"))
    assert isinstance(outcome, Forbidden)
    assert outcome.reason == "The API server does not allow it: exceeded quota: gpus."
    assert outcome.missing == outcome.grant == ""


@pytest.mark.parametrize("status", ["413 Too Large", "415 No", "422 Invalid"])
def test_a_refusal_without_causes_is_quoted(tmp_path: Path, status: str) -> None:
    body = b'{"kind": "Status", "message": "it does not please"}'
    outcome = against(tmp_path, response(body, status=status))
    assert isinstance(outcome, Invalid)
    assert outcome.reason.endswith(f"({status[:3]}): it does not please")


def test_an_answer_that_is_no_object_leaves_the_end_unknown(tmp_path: Path) -> None:
    outcome = against(tmp_path, response(b"<html>"))
    assert isinstance(outcome, Unknown)


def test_a_kind_that_is_not_served_any_more_is_looked_for_once_more(
    tmp_path: Path,
) -> None:
    body = b'{"kind": "Status", "code": 404, "reason": "NotFound", "details": {}}'
    outcome = against(tmp_path, response(body, status="404 Not Found"))
    assert isinstance(outcome, NotServed)
