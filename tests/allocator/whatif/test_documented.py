"""The examples of docs/api.md on the demo's cluster: each is answered, and tells something."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster
from tests.mirrored import mirror_demo

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs/api.md").read_text("utf-8")
EXAMPLES: list[dict[str, Any]] = [
    json.loads(text) for text in re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
]


@pytest.fixture
def whole_demo(db: None) -> Cluster:
    return mirror_demo()


def ask(client: Client, example: dict[str, Any], settings: Any) -> dict[str, Any]:
    settings.WHAT_IF_INLINE_SECONDS = 60
    answer = client.post(
        "/api/v1/clusters/demo/what-if/", example, content_type="application/json"
    )
    assert answer.status_code == 200, answer.content
    result: dict[str, Any] = answer.json()["result"]
    assert result["complete"]
    return result


def test_there_are_five() -> None:
    assert len(EXAMPLES) == 5


def test_a_drain_moves_claims(
    whole_demo: Cluster, browser: Client, settings: Any
) -> None:
    result = ask(browser, EXAMPLES[0], settings)
    assert {loss["node"] for loss in result["losses"]} == {"gpu-h100-01"}


def test_copies_say_what_stops_the_next(
    whole_demo: Cluster, browser: Client, settings: Any
) -> None:
    (item,) = ask(browser, EXAMPLES[1], settings)["items"]
    assert 0 < item["placed"] < item["copies"]
    assert item["reason"]
    assert item["explanation"]["requests"][0]["request"] == "gpus"


def test_a_failed_zone_and_new_nodes(
    whole_demo: Cluster, browser: Client, settings: Any
) -> None:
    result = ask(browser, EXAMPLES[2], settings)
    names = {row["name"] for row in result["difference"]["nodes"]}
    assert {"gpu-h100-01", "spare-1"} <= names
    assert result["items"][0]["sentence"] == "Place the pods that wait."


def test_an_upgrade_narrows_the_class(
    whole_demo: Cluster, browser: Client, settings: Any
) -> None:
    classes = ask(browser, EXAMPLES[3], settings)["difference"]["classes"]
    (row,) = [row for row in classes if row["name"] == "gpu.nvidia.com"]
    assert row["after"]["devices"] == 8 < row["before"]["devices"]


def test_a_taint_evicts_and_a_release_frees(
    whole_demo: Cluster, browser: Client, settings: Any
) -> None:
    result = ask(browser, EXAMPLES[4], settings)
    assert {loss["reason"] for loss in result["losses"]} == {"evicted"}
    assert result["items"][0]["placed"] == 10
    assert "research" in {row["name"] for row in result["difference"]["namespaces"]}
