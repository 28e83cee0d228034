"""The page where a scenario is built, with and without scripts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from allocator.models import SavedScenario, WhatIfRun
from allocator.whatif import documents
from allocator.whatif.building import built_of
from inventory.models import Cluster
from tests.allocator.whatif.conftest import drain, scenario
from tests.allocator.whatif.test_rows import posted

HERE = "/c/demo/what-if/"
HTMX = {"HX-Request": "true"}


def form(raw: Any, **more: str) -> dict[str, str]:
    """What the browser sends of the page that shows ``raw``."""
    built = built_of(raw)
    return posted(
        built.rows,
        text=built.text.replace("\n", "\r\n"),
        text_mark=built.mark,
        policy=built.policy,
        name=built.name,
        **more,
    )


def shown(client: Client, address: str = HERE) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_begins_empty_and_says_what_to_do(
    demo: Cluster, browser: Client
) -> None:
    page = shown(browser)
    assert "Begin with a change" in page
    assert 'value="add edits drain"' in page
    assert 'aria-current="page"' in page
    assert "What-if" in page


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("drain=gpu-h100-01", "Drain gpu-h100-01."),
        ("cordon=gpu-h100-01", "Cordon gpu-h100-01."),
        ("remove=gpu-h100-01", "Remove gpu-h100-01."),
        ("like=gpu-h100-01&copies=3", "Add 3 nodes like gpu-h100-01."),
        ("class=gpu.nvidia.com", "Let class gpu.nvidia.com select those with"),
        ("claim=team-a/train-4gpu", "Place claim team-a/train-4gpu."),
        ("claim=team-a/train-4gpu&copies=5", "Add 5 × claim team-a/train-4gpu."),
        ("template=team-a/t&copies=x", "Add 1 × claim from template team-a/t."),
        ("release=team-a", "Release everything of namespace team-a."),
        (
            "taint=gpu.nvidia.com/p/gpu-0",
            "Taint device gpu-0 of pool p of driver gpu.nvidia.com with",
        ),
        ("waiting=all", "Place the pods that wait."),
        ("waiting=team-a", "Place the pods that wait in namespace team-a."),
    ],
)
def test_a_scenario_begins_where_the_address_says(
    query: str, sentence: str, demo: Cluster, browser: Client
) -> None:
    page = shown(browser, f"{HERE}?{query}")
    assert f"<li>{sentence}" in page


def test_steps_change_the_rows(demo: Cluster, browser: Client) -> None:
    data = form(drain("gpu-h100-01"), do="add edits cordon")
    page = browser.post(HERE, data).content.decode()
    assert 'name="edits.1.kind" value="cordon"' in page
    assert "autofocus" in page
    fragment = browser.post(HERE, data, headers=HTMX).content.decode()
    assert fragment.lstrip().startswith("<form")
    assert "<html" not in fragment
    data = form(drain("gpu-h100-01"), do="remove edits 0")
    assert 'name="edits.0.kind"' not in browser.post(HERE, data).content.decode()


def test_a_change_of_a_field_is_said_at_once(demo: Cluster, browser: Client) -> None:
    data = form(drain("gpu-h100-01"), do="say") | {"edits.0.nodes": "gpu-h100-02"}
    fragment = browser.post(HERE, data, headers=HTMX).content.decode()
    assert "<li>Drain gpu-h100-02.</li>" in fragment
    assert 'hx-swap-oob="true"' in fragment
    assert "- gpu-h100-02" in fragment


def test_a_text_that_was_changed_counts(demo: Cluster, browser: Client) -> None:
    data = form(drain("gpu-h100-01"), do="")
    data["text"] = "edits: [{edit: cordon, nodes: [cpu-01]}]\r\n"
    page = browser.post(HERE, data).content.decode()
    assert "<li>Cordon cpu-01.</li>" in page
    assert 'name="edits.0.kind" value="cordon"' in page
    data["do"] = "add workload waiting"
    page = browser.post(HERE, data).content.decode()
    assert "<li>Cordon cpu-01.</li>" in page
    assert "<li>Place the pods that wait.</li>" in page


def test_nothing_of_a_long_scenario_is_lost(demo: Cluster, browser: Client) -> None:
    raw = {"edits": [{"edit": "cordon", "nodes": ["cpu-01"]}] * 60}
    page = browser.post(HERE, form(raw, do="add workload waiting")).content.decode()
    assert page.count("- edit: cordon") == 60
    assert "<li>Place the pods that wait.</li>" in page
    assert "so its text counts" in page
    browser.post(HERE, form(raw, do="run"))
    assert len(WhatIfRun.objects.get().document["edits"]) == 60


def test_run_leads_to_the_answer(demo: Cluster, browser: Client) -> None:
    answer = browser.post(HERE, form(drain("gpu-h100-01"), do="run"))
    run = WhatIfRun.objects.get()
    assert answer.status_code == 302
    assert answer["Location"] == f"{HERE}runs/{run.pk}/"
    assert run.title == "Drain gpu-h100-01"
    again = browser.post(HERE, form(drain("gpu-h100-01"), do="run"), headers=HTMX)
    assert again["HX-Redirect"].startswith(f"{HERE}runs/")


def test_what_the_cluster_cannot_have_is_said_at_the_field(
    demo: Cluster, browser: Client
) -> None:
    page = browser.post(HERE, form(drain("gone"), do="run")).content.decode()
    assert "edits[0].nodes[0]" in page
    assert "[0]: the cluster has no node gone" in page
    assert not WhatIfRun.objects.exists()


def test_an_empty_scenario_is_not_run(demo: Cluster, browser: Client) -> None:
    page = browser.post(HERE, form({}, do="run")).content.decode()
    assert "Add something to change or to place." in page


def test_too_many_under_way_is_a_sentence(
    demo: Cluster, browser: Client, settings: Any
) -> None:
    settings.WHAT_IF_AT_ONCE = 0
    page = browser.post(HERE, form(drain("gpu-h100-01"), do="run")).content.decode()
    assert "Wait for one of them" in page


def test_save_keeps_the_scenario_and_changes_it_later(
    demo: Cluster, browser: Client
) -> None:
    answer = browser.post(HERE, form(drain("gpu-h100-01") | {"name": "a"}, do="save"))
    saved = SavedScenario.objects.get()
    assert answer["Location"] == f"{HERE}scenarios/{saved.pk}/"
    assert saved.name == "a"
    page = shown(browser, f"{HERE}?scenario={saved.pk}")
    assert "Save “a”" in page
    assert f'name="saved" value="{saved.pk}"' in page
    data = form(drain("gpu-h100-02"), do="save-over", saved=str(saved.pk))
    browser.post(HERE, data | {"revision": "1"})
    saved.refresh_from_db()
    assert (saved.revision, saved.document) == (2, drain("gpu-h100-02"))
    stale = browser.post(HERE, data | {"revision": "1"}).content.decode()
    assert "changed elsewhere" in stale


def test_a_file_opens_in_the_builder(demo: Cluster, browser: Client) -> None:
    text = documents.as_yaml(scenario(drain("cpu-01")))
    for content in (text, json.dumps(drain("cpu-01"))):
        file = SimpleUploadedFile("s.yaml", content.encode())
        page = browser.post(HERE, {"do": "import", "file": file}).content.decode()
        assert "<li>Drain cpu-01.</li>" in page


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b"x" * (documents.MAX_TEXT_BYTES + 1), b"a: &x [*x]", b"[[[["],
)
def test_a_file_of_nonsense_is_told_of(
    content: bytes, demo: Cluster, browser: Client
) -> None:
    file = SimpleUploadedFile("s.yaml", content)
    page = browser.post(HERE, {"do": "import", "file": file}).content.decode()
    assert "It cannot be run yet" in page


def test_names_are_escaped(demo: Cluster, browser: Client) -> None:
    page = shown(browser, f"{HERE}?drain=%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>alert" not in page


def test_an_unknown_scenario_or_run_is_not_found(
    demo: Cluster, browser: Client
) -> None:
    nobody = "00000000-0000-0000-0000-000000000001"
    assert browser.get(f"{HERE}?scenario={nobody}").status_code == 404
    assert browser.get(f"{HERE}?run={nobody}").status_code == 404
    assert browser.get(f"{HERE}?scenario=x").status_code == 200
    assert browser.get("/c/nowhere/what-if/").status_code == 404
