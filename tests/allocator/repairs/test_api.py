"""A repair over REST."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from allocator.models import Finding, RepairStep
from dra.audits import Code
from tests.allocator.repairs.conftest import Ward

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
FIRST = {"namespace": "lab", "claim_name": "first"}
SECOND = {"namespace": "lab", "claim_name": "second"}


def address(finding: Finding, step: str = "") -> str:
    return f"/api/v1/findings/{finding.pk}/repair/{step}"


def get(client: Client, finding: Finding) -> Json:
    answer = client.get(address(finding))
    assert answer.status_code == 200
    found: Json = answer.json()
    return found


def post(client: Client, finding: Finding, step: str, **body: Any) -> Any:
    where = address(finding, f"{step}/")
    return client.post(where, body, content_type="application/json")


def work(ward: Ward) -> None:
    ward.work(RepairStep.objects.latest("pk"))


def version(client: Client, finding: Finding, name: str) -> str:
    holders = get(client, finding)["holders"]
    found = next(h for h in holders if h["claim_name"] == name)
    seen: str = found["resource_version"]
    return seen


def test_it_tells_who_holds_the_device_and_what_would_be_forgotten(
    ward: Ward, viewer: Client
) -> None:
    found = get(viewer, ward.admit())
    assert found["device"] == "gpu.acme.test/n0/gpu-0"
    assert (found["stage"], found["busy"], found["forgotten"]) == (1, False, False)
    assert "takes gpu-0 for free" in found["sentence"]
    first, second = found["holders"]
    assert first["claim_name"] == "first"
    (user,) = first["users"]
    assert (user["kind"], user["name"], user["phase"]) == ("pod", "one", "Running")
    assert user["since"]
    assert (second["users"], second["unsafe"]) == ([], [])
    assert found["quarantine"] is None
    assert [s["progress"] for s in found["steps"]] == [
        "next",
        "later",
        "later",
        "later",
    ]
    assert found["history"] == []


def test_the_whole_way(ward: Ward, admin: Client) -> None:
    finding = ward.admit()
    answer = post(admin, finding, "quarantine", hours=2)
    assert answer.status_code == 202
    assert answer.json()["busy"] is True
    assert post(admin, finding, "quarantine").status_code == 409
    work(ward)
    assert get(admin, finding)["quarantine"]["means"] == "node-taint"

    answer = post(admin, finding, "keep", **FIRST)
    assert (answer.status_code, answer.json()["survivor"]) == (200, "lab/first")
    seen = version(admin, finding, "second")
    answer = post(admin, finding, "release", **SECOND, resource_version="1")
    assert answer.status_code == 409
    assert "was changed since you looked at it" in answer.json()["detail"]
    answer = post(admin, finding, "release", **SECOND, resource_version=seen)
    assert answer.status_code == 202
    run = answer.json()["history"][0]["run"]
    assert admin.get(f"/api/v1/runs/{run}/").json()["kind"] == "deallocate"
    work(ward)
    assert get(admin, finding)["forgotten"] is True
    answer = post(admin, finding, "lift")
    assert answer.status_code == 409
    assert "the next pod would get it too" in answer.json()["detail"]

    seen = version(admin, finding, "first")
    assert post(admin, finding, "rewrite", resource_version=seen).status_code == 202
    work(ward)
    assert post(admin, finding, "lift").status_code == 202
    work(ward)
    found = get(admin, finding)
    assert found["stage"] == 5
    assert [line["action"] for line in found["history"]] == [
        *("lift", "rewrite", "release", "keep", "quarantine"),
    ]
    assert {line["state"] for line in found["history"]} == {"done"}
    assert found["history"][0]["actor"] == "a-admin"
    assert ward.another_pod() == "False"


@pytest.mark.parametrize("step", ["restarted", "wait"])
def test_what_somebody_decides_is_noted(ward: Ward, admin: Client, step: str) -> None:
    finding = ward.admit()
    post(admin, finding, "quarantine")
    work(ward)
    ward.store.delete("ResourceClaim", "second", "lab")
    ward.settle()
    answer = post(admin, finding, step)
    assert answer.status_code == 200
    assert answer.json()["stage"] == (4 if step == "restarted" else 3)


def test_each_step_takes_its_role(ward: Ward, viewer: Client, operator: Client) -> None:
    finding = ward.admit()
    for step in (
        "quarantine",
        "keep",
        "release",
        "rewrite",
        "put-back",
        "restarted",
        "wait",
        "lift",
    ):
        assert post(viewer, finding, step).status_code == 403
    body = {"resource_version": "1"}
    assert post(operator, finding, "release", **SECOND, **body).status_code == 403
    assert post(operator, finding, "rewrite", **body).status_code == 403
    assert post(operator, finding, "lift", although_forgotten=True).status_code == 403
    assert not RepairStep.objects.exists()


@pytest.mark.parametrize(
    ("step", "body"),
    [
        ("quarantine", {"hours": 0}),
        ("quarantine", {"wish": "prayer"}),
        ("keep", {}),
        ("release", SECOND),
        ("rewrite", {}),
    ],
)
def test_what_is_missing_or_wrong_is_named(
    ward: Ward, admin: Client, step: str, body: Json
) -> None:
    answer = post(admin, ward.admit(), step, **body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"]


def test_other_findings_have_no_repair(ward: Ward, admin: Client) -> None:
    finding = ward.admit()
    finding.code = Code.CLAIM_IDLE
    finding.save()
    assert admin.get(address(finding)).status_code == 404
    assert post(admin, finding, "quarantine").status_code == 409
    assert admin.get("/api/v1/findings/999999/repair/").status_code == 404
