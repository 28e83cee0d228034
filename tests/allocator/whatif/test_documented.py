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

SECTIONS = 5
DOCUMENT = (Path(__file__).resolve().parents[3] / "docs/api.md").read_text("utf-8")
TOLD = [
    DOCUMENT.partition(f"\n**{number}. ")[2].partition(f"\n**{number + 1}. ")[0]
    for number in range(1, SECTIONS + 1)
]
"""What is said about each."""
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
    said = re.search(r'"([A-Z0-9][^"\n]+\bfit[^"\n]*|Class [^"\n]+)"', told(example))
    assert said
    at = 0
    for piece in said[1].split("…"):
        at = result["sentence"].index(piece.strip(), at)
    return result


def told(example: dict[str, Any]) -> str:
    return TOLD[EXAMPLES.index(example)]


def changes(result: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Namespace → devices before and after."""
    rows = result["difference"]["namespaces"]
    return {row["name"]: (row["before"], row["after"]) for row in rows}


def test_there_are_five() -> None:
    assert len(EXAMPLES) == SECTIONS


def test_a_drain_moves_claims(
    whole_demo: Cluster, browser: Client, settings: Any
) -> None:
    result = ask(browser, EXAMPLES[0], settings)
    assert {loss["node"] for loss in result["losses"]} == {"gpu-h100-01"}
    before, after = changes(result)["research"]
    assert f'"research", "before": {before}, "after": {after}' in told(EXAMPLES[0])


def test_copies_say_what_stops_the_next(
    whole_demo: Cluster, browser: Client, settings: Any
) -> None:
    result = ask(browser, EXAMPLES[1], settings)
    (item,) = result["items"]
    said = told(EXAMPLES[1])
    assert f'{{"placed": {item["placed"]}, "copies": 1000' in said
    assert f'"name": "{item["asked"][0]["name"]}"' in said
    offered = {one["sentence"] for one in item["explanation"]["relaxations"]}
    assert {*re.findall(r'"sentence": "((?:Ask|Wait)[^"]+)"', said)} <= offered
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
    (research, none), (before, after) = (
        changes(result)[name] for name in ("research", "team-a")
    )
    said = f"research goes from {research} devices to {none}, team-a from {before} to {after}."
    assert said in told(EXAMPLES[4])
