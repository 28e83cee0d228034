"""The CEL page for strangers, for any text, and what an answer costs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from inventory.models import Cluster, WatchLock, WatchState
from tests.claims.cel_lab import (
    BIG,
    BOTH,
    MODEL_B,
    TARGET,
    address,
    answer,
    device,
    page,
    rows,
    sentence,
)
from tests.inventory.views.conftest import slice_
from tests.mirrored import mirror

Queries = Callable[[int], AbstractContextManager[object]]

# --- doors, bad input, cost --------------------------------------------------------

PATHS = ["cel/", "cel/device/d.example/p1/b16/", "classes/big.example/terms/"]


@pytest.mark.parametrize("path", PATHS)
def test_only_who_may_look_gets_an_answer(
    path: str, lab: Cluster, client_of: Callable[..., Client]
) -> None:
    assert Client().get(f"/c/lab/{path}").status_code == 302
    assert client_of(None).get(f"/c/lab/{path}").status_code == 403
    assert client_of("viewer").get(f"/c/lab/{path}").status_code == 200


def test_an_unknown_cluster_is_a_404(viewer: Client, db: None) -> None:
    assert viewer.get("/c/nowhere/cel/").status_code == 404


def test_a_cluster_without_devices_still_checks_an_expression(
    viewer: Client, db: None
) -> None:
    mirror([], name="lab")
    assert "has no device yet" in sentence(page(viewer, address()))
    html = page(viewer, address(expression="device.driver == 'x'"))
    assert sentence(html) == "The cluster has no device to try it on."
    assert "Costs" in html
    refused = page(viewer, address(expression="device.nope"))
    assert sentence(refused) == "The API server would refuse it."


def test_a_stale_mirror_is_said(lab: Cluster, viewer: Client) -> None:
    assert "the watch does not run" in page(viewer, address())
    WatchLock.objects.create(name="watch", owner="here:1", heartbeat=timezone.now())
    assert "as the portal last saw them" not in page(viewer, address())
    WatchState.objects.filter(cluster=lab, kind="ResourceSlice").update(
        state="retrying", error="gone"
    )
    assert "as the portal last saw them" in page(viewer, address())


def test_an_answer_that_takes_too_long_says_so(
    lab: Cluster, viewer: Client, settings: Any
) -> None:
    settings.CEL_SECONDS = 0
    html = page(viewer, address(expression=BOTH, compare=BIG))
    assert sentence(html) == "There is no answer in time."
    assert "It took longer than 0 seconds" in html


MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"


@pytest.mark.parametrize(
    "name",
    [
        "expression",
        "compare",
        "class",
        "driver",
        "node",
        "pool",
        "state",
        "tab",
        "term",
    ],
)
def test_no_text_becomes_markup(name: str, lab: Cluster, viewer: Client) -> None:
    for expression in (BOTH, f"device.driver == r'''{MARKUP}'''", MARKUP):
        asked = {"expression": expression, name: MARKUP}
        one_device = f"/c/lab/cel/device/d.example/p1/b16/?{urlencode(asked)}"
        for html in (
            page(viewer, address(**asked)),
            answer(viewer, **asked),
            page(viewer, one_device),
        ):
            assert "<script>alert" not in html
            assert "<img src=x" not in html


def test_names_and_values_of_devices_never_become_markup(
    viewer: Client, db: None
) -> None:
    evil = "<img src=x onerror=alert(1)>"
    mirror(
        [slice_("s", [device(evil, model=evil), device("b", model="B")])], name="lab"
    )
    for tab in ("true", "false"):
        html = page(viewer, address(expression=MODEL_B, tab=tab))
        assert evil not in html
    assert evil not in page(viewer, address())


@hypothesis_settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    expression=st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(
                [
                    "device",
                    ".driver",
                    ".attributes",
                    "['d']",
                    "&&",
                    "||",
                    "!",
                    "(",
                    ")",
                    "'",
                    "1",
                    "\n",
                    "?",
                    ":",
                    "true",
                    "\0",
                    "😀",
                ]
            ),
            max_size=12,
        ).map("".join),
    ),
    compare=st.text(max_size=20),
)
def test_any_text_has_an_answer(
    expression: str, compare: str, lab: Cluster, viewer: Client
) -> None:
    query = urlencode(
        {"expression": expression, "compare": compare}, errors="surrogatepass"
    )
    for path in (
        f"/c/lab/cel/?{query}",
        f"/c/lab/cel/device/d.example/p1/b16/?{query}",
    ):
        assert viewer.get(path).status_code == 200
        assert viewer.get(path, headers=TARGET).status_code == 200


@pytest.mark.parametrize(
    "expression",
    [
        "x" * 20_000,
        "(" * 3_000,
        "!" * 400 + "true",
        " && ".join(["true"] * 1_000),
        " || ".join(["device.driver == 'x'"] * 400),
    ],
)
def test_a_monster_has_an_answer(expression: str, lab: Cluster, viewer: Client) -> None:
    html = answer(viewer, expression=expression)
    assert sentence(html)
    assert len(html) < 1_000_000


NEVER: str = "device.driver == 'nowhere'"
FARTHER: str = "'%.1000f'.format([1.0]) == 'x'"


@pytest.mark.parametrize("of", ["alone", "admits"])
def test_a_term_without_which_we_cannot_go_on_shows_all_devices(
    of: str, lab: Cluster, viewer: Client
) -> None:
    expression = f"{NEVER} && {FARTHER}"
    place = f"0-{len(NEVER)}-{of}"
    html = answer(viewer, expression=expression, term=place, tab="false")
    assert len(rows(html)) == 5
    assert "cel-unchosen" not in html


QUESTIONS: list[dict[str, str]] = [
    {},
    {"expression": BOTH},
    {"expression": BOTH, "compare": BIG, "class": "big.example", "tab": "both"},
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_page_and_answer_cost_few_queries_whatever_is_asked(
    question: dict[str, str],
    lab: Cluster,
    viewer: Client,
    django_assert_num_queries: Queries,
) -> None:
    """Session, user, role, cluster, seq; the page also: mark, clusters, watches."""
    page(viewer, address(**question))
    with django_assert_num_queries(5):
        answer(viewer, **question)
    with django_assert_num_queries(8):
        page(viewer, address(**question))
