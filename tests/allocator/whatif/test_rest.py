"""What-ifs over REST: asked, followed, kept, compared; every refusal names its field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from allocator.models import HeadroomShape, SavedScenario, WhatIfRun
from allocator.whatif import headroom
from allocator.whatif.running import execute_what_if
from inventory.models import Cluster
from tests.allocator.whatif.conftest import copies, drain
from tests.allocator.whatif.test_headroom import TWO

ASK = "/api/v1/clusters/demo/what-if/"
NOBODY = "00000000-0000-0000-0000-000000000001"


def send(client: Client, address: str, body: Any, method: str = "post") -> Any:
    call = getattr(client, method)
    return call(address, body, content_type="application/json")


def asked(client: Client, raw: Any, **more: Any) -> Any:
    return send(client, ASK, {"scenario": raw, **more})


def fields(answer: Any) -> set[str]:
    assert answer.status_code == 400, answer.content
    return {error["field"] for error in answer.json()["errors"]}


def test_a_quick_one_is_answered_at_once(demo: Cluster, browser: Client) -> None:
    answer = asked(browser, drain("gpu-h100-01"), title="one node")
    body = answer.json()
    assert answer.status_code == 200
    assert (body["state"], body["complete"], body["title"]) == (
        "done",
        True,
        "one node",
    )
    assert body["result"]["seq"] == body["snapshot_seq"] == demo.seq
    assert body["scenario"] == drain("gpu-h100-01")
    assert body["result"]["losses"]
    again = browser.get(answer["Location"]).json()
    assert again == body


def test_a_long_one_is_followed(demo: Cluster, browser: Client, settings: Any) -> None:
    settings.WHAT_IF_INLINE_SECONDS = 0
    answer = asked(browser, copies(3))
    assert answer.status_code == 202
    assert answer.json()["state"] == "queued"
    execute_what_if(WhatIfRun.objects.get().pk)
    body = browser.get(answer["Location"]).json()
    assert (body["state"], body["result"]["items"][0]["placed"]) == ("done", 3)


def test_it_is_cancelled_by_its_owner_or_an_operator(
    demo: Cluster, browser: Client, client_of: Callable[..., Client], settings: Any
) -> None:
    settings.WHAT_IF_INLINE_SECONDS = 0
    first = asked(browser, copies(5))["Location"]
    second = asked(browser, copies(5))["Location"]
    assert browser.post(f"{first}cancel/").json()["state"] == "cancelled"
    assert browser.post(f"{first}cancel/").status_code == 409
    operator = client_of("operator")
    assert operator.post(f"{second}cancel/").status_code == 200
    third = asked(operator, copies(5))["Location"]
    assert browser.post(f"{third}cancel/").status_code == 403


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "scenario"),
        ({"scenario": {}, "saved": NOBODY}, "scenario"),
        ({"saved": NOBODY}, "saved"),
        ({"scenario": []}, "scenario"),
        ({"scenario": {"edits": [{"edit": "explode"}]}}, "scenario.edits[0].edit"),
        ({"scenario": drain("gone")}, "scenario.edits[0].nodes[0]"),
        ({"scenario": {}, "more": 1}, "more"),
        (
            {"scenario": {"workload": [{"place": "claim", "copies": 10**9}]}},
            "scenario.workload[0].copies",
        ),
    ],
)
def test_a_bad_request_names_its_field(
    body: Any, field: str, demo: Cluster, browser: Client
) -> None:
    assert field in fields(send(browser, ASK, body))
    assert not WhatIfRun.objects.exists()


def test_too_many_under_way_is_a_conflict(
    demo: Cluster, browser: Client, settings: Any
) -> None:
    settings.WHAT_IF_AT_ONCE = 0
    answer = asked(browser, {})
    assert answer.status_code == 409
    assert "under way" in answer.json()["detail"]


def test_the_list_has_one_s_own_without_answers(
    demo: Cluster, browser: Client, client_of: Callable[..., Client]
) -> None:
    asked(browser, {})
    (row,) = browser.get("/api/v1/what-if/?cluster=demo").json()["results"]
    assert "result" not in row
    assert client_of("operator").get("/api/v1/what-if/").json()["results"] == []
    assert browser.get("/api/v1/what-if/?cluster=nope").status_code == 400


def test_asked_again_it_is_compared(demo: Cluster, browser: Client) -> None:
    first = asked(browser, copies(1)).json()["id"]
    again = browser.post(f"/api/v1/what-if/{first}/again/").json()
    assert again["previous"] == first
    second = asked(browser, copies(2)).json()["id"]
    same = browser.get(f"/api/v1/what-if/{first}/compare/?other={again['id']}").json()
    assert same["same"]
    other = browser.get(f"/api/v1/what-if/{first}/compare/?other={second}").json()
    assert other["sentence"].startswith(
        "1 of the copies fit in the first, 2 in the second"
    )
    compare = f"/api/v1/what-if/{first}/compare/"
    assert browser.get(f"{compare}?other={NOBODY}").status_code == 404
    assert "other" in fields(browser.get(compare))


def test_scenarios_are_kept_changed_copied_and_discarded(
    demo: Cluster, browser: Client
) -> None:
    body = {"cluster": "demo", "name": "x", "scenario": drain("gpu-h100-01")}
    made = send(browser, "/api/v1/scenarios/", body)
    assert (made.status_code, made["ETag"]) == (201, '"1"')
    address = made["Location"]
    assert made.json()["sentences"] == ["Drain gpu-h100-01."]
    changed = send(browser, address, {"name": "y", "shared": True}, "put")
    assert (changed.json()["name"], changed["ETag"]) == ("y", '"2"')
    stale = browser.put(
        address,
        {"name": "z"},
        content_type="application/json",
        headers={"If-Match": '"1"'},
    )
    assert stale.status_code == 409
    copied = browser.post(f"{address}copy/")
    assert copied.json()["name"] == "y (copy)"
    assert len(browser.get("/api/v1/scenarios/").json()["results"]) == 2
    run = send(browser, ASK, {"saved": made.json()["id"]}).json()
    assert (run["saved"], run["title"]) == (made.json()["id"], "y")
    assert browser.delete(address).status_code == 204
    assert browser.get(address).status_code == 404


def test_somebody_else_s_scenario_is_read_when_shared_and_never_changed(
    demo: Cluster, browser: Client, client_of: Callable[..., Client]
) -> None:
    body = {"cluster": "demo", "name": "x", "scenario": {}}
    address = send(browser, "/api/v1/scenarios/", body)["Location"]
    other = client_of("operator")
    assert other.get(address).status_code == 404
    SavedScenario.objects.update(shared=True)
    assert other.get(address).status_code == 200
    assert send(other, address, {"name": "mine"}, "put").status_code == 403
    assert other.delete(address).status_code == 403


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"cluster": "nope", "name": "x", "scenario": {}}, "cluster"),
        ({"cluster": "demo", "name": " ", "scenario": {}}, "name"),
        (
            {"cluster": "demo", "name": "x", "scenario": {"edits": 1}},
            "scenario.edits",
        ),
    ],
)
def test_a_bad_scenario_is_not_kept(
    body: Any, field: str, demo: Cluster, browser: Client
) -> None:
    assert field in fields(send(browser, "/api/v1/scenarios/", body))


def test_headroom_shapes_and_history(
    demo: Cluster, browser: Client, person: Callable[..., User]
) -> None:
    address = "/api/v1/clusters/demo/headroom/"
    body = browser.get(address).json()
    assert not body["own"]
    assert "gpu.nvidia.com" in {shape["name"] for shape in body["shapes"]}
    wanted = {"shapes": [{"name": "two", "claims": [TWO]}]}
    assert send(browser, address, wanted, "put").status_code == 403
    operator = Client()
    operator.force_login(person("operator"))
    body = send(operator, address, wanted, "put").json()
    assert [shape["name"] for shape in body["shapes"]] == ["two"]
    assert HeadroomShape.objects.count() == 1
    wrong = {"shapes": [{"name": "two", "claims": [{"devices": {"requests": [{}]}}]}]}
    (field,) = fields(send(operator, address, wrong, "put"))
    assert field.startswith("shapes[0].claims[0].devices.requests[0]")
    headroom.sample_headroom()
    (line,) = browser.get(f"{address}history/?days=2").json()
    assert len(line["samples"]) == 1
    assert "days" in fields(browser.get(f"{address}history/?days=9999"))


def test_a_stranger_gets_nothing(demo: Cluster) -> None:
    assert asked(Client(), {}).status_code == 401
