"""What pages, REST, numbers and the clock make of a cluster that left clusters.yaml."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from allocator import sampling
from allocator.findings import nudging, passing
from allocator.models import AllocationRule, AllocationRun, FindingPass, WaitingPass
from allocator.services import RunRefused, start_batch, start_release, start_run
from allocator.services.rules import follow_rules, set_rule
from allocator.services.waiting import explain_waiting
from claims.services import objects
from claims.services.objects import ReadOnly
from dra_portal.tasks import delete_left_clusters
from dra_portal.warming import Warmer
from dra_portal.watching.clusters import sync_clusters
from dra_portal.watching.reasons import ReasonNudge
from inventory.models import Cluster, WatchState
from tests.dra_portal.test_metrics import numbers
from tests.mirrored import mirror_demo
from web import tokens
from web.doors import Role

pytestmark = pytest.mark.django_db

SENTENCE = "The cluster demo has not been in clusters.yaml since"


@pytest.fixture
def gone() -> Cluster:
    cluster = mirror_demo()
    sync_clusters([])
    cluster.refresh_from_db()
    return cluster


def page(client: Client, path: str) -> str:
    answer = client.get(path, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


# --- pages ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["", "devices/", "claims/", "claims/team-a/train-4gpu/", "runs/", "what-if/"],
)
def test_every_page_of_it_says_that_nobody_follows_it(
    gone: Cluster, client_of: Callable[..., Client], path: str
) -> None:
    shown = page(client_of("operator"), f"/c/demo/{path}")
    assert shown.count(SENTENCE) == 2  # on top, and as the title of the freshness line
    assert "not followed for" in shown
    assert "Allocate the ticked" not in shown
    assert "Plan the ticked" not in shown
    assert "Show the plan" not in shown


def test_what_a_cluster_of_another_name_answers_does_not_speak_of_it(
    gone: Cluster, client_of: Callable[..., Client]
) -> None:
    answer = client_of("viewer").get("/c/nowhere/claims/")
    assert answer.status_code == 404
    assert answer.content.decode().count(SENTENCE) == 1  # the title of the top line


def test_the_overview_does_not_ask_again_for_reasons_that_nobody_looks_for(
    gone: Cluster, client_of: Callable[..., Client]
) -> None:
    assert 'id="overview-body"' in (shown := page(client_of("viewer"), "/c/demo/"))
    assert 'data-refresh-every="5"' not in shown


def test_a_page_of_another_cluster_says_nothing_but_marks_it_in_the_switcher(
    gone: Cluster, client_of: Callable[..., Client]
) -> None:
    mirror_demo(name="other")
    shown = page(client_of("viewer"), "/c/other/")
    assert SENTENCE not in shown
    assert shown.count("not in clusters.yaml") == 1


def test_the_first_page_is_that_of_a_cluster_that_is_followed(
    gone: Cluster, client_of: Callable[..., Client]
) -> None:
    client = client_of("viewer")
    assert client.get("/")["Location"] == "/c/demo/"
    mirror_demo(name="other")
    assert client.get("/")["Location"] == "/c/other/"
    assert 'href="/c/other/devices/"' in page(client_of("admin"), "/clusters/")


def test_the_page_of_clusters_says_so_of_each(
    gone: Cluster, client_of: Callable[..., Client]
) -> None:
    shown = page(client_of("operator"), "/clusters/")
    assert shown.count(SENTENCE) == 2
    assert "Rights" not in shown
    assert "Delete now" not in shown


def test_pages_of_it_cost_no_query_more(client_of: Callable[..., Client]) -> None:
    mirror_demo()
    client = client_of("admin")
    paths = ["/c/demo/", "/c/demo/claims/", "/clusters/"]
    before = {}
    for path in paths:
        page(client, path)
        with CaptureQueriesContext(connection) as queries:
            page(client, path)
        before[path] = len(queries)
    sync_clusters([])
    for path in paths:
        with CaptureQueriesContext(connection) as queries:
            page(client, path)
        assert len(queries) <= before[path], path


# --- deleting it now -------------------------------------------------------------------


def test_an_administrator_deletes_it_after_a_question(
    gone: Cluster, client_of: Callable[..., Client]
) -> None:
    admin = client_of("admin")
    assert 'href="/c/demo/delete/"' in page(admin, "/c/demo/")
    assert 'href="/c/demo/delete/"' in page(admin, "/clusters/")
    assert "This cannot be undone." in page(admin, "/c/demo/delete/")
    assert Cluster.objects.exists()
    answer = admin.post("/c/demo/delete/", follow=True)
    assert "The cluster demo is being deleted" in answer.content.decode()
    assert "(by a-admin)" in page(admin, "/c/demo/")
    assert "Delete now" not in page(admin, "/c/demo/")
    assert delete_left_clusters() == 1
    assert admin.get("/c/demo/").status_code == 404


@pytest.mark.parametrize("role", ["viewer", "author", "operator"])
def test_nobody_else_is_offered_it_or_may(
    gone: Cluster, client_of: Callable[..., Client], role: str
) -> None:
    client = client_of(role)
    assert "Delete now" not in page(client, "/c/demo/")
    assert client.get("/c/demo/delete/").status_code == 403
    assert client.post("/c/demo/delete/").status_code == 403
    assert Cluster.objects.get().deleted_by == ""


def test_a_cluster_of_the_file_is_not_deleted(client_of: Callable[..., Client]) -> None:
    mirror_demo()
    admin = client_of("admin")
    assert "Delete now" not in page(admin, "/c/demo/")
    assert "Take it out of the file first" in page(admin, "/c/demo/delete/")
    answer = admin.post("/c/demo/delete/", follow=True)
    assert "Nothing was deleted." in answer.content.decode()
    assert Cluster.objects.get().deleted_by == ""


# --- REST -----------------------------------------------------------------------------


def bearer(user: User, role: Role) -> dict[str, str]:
    _, secret = tokens.create(user=user, name=role.value, role=role)
    return {"authorization": f"Bearer {secret}"}


def test_rest_tells_since_when(client: Client, person: Callable[..., User]) -> None:
    headers = bearer(person("viewer"), Role.VIEWER)
    mirror_demo()
    answer = client.get("/api/v1/clusters/demo/", headers=headers)
    assert answer.json()["left_at"] is None
    sync_clusters([])
    (listed,) = client.get("/api/v1/clusters/", headers=headers).json()["results"]
    assert listed["left_at"] is not None
    assert listed["read_only"] is True


def test_rest_deletes_for_an_administrator_what_left(
    client: Client, person: Callable[..., User]
) -> None:
    operator = bearer(person("operator"), Role.OPERATOR)
    admin = bearer(person("admin"), Role.ADMIN)
    mirror_demo()
    path = "/api/v1/clusters/demo/"
    assert client.delete(path, headers=operator).status_code == 403
    refused = client.delete(path, headers=admin)
    assert refused.status_code == 409
    assert "is in clusters.yaml" in refused.json()["detail"]
    sync_clusters([])
    assert client.delete(path, headers=operator).status_code == 403
    assert client.delete(path, headers=admin).status_code == 202
    assert delete_left_clusters() == 1
    assert client.get(path, headers=admin).status_code == 404


# --- writing --------------------------------------------------------------------------


@pytest.mark.parametrize("dry_run", [True, False])
def test_nothing_is_started_in_it(gone: Cluster, dry_run: bool) -> None:
    for start in (start_run, start_release):
        with pytest.raises(RunRefused, match=SENTENCE):
            start(
                cluster=gone,
                namespace="team-a",
                claim_name="train-4gpu",
                user=None,
                dry_run=dry_run,
            )
    claims = [("team-a", "train-4gpu")]
    with pytest.raises(RunRefused, match=SENTENCE):
        start_batch(cluster=gone, claims=claims, user=None, dry_run=dry_run)
    assert not AllocationRun.objects.exists()


def test_rules_rest_and_none_is_turned_on(gone: Cluster) -> None:
    AllocationRule.objects.create(cluster=gone, namespace="team-a", enabled=True)
    assert follow_rules() == 0
    with pytest.raises(RunRefused, match=SENTENCE):
        set_rule(cluster=gone, namespace="team-b", enabled=True, user=None)
    set_rule(cluster=gone, namespace="team-a", enabled=False, user=None)


@pytest.mark.parametrize("dry_run", [True, False])
def test_no_object_is_written(
    gone: Cluster, person: Callable[..., User], dry_run: bool
) -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "x", "namespace": "team-a"},
        "spec": {},
    }
    outcome = objects.create(gone, person("operator"), claim, dry_run=dry_run)
    assert isinstance(outcome, ReadOnly)
    assert outcome.reason.startswith(SENTENCE)


# --- the clock, and numbers ----------------------------------------------------------------


def test_nothing_is_worked_out_for_it_in_the_background(gone: Cluster) -> None:
    assert ReasonNudge().behind() == []
    assert nudging.behind() == []
    assert explain_waiting(gone.pk) == 0
    assert passing.update_findings(gone.pk) == 0
    assert not WaitingPass.objects.exists()
    assert not FindingPass.objects.exists()
    assert Warmer(60.0).step() == []
    other = mirror_demo(name="other")
    assert ReasonNudge().behind() == [other.pk]
    assert [pk for pk, _ in nudging.behind()] == [other.pk]


def test_a_dump_that_left_is_not_counted_over_time(gone: Cluster) -> None:
    Cluster.objects.update(source="dump")
    WatchState.objects.update(listed_at=timezone.now())
    gone.refresh_from_db()
    assert sampling.sample(gone) is None


def test_no_number_tells_of_its_watch_but_one_that_it_left(
    gone: Cluster, client_of: Callable[..., Client]
) -> None:
    long_ago = timezone.now() - timedelta(days=2)
    WatchState.objects.update(alive_at=long_ago)
    FindingPass.objects.create(cluster=gone, ended_at=long_ago)
    Cluster.objects.update(left_at=long_ago)
    found = numbers(client_of("viewer"))
    of_it = {name for name, *labels in found if "demo" in labels}
    assert of_it == {"dra_portal_cluster_left_seconds"}
    assert found["dra_portal_cluster_left_seconds", "demo"] > 170_000


def test_readiness_does_not_count_it(gone: Cluster, client: Client) -> None:
    WatchState.objects.update(alive_at=timezone.now() - timedelta(days=2))
    assert "mirror: ok" in client.get("/readyz").content.decode()
