"""Who may do what: tokens, rules, reviews, and the right to touch an allocation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cluster.standin.access import ADMIN, Rule, User
from cluster.standin.server import StandinServer
from tests.cluster.standin.http_client import (
    ALLOCATION,
    CLAIMS,
    SLICES,
    Http,
    claim,
)

READ = ("get", "list", "watch")
USERS = {
    "admin-token": ADMIN,
    "viewer-token": User("viewer", (Rule(READ, ("*",)),)),
    "team-token": User(
        "team",
        (
            Rule(("*",), ("resourceclaims", "resourceclaims/status"), ("default",)),
            Rule(("patch",), ("resourceclaims/binding",), ("default",)),
        ),
    ),
}
SSAR = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@pytest.fixture
def guarded() -> Iterator[StandinServer]:
    with StandinServer([claim()], users=USERS) as server:
        yield server


def test_a_wrong_token_is_401_and_none_is_403(guarded: StandinServer) -> None:
    assert Http(guarded.port, token="guess").get(SLICES).status == 401
    assert Http(guarded.port).get(SLICES).status == 403
    assert Http(guarded.port).get("/apis").status == 403
    assert Http(guarded.port).get("/version").status == 200


def test_a_viewer_reads_and_does_not_write(guarded: StandinServer) -> None:
    viewer = Http(guarded.port, token="viewer-token")
    assert viewer.get(SLICES).status == 200
    refused = viewer.delete(f"{CLAIMS}/c1")
    assert refused.status == 403
    assert 'cannot delete resource "resourceclaims"' in refused.json["message"]


def test_rights_in_one_namespace_do_not_reach_the_cluster(
    guarded: StandinServer,
) -> None:
    team = Http(guarded.port, token="team-token")
    assert team.get(CLAIMS).status == 200
    assert team.get("/apis/resource.k8s.io/v1/resourceclaims").status == 403


def test_the_right_to_bind_counts_only_cluster_wide(guarded: StandinServer) -> None:
    team = Http(guarded.port, token="team-token")
    refused = team.patch(f"{CLAIMS}/c1/status", {"status": {"allocation": ALLOCATION}})
    assert refused.status == 422
    assert "resourceclaims/binding" in refused.json["message"]


def test_a_review_says_what_would_happen(guarded: StandinServer) -> None:
    asked = {"group": "resource.k8s.io", "verb": "list", "resource": "resourceslices"}
    review = {"spec": {"resourceAttributes": asked}}
    viewer = Http(guarded.port, token="viewer-token").post(SSAR, review)
    team = Http(guarded.port, token="team-token").post(SSAR, review)
    assert viewer.json["status"]["allowed"] is True
    assert team.json["status"]["allowed"] is False
    assert Http(guarded.port, token="team-token").post(SSAR, {}).status == 400


def test_without_users_everybody_is_admin(http: Http) -> None:
    assert http.post(CLAIMS, claim()).status == 201
