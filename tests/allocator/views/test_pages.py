"""The list of runs, the page of one, and the buttons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from allocator import services
from allocator.models import AllocationRun
from inventory.models import Cluster
from tests.mirrored import mirror_demo

CLAIM = {"namespace": "team-a", "claim_name": "train-4gpu"}


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def operator(client_of: Callable[..., Client]) -> Client:
    return client_of("operator")


def start(client: Client, **changes: str) -> AllocationRun:
    answer = client.post("/c/demo/runs/start/", CLAIM | changes)
    run = AllocationRun.objects.get()
    assert answer.status_code == 302
    assert answer["Location"] == f"/c/demo/runs/{run.pk}/"
    return run


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_allocate_starts_a_run_and_goes_to_its_page(
    demo: Cluster, operator: Client
) -> None:
    run = start(operator)
    shown = page(operator, f"/c/demo/runs/{run.pk}/")
    assert "queued" in shown
    assert "Cancel" in shown
    assert "a-operator" in shown


def test_a_planned_run_shows_its_devices_and_what_would_be_written(
    demo: Cluster, operator: Client
) -> None:
    run = start(operator, dry_run="on")
    services.execute_run(run.pk)
    shown = page(operator, f"/c/demo/runs/{run.pk}/")
    assert "What would be written" in shown
    assert shown.count("/devices/gpu.nvidia.com/") == 4
    assert "allocationTimestamp" in shown


def test_a_run_says_that_its_taint_rules_stand_against_what_is_known(
    demo: Cluster, operator: Client, settings: Any, tmp_path: Path
) -> None:
    settings.CLUSTERS_FILE = str(tmp_path / "clusters.yaml")
    (tmp_path / "clusters.yaml").write_text(
        "clusters: [{name: demo, kubeconfig: k, writer: direct, "
        "scheduler: {version: 1.36.2, taintRules: safe}}]\n"
    )
    run = start(operator)
    path, words = f"/c/demo/runs/{run.pk}/", "kube-scheduler 1.36.2 is killed"
    assert words in page(operator, path)  # whether it makes one is not known yet
    run.state = "done"
    run.save()
    assert words not in page(operator, path)
    rule = "POST /apis/resource.k8s.io/v1beta2/devicetaintrules"
    run.steps.create(step="guard", request={"request": rule})
    assert words in page(operator, path)


def test_a_run_is_cancelled(demo: Cluster, operator: Client) -> None:
    run = start(operator)
    operator.post(f"/c/demo/runs/{run.pk}/cancel/")
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert "Try again" in page(operator, f"/c/demo/runs/{run.pk}/")


def test_a_plan_that_is_made_again_stays_a_plan(
    demo: Cluster, operator: Client
) -> None:
    run = start(operator, dry_run="on")
    services.execute_run(run.pk)
    shown = page(operator, f"/c/demo/runs/{run.pk}/")
    assert "Plan again" in shown
    assert "Try again" not in shown
    operator.post(f"/c/demo/runs/{run.pk}/retry/")
    assert AllocationRun.objects.get(retry_of=run).dry_run


def test_a_refusal_is_a_sentence_on_the_claims_page(
    demo: Cluster, operator: Client
) -> None:
    start(operator)
    answer = operator.post("/c/demo/runs/start/", CLAIM, follow=True)
    assert "already on its way" in answer.content.decode()
    assert AllocationRun.objects.count() == 1


def test_a_form_without_a_claim_is_an_error_and_no_run(
    demo: Cluster, operator: Client
) -> None:
    answer = operator.post("/c/demo/runs/start/", {}, follow=True)
    assert answer.status_code == 200
    assert "required" in answer.content.decode()
    assert not AllocationRun.objects.exists()


def test_a_run_of_another_cluster_is_not_found_here(
    demo: Cluster, operator: Client
) -> None:
    run = start(operator)
    Cluster.objects.create(name="other", source="dump")
    assert operator.get(f"/c/other/runs/{run.pk}/").status_code == 404


def test_the_list_names_the_claim_the_state_and_who_started_it(
    demo: Cluster, operator: Client
) -> None:
    assert "Nobody has allocated" in page(operator, "/c/demo/runs/")
    start(operator)
    shown = page(operator, "/c/demo/runs/")
    assert "team-a/train-4gpu" in shown
    assert "a-operator" in shown


def test_over_rest_a_run_is_accepted_with_its_address(
    demo: Cluster, operator: Client
) -> None:
    answer = operator.post(
        "/api/v1/runs/", CLAIM | {"cluster": "demo"}, content_type="application/json"
    )
    run = AllocationRun.objects.get()
    assert answer.status_code == 202
    assert answer["Location"].endswith(f"/api/v1/runs/{run.pk}/")
    assert operator.get(answer["Location"]).json()["state"] == "queued"
    again = operator.post(
        "/api/v1/runs/", CLAIM | {"cluster": "demo"}, content_type="application/json"
    )
    assert again.status_code == 409
    cancelled = operator.post(f"/api/v1/runs/{run.pk}/cancel/")
    assert cancelled.json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "cluster"),
        (CLAIM | {"cluster": "nope"}, "cluster"),
        (CLAIM | {"cluster": "demo", "claim_name": "x" * 300}, "claim_name"),
        (CLAIM | {"cluster": "demo", "dry_run": "perhaps"}, "dry_run"),
    ],
)
def test_a_bad_request_names_its_field(
    body: dict[str, object], field: str, demo: Cluster, operator: Client
) -> None:
    answer = operator.post("/api/v1/runs/", body, content_type="application/json")
    assert answer.status_code == 400
    assert field in {error["field"] for error in answer.json()["errors"]}
