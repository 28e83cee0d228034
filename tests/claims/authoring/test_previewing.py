"""Where a draft would fit, and what each of its requests matches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claims.authoring import previewing
from claims.authoring.previewing import Preview, keystroke, previewed
from dra.errors import ObjectError
from dra.objects import ResourceClaim, read
from dra.snapshot import Snapshot
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.allocator.builders import Json

LAB = Cluster(pk=1, name="lab", version="v1.36.2")
NUMA = "lab.test/numaNode"


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    previewing.forget()
    yield
    previewing.forget()


def on_numa(place: int) -> Json:
    attributes = {NUMA: {"int": place // 2}, "model": {"string": f"A{place % 2}"}}
    return build.device(f"gpu-{place}", attributes=attributes)


@pytest.fixture(scope="module")
def world() -> Snapshot:
    """Three nodes with four GPUs, two on each NUMA node; n0 has one in use."""
    return Snapshot.build(
        [
            *build.lab(0),
            *(build.node(f"n{n}") for n in range(3)),
            *(build.slice_(f"n{n}", [on_numa(p) for p in range(4)]) for n in range(3)),
            build.allocated("holder", build.result("n0", "gpu-0")),
        ],
        seq=7,
    )


def wanted(*requests: Json, name: str = "mine", **devices: Any) -> ResourceClaim:
    raw = build.claim(name, *requests)
    raw["spec"]["devices"] |= devices
    return read(raw, ResourceClaim)


def preview(world: Snapshot, *claims: ResourceClaim, **how: Any) -> Preview:
    return previewed(LAB, world, claims, **how)


def selecting(expression: str, count: int = 1) -> Json:
    selectors = [{"cel": {"expression": expression}}]
    return build.request(count=count, selectors=selectors)


def model(value: str) -> str:
    return f'device.attributes["{build.GPU}"].model == "{value}"'


# --- what it says first ---


def test_what_fits_says_where_and_with_what(world: Snapshot) -> None:
    found = preview(world, wanted(build.request(count=2)))
    assert found.fits
    assert found.sentence == "Fits now on 3 nodes; first: n0 with gpu-1, gpu-2."
    assert [g.device.device for g in found.explanation.given] == ["gpu-1", "gpu-2"]
    assert {(g.claim, g.request) for g in found.explanation.given} == {(0, "gpu")}
    assert sum(group.nodes for group in found.explanation.groups) == 3
    assert found.seq == 7


def test_what_fits_nowhere_says_how_much_is_missing(world: Snapshot) -> None:
    found = preview(world, wanted(build.request(count=5)))
    assert found.sentence == (
        "Fits nowhere: 12 devices match, no node has 5 free. Nearest: n1 has 4."
    )


def test_a_constraint_that_is_to_blame_is_named(world: Snapshot) -> None:
    claim = wanted(build.request(count=3), constraints=[{"matchAttribute": NUMA}])
    assert preview(world, claim).sentence == (
        "Fits nowhere: 12 devices match, no node has 3 free on one numaNode. "
        "Nearest: n1 has 2."
    )
    claim = wanted(build.request(count=3), constraints=[{"distinctAttribute": NUMA}])
    assert "3 free that differ in numaNode" in preview(world, claim).sentence


def test_a_constraint_on_what_no_device_has_says_so(world: Snapshot) -> None:
    claim = wanted(constraints=[{"matchAttribute": "lab.test/rack"}])
    assert preview(world, claim).sentence == (
        "Fits nowhere: 12 devices match, but none of the free ones has lab.test/rack."
    )


def test_what_is_full_now_says_what_is_in_the_way() -> None:
    full = Snapshot.build(
        [
            *build.lab(1),
            build.allocated("a", build.result("n0", "gpu-0")),
            build.allocated("b", build.result("n0", "gpu-1")),
        ]
    )
    assert preview(full, wanted()).sentence == (
        "Fits nowhere now: 2 devices match, but none can be had: 2 in use."
    )


def test_a_selector_that_matches_nothing_says_so(world: Snapshot) -> None:
    found = preview(world, wanted(selecting(model("Z9"))))
    assert found.sentence == (f"Fits nowhere: no device of class {build.GPU} matches.")


def test_of_several_requests_the_one_to_blame_is_named(world: Snapshot) -> None:
    two = wanted(build.request("few"), build.request("many", count=9))
    assert "12 devices match request many, no node" in preview(world, two).sentence


def test_what_only_fails_together_is_said_by_the_engine(world: Snapshot) -> None:
    two = wanted(build.request("a", count=3), build.request("b", count=3))
    found = preview(world, two)
    assert found.explanation.verdict == "hopeless"
    assert "none can serve all together" in found.sentence


def test_claims_of_one_pod_have_to_fit_together(world: Snapshot) -> None:
    a, b = (wanted(build.request(count=3), name=name) for name in "ab")
    assert preview(world, a).fits
    found = preview(world, a, b)
    assert not found.fits
    assert found.claim_names == ("a", "b")
    assert [(r.claim, r.claim_name) for r in found.requests] == [(0, "a"), (1, "b")]


def test_only_the_nodes_asked_about_count(world: Snapshot) -> None:
    found = preview(world, wanted(build.request(count=4)), node_names=["n0"])
    assert not found.fits
    assert found.explanation.nodes == 1
    assert preview(world, wanted(build.request(count=4))).fits


# --- what each request matches ---


def test_matching_and_free_devices_are_counted(world: Snapshot) -> None:
    (request,) = preview(world, wanted(selecting(model("A0")))).requests
    assert (request.matching, request.free, request.failing) == (6, 5, 0)
    assert request.sentence == "6 devices match, 5 free."
    assert (request.wanted, request.everything) == (1, False)
    assert request.path == "devices.requests[0].exactly"


def test_the_terms_that_exclude_most_come_first(world: Snapshot) -> None:
    expression = f'{model("A0")} && device.driver.endsWith("none")'
    (request,) = preview(world, wanted(selecting(expression))).requests
    assert [(t.name, t.devices) for t in request.terms] == [
        ('device.driver.endsWith("none")', 12),
        (model("A0"), 6),
    ]


def test_alternatives_are_requests_of_their_own(world: Snapshot) -> None:
    sub = build.request()["exactly"]
    alternatives = [{"name": "big", **sub, "count": 9}, {"name": "one", **sub}]
    found = preview(world, wanted({"name": "any", "firstAvailable": alternatives}))
    assert found.fits
    assert [(r.request, r.path, r.wanted) for r in found.requests] == [
        ("any/big", "devices.requests[0].firstAvailable[0]", 9),
        ("any/one", "devices.requests[0].firstAvailable[1]", 1),
    ]


def test_all_is_told_from_a_number(world: Snapshot) -> None:
    asked = {
        "name": "all",
        "exactly": {"deviceClassName": build.GPU, "allocationMode": "All"},
    }
    (request,) = preview(world, wanted(asked)).requests
    assert (request.wanted, request.everything, request.free) == (0, True, 11)


def test_devices_on_which_a_selector_fails_are_counted(world: Snapshot) -> None:
    found = preview(world, wanted(selecting('device.attributes["no.such"].x == 1')))
    (request,) = found.requests
    assert found.explanation.verdict == "refused"
    assert (request.matching, request.failing) == (0, 12)
    assert request.errors[0].devices == 12
    assert "no such key" in request.errors[0].note
    assert "on 12 a selector fails" in request.sentence


# --- claims that are wrong ---


def test_a_request_that_is_wrong_does_not_hide_the_others(world: Snapshot) -> None:
    missing = build.request("other", deviceClassName="none")
    found = preview(world, wanted(missing, build.request()))
    other, good = found.requests
    assert found.explanation.verdict == "refused"
    assert "none" in found.sentence
    assert other.matching is other.free is None
    assert other.problem == other.sentence
    assert "could not retrieve device class none" in other.problem
    assert (good.matching, good.free) == (12, 11)


def test_an_expression_that_does_not_compile_counts_as_failing(
    world: Snapshot,
) -> None:
    found = preview(world, wanted(selecting("device.drivr"), build.request("ok")))
    broken, good = found.requests
    assert found.explanation.verdict == "refused"
    assert (broken.matching, broken.failing) == (0, 12)
    assert (good.matching, good.free) == (12, 11)


def test_a_claim_without_requests_is_an_answer(world: Snapshot) -> None:
    raw = build.claim("empty")
    raw["spec"] = {}
    found = preview(world, read(raw, ResourceClaim))
    assert found.requests == ()
    assert found.sentence


def test_without_nodes_it_says_that_there_are_none() -> None:
    found = preview(Snapshot.build([build.device_class()]), wanted())
    assert "no node to try" in found.sentence


def test_more_requests_than_any_claim_may_have_are_not_looked_at(
    world: Snapshot,
) -> None:
    found = preview(world, wanted(*(build.request(f"r{n}") for n in range(300))))
    assert (found.explanation.verdict, found.requests) == ("refused", ())
    assert "300 requests" in found.sentence


def test_an_expression_that_takes_long_ends_with_the_time(world: Snapshot) -> None:
    numbers = ", ".join(map(str, range(60)))
    slow = f"[{numbers}].all(a, [{numbers}].all(b, [{numbers}].all(c, a + b + c >= 0)))"
    asked = selecting(f'{slow} && device.attributes["{build.GPU}"].model != "x"')
    started = time.process_time()
    found = preview(world, wanted(asked), seconds=0.05)
    assert time.process_time() - started < 10
    assert found.explanation.verdict == "undecided"
    assert "The time was over" in found.requests[0].problem


# --- relaxations, and the other scheduler ---


def test_relaxations_are_looked_for_when_asked_for(world: Snapshot) -> None:
    claim = wanted(build.request(count=5))
    assert preview(world, claim).explanation.relaxations == ()
    found = preview(world, claim, relax=True)
    assert found.relaxed
    (change,) = found.explanation.relaxations
    assert change.code == "fewer"
    assert change.spec is not None
    assert change.spec["devices"]["requests"][0]["exactly"]["count"] == 4


def test_the_gates_are_those_of_the_clusters_version(world: Snapshot) -> None:
    sub = build.request()["exactly"]
    claim = wanted({"name": "any", "firstAvailable": [{"name": "one", **sub}]})
    old = Cluster(pk=2, name="old", version="v1.33.1")
    found = previewed(old, world, [claim])
    assert found.explanation.verdict == "refused"
    assert "DRAPrioritizedList" in found.sentence


# --- kept, bounded, ended ---


def test_the_same_question_is_answered_once(world: Snapshot) -> None:
    first = preview(world, wanted())
    assert preview(world, wanted()) is first
    assert preview(world, wanted(build.request(count=2))) is not first
    assert preview(world, wanted(), quirks="1.36") is not first
    assert preview(world, wanted(), node_names=["n0"]) is not first


def test_a_change_of_the_cluster_is_a_new_question(world: Snapshot) -> None:
    first = preview(world, wanted(build.request(count=5)))
    bigger = build.slice_("n1", [on_numa(place) for place in range(6)])
    later = world.refresh([bigger], (), seq=8)
    second = preview(later, wanted(build.request(count=5)))
    assert (first.fits, second.fits, second.seq) == (False, True, 8)


def test_a_process_keeps_a_bounded_number_of_previews(
    world: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previewing, "KEPT", 3)
    monkeypatch.setattr(previewing, "KEPT_DRAFTS", 3)
    for number in range(1, 8):
        preview(world, wanted(build.request(count=number)))
        keystroke(number)
    assert len(previewing._slots) == 3
    assert len(previewing._keystrokes) == 3


def test_a_newer_keystroke_ends_the_older_one(world: Snapshot) -> None:
    older = keystroke("draft")
    other = keystroke("another draft")
    assert not older()
    newer = keystroke("draft")
    assert (older(), newer(), other()) == (True, False, False)
    found = preview(world, wanted(), stop=older)
    assert found.superseded
    assert "has changed since" in found.sentence
    again = preview(world, wanted(), stop=newer)
    assert again is not found
    assert again.fits


def test_what_the_time_cut_short_says_so_and_is_not_kept(world: Snapshot) -> None:
    found = preview(world, wanted(), seconds=0.0)
    assert not found.superseded
    assert found.explanation.verdict == "undecided"
    assert found.sentence
    assert preview(world, wanted()).fits


# --- anything that can be read ---

ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, "", 0, -1, 2**40, "x", "1Gi", "all", "All", "ExactCount", [], {}, True]
)
FIELDS = [
    "deviceClassName",
    "allocationMode",
    "count",
    "adminAccess",
    "selectors",
    "tolerations",
    "capacity",
]


@given(
    changes=st.lists(st.tuples(st.sampled_from(FIELDS), ODD), max_size=3),
    selector=st.text(max_size=12) | st.sampled_from([model("A0"), "device", "1 == 1"]),
    attribute=st.sampled_from([NUMA, "", "model", "a/b/c", "lab.test/none"])
    | st.none(),
    nodes=st.sampled_from([None, (), ("n0",), ("n0", "none"), ("n0", "n1", "n2", "x")]),
    amount=st.sampled_from(["5Gi", "-1", "much", "0", "1e30"]),
)
@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_nothing_that_can_be_read_raises(
    world: Snapshot,
    changes: list[tuple[str, Any]],
    selector: str,
    attribute: str | None,
    nodes: tuple[str, ...] | None,
    amount: str,
) -> None:
    asked = selecting(selector, count=2)
    asked["exactly"]["capacity"] = {"requests": {"memory": amount}}
    asked["exactly"] |= dict(changes)
    raw = build.claim("odd", asked, build.request("plain"))
    raw["spec"]["devices"]["constraints"] = [{"matchAttribute": attribute}]
    try:
        claim = read(raw, ResourceClaim)
    except ObjectError:
        return
    found = preview(world, claim, node_names=nodes, relax=True)
    assert found.sentence
    assert len(found.requests) == 2
