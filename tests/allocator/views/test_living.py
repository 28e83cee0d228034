"""Pages and REST around runs for a living cluster: plans first, batches, rules, releases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from allocator import services
from allocator.models import AllocationRule, AllocationRun, RunBatch
from claims.models import ResourceClaim
from inventory.models import Cluster
from tests.mirrored import mirror_demo

CLAIM = {"namespace": "team-a", "claim_name": "train-4gpu"}


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def operator(client_of: Callable[..., Client]) -> Client:
    return client_of("operator")


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


@pytest.fixture
def admin(client_of: Callable[..., Client]) -> Client:
    return client_of("admin")


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def pending(cluster: Cluster, count: int) -> list[str]:
    rows = ResourceClaim.objects.filter(cluster=cluster, state="pending", problem="")
    return [f"{r.namespace}/{r.name}" for r in rows.order_by("name")[:count]]


def held(cluster: Cluster) -> ResourceClaim:
    found = ResourceClaim.objects.filter(
        cluster=cluster, state="in use", problem=""
    ).first()
    assert found is not None
    return found


def test_the_default_button_shows_the_plan(demo: Cluster, operator: Client) -> None:
    shown = page(operator, "/c/demo/claims/team-a/train-4gpu/")
    primary = shown.index('class="button primary" name="dry_run" value="on"')
    assert primary < shown.index('<button type="submit" class="button">Allocate')


def test_a_plan_shows_the_difference_and_can_be_made_to_happen(
    demo: Cluster, operator: Client
) -> None:
    operator.post("/c/demo/runs/start/", CLAIM | {"dry_run": "on", "policy": "pack"})
    plan = AllocationRun.objects.get()
    assert plan.policy == "pack"
    services.execute_run(plan.pk)
    shown = page(operator, f"/c/demo/runs/{plan.pk}/")
    assert "What it changes of the claim" in shown
    assert 'class="added">+ ' in shown
    answer = operator.post(f"/c/demo/runs/{plan.pk}/retry/", {"write": "on"})
    run = AllocationRun.objects.exclude(pk=plan.pk).get()
    assert answer["Location"] == f"/c/demo/runs/{run.pk}/"
    assert (run.dry_run, run.retry_of, run.policy) == (False, plan, "pack")
    assert "an earlier run" in page(operator, f"/c/demo/runs/{run.pk}/")
    assert "that run" in page(operator, f"/c/demo/runs/{plan.pk}/")


def test_pending_claims_can_be_ticked_and_started_together(
    demo: Cluster, operator: Client, viewer: Client
) -> None:
    names = pending(demo, 3)
    shown = page(operator, "/c/demo/claims/?state=pending")
    assert f'value="{names[0]}"' in shown
    assert "batch-form" not in page(viewer, "/c/demo/claims/?state=pending")

    answer = operator.post("/c/demo/runs/batch/", {"claim": names})
    batch = RunBatch.objects.get()
    assert answer["Location"] == f"/c/demo/runs/batches/{batch.pk}/"
    runs = AllocationRun.objects.order_by("position")
    assert [f"{r.namespace}/{r.claim_name}" for r in runs] == names
    shown = page(operator, f"/c/demo/runs/batches/{batch.pk}/")
    assert "3 claims: 3 queued." in shown
    operator.post(f"/c/demo/runs/batches/{batch.pk}/cancel/")
    assert set(runs.values_list("state", flat=True)) == {"cancelled"}


def test_a_batch_of_plans_can_be_made_to_happen(
    demo: Cluster, operator: Client
) -> None:
    names = pending(demo, 2)
    operator.post("/c/demo/runs/batch/", {"claim": names, "dry_run": "on"})
    batch = RunBatch.objects.get()
    services.plan_batch(batch.pk)
    assert "Allocate them" in page(operator, f"/c/demo/runs/batches/{batch.pk}/")
    operator.post(f"/c/demo/runs/batches/{batch.pk}/write/")
    assert AllocationRun.objects.filter(dry_run=False).count() == 2


def test_the_page_of_a_batch_follows_its_runs_until_the_last_is_over(
    demo: Cluster, operator: Client
) -> None:
    names = pending(demo, 3)
    operator.post("/c/demo/runs/batch/", {"claim": names, "dry_run": "on"})
    batch = RunBatch.objects.get()
    address = f"/c/demo/runs/batches/{batch.pk}/"
    rows = {"HX-Request": "true", "HX-Target": "results"}

    shown = operator.get(address, headers=rows).content.decode()
    places = [shown.index(name) for name in names]
    assert places == sorted(places)
    assert 'data-refresh-on="AllocationRun"' in shown
    assert "3 claims: 3 queued. 3 are under way." in shown
    assert "Cancel what can be stopped" in shown
    assert 'id="changes"' not in shown

    services.plan_batch(batch.pk)
    shown = operator.get(address, headers=rows).content.decode()
    assert 'data-refresh-on="AllocationRun"' not in shown
    assert "under way" not in shown
    assert "Allocate them" in shown
    assert 'id="changes"' in shown


@pytest.mark.parametrize(
    "sent", [{}, {"claim": ["nonsense"]}, {"claim": ["lab/none"]}, {"claim": ["/"]}]
)
def test_a_batch_of_nothing_is_refused_with_a_sentence(
    demo: Cluster, operator: Client, sent: dict[str, Any]
) -> None:
    answer = operator.post("/c/demo/runs/batch/", sent, follow=True)
    assert answer.status_code == 200
    assert not AllocationRun.objects.exists()
    assert not RunBatch.objects.exists()


def test_a_claim_that_pods_use_is_freed_by_no_operator(
    demo: Cluster, operator: Client
) -> None:
    claim = held(demo)
    shown = page(operator, f"/c/demo/claims/{claim.namespace}/{claim.name}/")
    assert "Pods have reserved it" in shown
    sent = {"namespace": claim.namespace, "claim_name": claim.name}
    answer = operator.post("/c/demo/runs/release/", sent, follow=True)
    assert "is reserved by" in answer.content.decode()
    assert operator.post("/c/demo/runs/release/", sent | {"override": "on"}).status_code
    assert not AllocationRun.objects.exists()


def test_an_administrator_may_override(demo: Cluster, admin: Client) -> None:
    claim = held(demo)
    shown = page(admin, f"/c/demo/claims/{claim.namespace}/{claim.name}/")
    assert "all the same" in shown
    sent = {"namespace": claim.namespace, "claim_name": claim.name, "override": "on"}
    admin.post("/c/demo/runs/release/", sent)
    run = AllocationRun.objects.get()
    assert (run.kind, run.override) == ("deallocate", True)
    assert "deallocate" in page(admin, f"/c/demo/runs/{run.pk}/")


def test_rules_are_off_until_an_operator_turns_one_on(
    demo: Cluster, operator: Client, viewer: Client
) -> None:
    assert "No namespace has a rule" in page(viewer, "/c/demo/runs/rules/")
    sent = {"namespace": "team-a", "policy": "spread", "enabled": "on"}
    assert viewer.post("/c/demo/runs/rules/set/", sent).status_code == 403
    operator.post("/c/demo/runs/rules/set/", sent)
    rule = AllocationRule.objects.get()
    assert (rule.enabled, rule.policy) == (True, "spread")
    shown = page(operator, "/c/demo/runs/rules/")
    assert "Turn off" in shown
    operator.post("/c/demo/runs/rules/set/", {"namespace": "team-a"})
    rule.refresh_from_db()
    assert not rule.enabled
    bad = operator.post("/c/demo/runs/rules/set/", {"namespace": "A b"}, follow=True)
    assert "lower-case letters" in bad.content.decode()


def test_the_list_asks_no_more_when_there_are_more_runs(
    demo: Cluster, operator: Client, django_assert_max_num_queries: Any
) -> None:
    operator.post("/c/demo/runs/batch/", {"claim": pending(demo, 4)})
    batch = RunBatch.objects.get()
    page(operator, "/c/demo/runs/")
    with django_assert_max_num_queries(16):
        page(operator, "/c/demo/runs/")
    with django_assert_max_num_queries(20):
        page(operator, f"/c/demo/runs/batches/{batch.pk}/")


# --- REST ---------------------------------------------------------------------


def post(client: Client, path: str, body: dict[str, Any]) -> Any:
    return client.post(f"/api/v1/runs/{path}", body, content_type="application/json")


def test_a_batch_over_rest(demo: Cluster, operator: Client) -> None:
    named = [
        {"namespace": namespace, "claim_name": name}
        for namespace, name in (full.split("/") for full in pending(demo, 2))
    ]
    missing = {"namespace": "team-a", "claim_name": "none"}
    body = {"cluster": "demo", "claims": [*named, missing], "dry_run": True}
    answer = post(operator, "batch/", body)
    assert answer.status_code == 202
    assert len(answer.json()["runs"]) == 2
    assert "There is no claim" in answer.json()["left_out"][0]["reason"]
    listed = operator.get(f"/api/v1/runs/?batch={answer.json()['id']}").json()
    assert len(listed["results"]) == 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"cluster": "demo"}, 400),
        ({"cluster": "demo", "claims": []}, 400),
        ({"cluster": "demo", "claims": [{"namespace": "x"}]}, 400),
        ({"cluster": "nope", "claims": [CLAIM]}, 400),
        ({"cluster": "demo", "claims": [CLAIM] * 501}, 400),
        ({"cluster": "demo", "claims": [CLAIM | {"claim_name": "none"}]}, 409),
    ],
)
def test_a_bad_batch_is_refused(
    demo: Cluster, operator: Client, body: dict[str, Any], status: int
) -> None:
    assert post(operator, "batch/", body).status_code == status


def test_releases_retries_and_rules_over_rest(
    demo: Cluster, operator: Client, admin: Client, viewer: Client
) -> None:
    claim = held(demo)
    body = {"cluster": "demo", "namespace": claim.namespace, "claim_name": claim.name}
    assert post(viewer, "release/", body).status_code == 403
    assert post(operator, "release/", body).status_code == 409
    assert post(operator, "release/", body | {"override": True}).status_code == 403
    assert post(admin, "release/", body | {"override": True}).status_code == 202
    run = AllocationRun.objects.get()
    assert post(operator, f"{run.pk}/retry/", {}).status_code == 409
    operator.post(f"/api/v1/runs/{run.pk}/cancel/")
    shown = operator.get(f"/api/v1/runs/{run.pk}/").json()
    assert (shown["kind"], shown["state"]) == ("deallocate", "cancelled")

    rule = {"cluster": "demo", "namespace": "team-a", "enabled": True}
    assert post(viewer, "rules/", rule).status_code == 403
    assert post(operator, "rules/", rule).json()["enabled"] is True
    assert len(viewer.get("/api/v1/runs/rules/?cluster=demo").json()["results"]) == 1
