"""What docs/api.md says that requests to the demo answer: numbers and sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from inventory.models import Cluster
from tests.mirrored import mirror_demo

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/api.md").read_text("utf-8")
PATHS = yaml.safe_load((ROOT / "openapi.yaml").read_text("utf-8"))["paths"]
ADDRESS = re.compile(r"/api/v1/[\w./<>-]*(?<![.])(?![\w./<>…-])")
"""Written out; those with ``…`` in them leave out what was said before."""
FLOWING = re.sub(r"\s+", " ", DOCUMENT)
"""Without the ends of lines."""
Json = dict[str, Any]


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def browser(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def bodies(path: str) -> list[Json]:
    """What the document sends to ``path`` with ``-d '…'``."""
    sent = re.findall(rf"{re.escape(path)} -d '(\{{.*?\}})'\n", DOCUMENT, re.DOTALL)
    return [json.loads(body) for body in sent if "…" not in body]


def post(browser: Client, path: str, body: Json) -> Json:
    answer = browser.post(f"/api/v1{path}", body, content_type="application/json")
    assert answer.status_code == 200, answer.content
    told: Json = answer.json()
    return told


def test_devices_by_expression(demo: Cluster, browser: Client) -> None:
    said = re.search(r"--data-urlencode 'cel=(.+?)'", DOCUMENT)
    assert said
    asked = {"cluster": "demo", "state": "free", "cel": said[1]}
    told = browser.get("/api/v1/devices/", asked).json()["cel"]
    assert f'"cel": {json.dumps(told)}}}' in DOCUMENT


def test_an_expression_on_every_device(demo: Cluster, browser: Client) -> None:
    path = "/clusters/demo/cel/evaluate"
    (body,) = bodies(path)
    (warning,) = post(browser, path, body)["warnings"]
    assert warning["code"] == "near-miss"
    assert f'"{warning["message"]}"' in FLOWING


def test_an_expression_on_one_device(demo: Cluster, browser: Client) -> None:
    path = "/clusters/demo/cel/explain"
    (body,) = bodies(path)
    told = post(browser, path, body)
    assert told["result"] is None
    assert f'`"result": null, "error": "{told["error"]}"`' in DOCUMENT


def test_why_a_claim_waits(demo: Cluster, browser: Client) -> None:
    path = "/api/v1/claims/demo/team-b/mega-train-16gpu/explanation/"
    assert path in DOCUMENT
    told = browser.get(path).json()
    (request,) = told["requests"]
    (change,) = told["relaxations"]
    assert told["verdict"] == "hopeless"
    assert (
        f'"code": "published", "devices": {request["stages"][0]["devices"]}' in FLOWING
    )
    assert f'"code": "fewer", "sentence": "{change["sentence"]}"' in FLOWING


def test_a_draft_is_checked_and_placed(demo: Cluster, browser: Client) -> None:
    path = "/clusters/demo/claims/validate/"
    (body,) = bodies(path)
    (document,) = post(browser, path, body)["documents"]
    assert f'"{document["sentence"]}"' in FLOWING
    (advice,) = document["advice"]
    assert f'the advice "{advice["message"]}"' in FLOWING

    selector = body["object"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"]
    expression = selector[0]["cel"]["expression"]
    selector[0]["cel"]["expression"] = expression.replace("atributes", "attributes")
    asked = {"relax": True, "object": body["object"]}
    (preview,) = post(browser, "/clusters/demo/claims/preview/", asked)["previews"]
    (request,) = preview["requests"]
    assert f'"sentence": "{preview["sentence"]}"' in FLOWING
    counts = (
        f'"wanted": 6, "matching": {request["matching"]}, "free": {request["free"]}'
    )
    assert counts in FLOWING
    assert [one["code"] for one in preview["relaxations"]] == [
        "fewer",
        "drop constraint",
    ]
    assert f'"{preview["relaxations"][0]["sentence"]}"' in FLOWING


def test_every_address_is_one() -> None:
    known = [re.sub(r"\{[^}]+\}", "[^/]+", path) for path in PATHS]
    text = f"{DOCUMENT}\n{(ROOT / 'README.md').read_text('utf-8')}"
    named = {re.sub(r"<[^>]+>", "x", one) for one in re.findall(ADDRESS, text)}
    assert len(named) > 30
    for address in named - {"/api/v1/", "/api/v1/docs/"}:
        slashed = f"{address.rstrip('/')}/"
        assert any(re.fullmatch(path, slashed) for path in known), address
