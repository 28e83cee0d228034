"""The answer of a what-if, its buttons and files, and two of them compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from allocator.models import WhatIfRun
from allocator.whatif import documents
from allocator.whatif.running import execute_what_if, start_what_if
from allocator.whatif.views.shown import rounded
from inventory.models import Cluster
from tests.allocator.whatif.conftest import copies, drain, scenario

HERE = "/c/demo/what-if/"


def started(cluster: Cluster, user: User, raw: Any) -> WhatIfRun:
    return start_what_if(cluster=cluster, user=user, scenario=scenario(raw))


def page(client: Client, run: WhatIfRun, query: str = "") -> str:
    answer = client.get(f"{HERE}runs/{run.pk}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_drain_shows_who_moves_where_before_and_after(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    run = started(demo, viewer, drain("gpu-h100-01"))
    text = page(browser, run)
    assert run.sentence in text
    assert "Claims that lose their devices" in text
    assert run.result is not None
    for loss in run.result["losses"]:
        assert f"{loss['namespace']}/{loss['claim']}" in text
    assert text.index("Claims that lose") < text.index("Devices before and after")
    assert text.index("Devices before and after") < text.index("before → after")
    assert 'class="cell in-use"' in text
    assert f"{demo.seq:,}" in text


def test_copies_show_where_they_go_and_what_stops_the_next(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    run = started(demo, viewer, copies(500))
    text = page(browser, run)
    assert "What stops the next" in text
    assert "of 500 fit" in text
    assert "team-a/one-1" in text


def test_nodes_that_are_only_supposed_have_no_links(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    raw = {"edits": [{"edit": "addNodes", "like": "gpu-h100-01", "prefix": "new"}]}
    text = page(browser, started(demo, viewer, raw))
    assert "not there" in text
    assert '<span class="cell free"' in text
    assert "/nodes/new" not in text


def test_one_that_runs_tells_how_far_it_is_and_asks_again_by_itself(
    demo: Cluster, viewer: User, browser: Client, settings: Any
) -> None:
    settings.WHAT_IF_INLINE_SECONDS = 0
    run = started(demo, viewer, copies(5))
    waiting = page(browser, run)
    assert 'data-refresh-every="2"' in waiting
    assert "waits for a worker" in waiting
    WhatIfRun.objects.filter(pk=run.pk).update(
        state="running", step="placing", done=3, total=5
    )
    assert "placing copies: 3 of 5" in page(browser, run)
    WhatIfRun.objects.filter(pk=run.pk).update(state="queued")
    execute_what_if(run.pk)
    assert 'data-refresh-every="2"' not in page(browser, run)


def test_only_its_owner_or_an_operator_cancels(
    demo: Cluster,
    viewer: User,
    browser: Client,
    settings: Any,
    person: Callable[..., User],
) -> None:
    settings.WHAT_IF_INLINE_SECONDS = 0
    run = started(demo, viewer, copies(5))
    other = Client()
    other.force_login(person("viewer", "somebody-else"))
    assert "Cancel</button>" not in page(other, run)
    said = other.post(f"{HERE}runs/{run.pk}/cancel/", follow=True).content.decode()
    assert "or an operator, may cancel" in said
    assert "Cancel</button>" in page(browser, run)
    browser.post(f"{HERE}runs/{run.pk}/cancel/")
    run.refresh_from_db()
    assert run.state == "cancelled"
    said = browser.post(f"{HERE}runs/{run.pk}/cancel/", follow=True).content.decode()
    assert "It is over: cancelled." in said


def test_run_again_tells_what_changed_since(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    run = started(demo, viewer, copies(2))
    answer = browser.post(f"{HERE}runs/{run.pk}/again/", follow=True)
    text = answer.content.decode()
    assert "Since the last time" in text
    assert "Nothing has changed: Both come to the same." in text
    assert f"?first={run.pk}&amp;second=" in text


def test_a_scenario_that_no_longer_fits_the_cluster_says_so(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    run = started(demo, viewer, drain("gpu-h100-01"))
    WhatIfRun.objects.filter(pk=run.pk).update(document=drain("gone"))
    said = browser.post(f"{HERE}runs/{run.pk}/again/", follow=True).content.decode()
    assert "does not go with the cluster as it is now" in said


def test_scenario_and_answer_come_as_files(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    run = started(demo, viewer, drain("gpu-h100-01"))
    for wanted in ("yaml", "json"):
        answer = browser.get(f"{HERE}runs/{run.pk}/?format={wanted}")
        assert "attachment" in answer["Content-Disposition"]
        text = answer.content.decode()
        assert documents.read_text(text) == scenario(drain("gpu-h100-01"))
    answer = browser.get(f"{HERE}runs/{run.pk}/?format=result")
    assert json.loads(answer.content) == run.result


def test_two_answers_stand_beside_each_other(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    first, second = (started(demo, viewer, copies(n)) for n in (1, 2))
    text = browser.get(
        f"{HERE}compare/?first={first.pk}&second={second.pk}"
    ).content.decode()
    assert "1 of the copies fit in the first, 2 in the second" in text
    assert text.count('<ol class="wi-sentences">') == 2
    assert "Choose two answers" in browser.get(f"{HERE}compare/").content.decode()
    assert browser.get(f"{HERE}compare/?first=x").status_code == 404


def test_an_answer_of_another_cluster_is_not_found_here(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    run = started(demo, viewer, {})
    Cluster.objects.create(name="other", source="dump")
    assert browser.get(f"/c/other/what-if/runs/{run.pk}/").status_code == 404
    assert browser.get(f"/c/other/what-if/compare/?first={run.pk}").status_code == 404


def test_a_page_costs_the_same_queries_however_much_it_shows(
    demo: Cluster, viewer: User, browser: Client, django_assert_max_num_queries: Any
) -> None:
    run = started(demo, viewer, copies(500))
    with django_assert_max_num_queries(14):
        page(browser, run)


@pytest.mark.parametrize(
    "raw", [{}, {"edits": [{"edit": "cordon", "nodes": ["cpu-01"]}]}]
)
def test_an_answer_with_no_difference_is_a_page_too(
    raw: Any, demo: Cluster, viewer: User, browser: Client
) -> None:
    assert (
        "no claim loses its devices"
        in page(browser, started(demo, viewer, raw)).lower()
    )


def test_differences_stand_in_every_table(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    text = page(browser, started(demo, viewer, copies(500)))
    for title in ("Classes", "Nodes", "Namespaces", "Capacity and counters"):
        after = text.split(f">{title}</h2>")[1].split("</section>")[0]
        assert "before → after, difference" in after
        assert "→" in after.split("<tbody>")[1]
        assert '<strong class="wi-delta">+' in after
    assert "counters of single sets</summary>" in text
    answer = browser.get(f"/api/v1/what-if/{WhatIfRun.objects.get().pk}/").json()
    difference = answer["result"]["difference"]
    for name in ("classes", "nodes", "namespaces"):
        assert difference[name][0]["difference"], name
    for name in ("capacities", "counters", "counterSets"):
        assert difference[name][0]["takenDifference"] != "0", name


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("0", "0"),
        ("80Gi", "80Gi"),
        ("81559Mi", "79.6Gi"),
        ("126008655Mi", "120.2Ti"),
        ("1048576Mi", "1Ti"),
        ("148960", "148960"),
        ("1500000", "1500000"),
    ],
)
def test_long_quantities_are_rounded_for_reading(text: str, short: str) -> None:
    assert rounded(text) == short


def test_no_pod_that_waits_is_said(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    work = {"place": "waiting", "namespace": "nobody"}
    assert "no pod waits" in page(browser, started(demo, viewer, {"workload": [work]}))
