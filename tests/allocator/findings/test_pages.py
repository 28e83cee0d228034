"""What is wrong on its page, on the pages of the objects concerned, and in the frame."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client

from allocator.findings.repairing import steps_of
from allocator.models import Finding, FindingPass
from dra.audits import Code
from tests.allocator.findings.conftest import World
from tests.dra.audits.faults import planted
from tests.dra.audits.world import GPU, clean, running

pytestmark = pytest.mark.django_db

type Queries = Callable[[int], AbstractContextManager[object]]
HERE = "/c/lab/"


def page(client: Client, path: str) -> str:
    answer = client.get(f"{HERE}{path}")
    assert answer.status_code == 200, path
    return answer.content.decode()


def show(world: World, code: Code) -> Finding:
    world.show(planted(code))
    world.look()
    return Finding.objects.get(ended_at=None)


# --- the list --------------------------------------------------------------------


def test_before_the_first_look_nothing_is_claimed(world: World, viewer: Client) -> None:
    shown = page(viewer, "findings/")
    assert "Nobody has looked" in shown
    assert "in order" not in shown


def test_where_nothing_is_wrong_the_page_says_so(world: World, viewer: Client) -> None:
    world.look()
    shown = page(viewer, "findings/")
    assert "Everything is in order" in shown
    assert "Nothing is wrong" in shown


def test_the_page_says_first_how_much_is_wrong(world: World, viewer: Client) -> None:
    world.show(
        [
            *planted(Code.DEVICE_BOOKED_TWICE),
            *planted(Code.POOL_EMPTY)[-1:],
            *planted(Code.CLAIM_UNUSED)[-1:],
        ]
    )
    world.look()
    shown = page(viewer, "findings/")
    assert (
        "2 things are wrong, 1 of them serious. 1 thing more is good to know." in shown
    )
    assert "Two workloads use one device" in shown
    assert "Delete the pods of one of the claims" in shown
    assert f"/c/lab/devices/{GPU}/n1/gpu-0/" in shown


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("", 3),
        ("severity=error", 1),
        ("severity=error&severity=info", 2),
        ("code=claim-unused", 1),
        ("kind=Pool", 2),
        ("namespace=default", 1),
        ("q=waits", 1),
        ("acknowledged=true", 0),
        ("acknowledged=false", 3),
        ("state=ended", 0),
        ("state=all", 3),
    ],
)
def test_filters(world: World, viewer: Client, query: str, rows: int) -> None:
    world.show(
        [
            *planted(Code.DEVICE_BOOKED_TWICE),
            *planted(Code.POOL_EMPTY)[-1:],
            *planted(Code.CLAIM_UNUSED)[-1:],
        ]
    )
    world.look()
    answer = viewer.get(f"{HERE}findings/?{query}")
    assert answer.context["list"].paginator.count == rows
    rest = viewer.get(f"/api/v1/findings/?{query}")
    assert len(rest.json()["results"]) == rows


def test_what_has_ended_is_history(world: World, viewer: Client) -> None:
    row = show(world, Code.CLAIM_IDLE)
    world.show(clean())
    world.look()
    assert "Everything is in order" in page(viewer, "findings/")
    assert "default/idle" in page(viewer, "findings/?state=ended")
    shown = page(viewer, f"findings/{row.pk}/")
    assert "It has ended" in shown
    assert "Acknowledge</button>" not in shown


def test_the_number_of_queries_does_not_grow_with_the_findings(
    world: World, viewer: Client, django_assert_num_queries: Queries
) -> None:
    show(world, Code.CLAIM_IDLE)
    page(viewer, "findings/")
    with django_assert_num_queries(12):
        page(viewer, "findings/")
    world.show(
        [
            *planted(Code.DEVICE_BOOKED_TWICE),
            *(o for n in range(3, 6) for o in running(f"z{n}", "gpu-9", on=f"n{n}")),
        ]
    )
    world.look()
    with django_assert_num_queries(12):
        page(viewer, "findings/")


def test_the_list_is_exported_with_why_and_what_to_do(
    world: World, viewer: Client
) -> None:
    show(world, Code.CLAIM_IDLE)
    answer = viewer.get(f"{HERE}findings/?format=json&cols=code,why,repair,where")
    (row,) = json.loads(answer.getvalue())
    assert row["code"] == "claim-idle"
    assert row["where"] == "default/idle"
    assert row["why"].startswith("The devices are taken")


# --- one finding -----------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [Code.DEVICE_BOOKED_TWICE, Code.POOL_STALE_SLICES, Code.OBJECT_UNREADABLE],
)
def test_a_finding_has_a_page_with_the_way_to_mend_it(
    world: World, viewer: Client, code: Code
) -> None:
    row = show(world, code)
    shown = viewer.get(f"{HERE}findings/{row.pk}/")
    assert row.title in shown.text
    assert shown.context["steps"] == steps_of(
        row, [r.name for r in row.objects_concerned.filter(kind="Node")]
    )
    assert row.title in page(viewer, "findings/")
    rest = viewer.get(f"/api/v1/findings/{row.pk}/").json()
    assert rest["code"] == code
    assert rest["steps"]


def test_a_finding_of_another_cluster_is_not_found_here(
    world: World, viewer: Client
) -> None:
    row = show(world, Code.CLAIM_IDLE)
    World(name="other")
    assert viewer.get(f"/c/other/findings/{row.pk}/").status_code == 404
    assert viewer.get(f"{HERE}findings/99999999999999999999/").status_code == 404


# --- acknowledging ---------------------------------------------------------------


def test_an_operator_acknowledges_with_a_reason_and_takes_it_back(
    world: World, operator: Client
) -> None:
    row = show(world, Code.DEVICE_BOOKED_TWICE)
    address = f"{HERE}findings/{row.pk}/acknowledge/"
    operator.post(address, {"reason": " they share it on purpose "})
    row.refresh_from_db()
    assert row.acknowledged_reason == "they share it on purpose"
    assert str(row.acknowledged_by) == "a-operator"
    assert FindingPass.objects.get().errors == 0
    shown = page(operator, "findings/")
    assert "Everything is in order" in shown
    assert "1 acknowledged." in shown
    world.show([*planted(Code.DEVICE_BOOKED_TWICE), *running("z", "gpu-3", on="n4")])
    world.look()
    assert FindingPass.objects.get().errors == 0

    operator.post(address, {"take_back": "1"})
    row.refresh_from_db()
    assert row.acknowledged_at is None
    assert FindingPass.objects.get().errors == 1


def test_acknowledging_takes_a_reason_and_the_role(
    world: World, operator: Client, viewer: Client
) -> None:
    row = show(world, Code.CLAIM_IDLE)
    address = f"{HERE}findings/{row.pk}/acknowledge/"
    assert viewer.post(address, {"reason": "x"}).status_code == 403
    answer = operator.post(address, {"reason": " "}, follow=True)
    assert "Say why this can stay" in answer.text
    answer = operator.post(address, {"reason": "x" * 1001}, follow=True)
    assert "too many" in answer.text
    row.refresh_from_db()
    assert row.acknowledged_at is None
    assert "Acknowledge</button>" not in page(viewer, f"findings/{row.pk}/")


# --- where it matters ------------------------------------------------------------

PLACES: dict[Code, list[str]] = {
    Code.DEVICE_BOOKED_TWICE: [
        f"devices/{GPU}/n1/gpu-0/",
        f"pools/{GPU}/n1/",
        "slices/n1-gpu/",
        "nodes/n1/",
        "claims/default/a/",
        "claims/default/again/",
        "pods/default/p-a/",
    ],
    Code.DEVICE_TAINTED_IN_USE: [
        f"devices/{GPU}/n2/gpu-1/",
        "nodes/n2/",
        "claims/default/b/",
        "pods/default/p-b/",
    ],
    Code.POOL_INCOMPLETE: [f"pools/{GPU}/x/", "slices/x/", "nodes/n1/"],
    Code.NODE_DRIVER_MISSING: ["nodes/n4/"],
    Code.CLASS_SELECTOR_ERROR: ["classes/error/"],
    Code.RULE_MATCHES_NOTHING: ["taint-rules/nothing/"],
    Code.TEMPLATE_MISSING_CLASS: ["templates/default/wrong/"],
    Code.POD_MISSING_CLAIM: ["pods/default/astray/"],
    Code.COUNTERS_OVERCOMMITTED: ["claims/default/e/", "claims/default/whole/"],
    Code.OBJECT_UNREADABLE: ["slices/bad/"],
}


@pytest.mark.parametrize("code", list(PLACES))
def test_the_pages_of_the_objects_concerned_show_it_on_top(
    world: World, viewer: Client, code: Code
) -> None:
    row = show(world, code)
    for path in PLACES[code]:
        shown = page(viewer, path)
        assert f'<a href="/c/lab/findings/{row.pk}/">' in shown, path
    for path in ("nodes/n5/", "claims/default/d/", f"pools/{GPU}/n5/"):
        assert f"/findings/{row.pk}/" not in page(viewer, path), path


def test_the_lines_can_be_asked_for_again(world: World, viewer: Client) -> None:
    row = show(world, Code.NODE_DRIVER_MISSING)
    shown = viewer.get(f"{HERE}nodes/n4/")
    address = shown.context["on_object"].refresh_url
    assert f"/findings/{row.pk}/" in viewer.get(address).text
    world.show(clean())
    world.look()
    again = viewer.get(address).text
    assert f"/findings/{row.pk}/" not in again
    assert "hidden" in again


@pytest.mark.parametrize("query", ["kind=Node", "kind=%00&namespace=&name="])
def test_lines_of_objects_that_cannot_be_are_refused(
    world: World, viewer: Client, query: str
) -> None:
    assert viewer.get(f"{HERE}findings/of/?{query}").status_code == 400


def test_an_objects_page_takes_one_query_more(
    world: World, viewer: Client, django_assert_num_queries: Queries
) -> None:
    page(viewer, "taint-rules/")
    world.show(planted(Code.RULE_MATCHES_NOTHING))
    world.look()
    with django_assert_num_queries(11):
        page(viewer, "taint-rules/nothing/")


def test_the_overview_says_what_is_wrong(world: World, viewer: Client) -> None:
    world.look()
    assert "Everything is in order." in page(viewer, "")
    show(world, Code.DEVICE_BOOKED_TWICE)
    shown = page(viewer, "")
    assert "1 thing is wrong, and it is serious." in shown
    assert "/c/lab/findings/?code=device-booked-twice" in shown


def test_the_navigation_counts_what_is_serious(world: World, viewer: Client) -> None:
    show(world, Code.CLAIM_UNUSED)
    assert "nav-count" not in page(viewer, "nodes/")
    world.show(planted(Code.DEVICE_BOOKED_TWICE))
    world.look()
    assert 'title="1 serious"' in page(viewer, "nodes/")
