"""Why a claim waits, as its page tells it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from django.test import Client

from allocator.services import explain_waiting
from claims import explaining
from claims.explaining import answering
from claims.models import ResourceClaim
from claims.views.why import page as why_page
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.allocator.builders import Json
from tests.mirrored import mirror, mirror_demo

HTMX = {"HX-Request": "true", "HX-Target": "claim-why"}
Queries = Callable[[int], AbstractContextManager[object]]


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    explaining.forget()
    yield
    explaining.forget()


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def why(client: Client, claim: str, *, part: bool = True) -> str:
    answer = client.get(f"/c/demo/claims/{claim}/why/", headers=HTMX if part else {})
    assert answer.status_code == 200
    return answer.content.decode()


def words(html: str) -> str:
    """The text as it is read."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html)).replace("&#x27;", "'")


def test_the_page_asks_for_the_reason_and_links_to_it_without_scripts(
    demo: Cluster, viewer: Client
) -> None:
    page = viewer.get("/c/demo/claims/team-a/train-4gpu/").content.decode()
    assert "waits for an allocation" in page
    assert 'hx-get="/c/demo/claims/team-a/train-4gpu/why/"' in page
    assert ">Show the whole reason</a>" in page


def test_what_is_known_of_the_reason_stands_there_at_once(
    demo: Cluster, viewer: Client
) -> None:
    explain_waiting(demo.pk)
    page = viewer.get("/c/demo/claims/team-b/mega-train-16gpu/").content.decode()
    assert "No node has 16 free devices of class gpu.nvidia.com" in page
    assert "as of" in page


def test_a_part_is_no_page_and_the_page_is_one(demo: Cluster, viewer: Client) -> None:
    assert "<html" not in why(viewer, "team-a/train-4gpu")
    page = why(viewer, "team-a/train-4gpu", part=False)
    assert "<html" in page
    assert 'id="claim-why"' in page


def test_a_claim_that_fits_says_where(demo: Cluster, viewer: Client) -> None:
    text = words(why(viewer, "team-a/train-4gpu"))
    assert "Fits now on" in text
    assert "fits now" in text


def test_it_is_told_for_the_version_of_the_server(
    demo: Cluster, viewer: Client
) -> None:
    """As a run would plan it."""
    assert "Fits now on" in why(viewer, "research/any-accelerator")
    Cluster.objects.update(version="v1.33.4")
    text = why(viewer, "research/any-accelerator")
    assert "the DRAPrioritizedList feature is disabled" in text


def test_a_claim_that_can_never_fit_shows_where_the_devices_go(
    demo: Cluster, viewer: Client
) -> None:
    html = why(viewer, "team-b/mega-train-16gpu")
    text = words(html)
    assert "cannot fit" in text
    assert "It cannot fit, not even with every device free." in text
    for stage in ("published in the cluster", "in the class", "not in use"):
        assert stage in text
    assert "in pool gpu.nvidia.com/gpu-a100-04 · 2 of 3 slices of generation 4" in text
    assert '/pools/gpu.nvidia.com/gpu-a100-04/"' in html
    assert "nodes with 16 such free devices" in text
    assert "gpu-h100-08" in text
    assert "Ask for 6 instead of 16." in text


def test_holders_are_linked_with_their_pods(demo: Cluster, viewer: Client) -> None:
    html = why(viewer, "team-b/mega-train-16gpu")
    held = re.search(r'held by\s+<a class="mono" href="([^"]+)">([^<]+)</a>', html)
    assert held is not None
    claim = ResourceClaim.objects.get(
        namespace=held[2].split("/")[0], name=held[2].split("/")[1]
    )
    pod = claim.consumers.get().name
    assert f'/pods/{claim.namespace}/{pod}/"' in html


def test_the_nearest_misses_say_what_is_published_instead(
    demo: Cluster, viewer: Client
) -> None:
    text = words(why(viewer, "research/blackwell-preview"))
    assert (
        "25 free devices fail only device.attributes['gpu.nvidia.com'].architecture == "
        "'Blackwell': they publish Hopper or Ampere" in text
    )


def test_a_change_shows_the_claim_with_what_differs(
    demo: Cluster, viewer: Client
) -> None:
    html = why(viewer, "team-b/mega-train-16gpu")
    assert re.search(r'<span class="removed">-\s+count: 16\s*</span>', html)
    assert re.search(r'<span class="added">\+\s+count: 6\s*</span>', html)
    assert "kind: ResourceClaim" in html


def test_every_link_of_the_reasons_leads_somewhere(
    demo: Cluster, viewer: Client
) -> None:
    links: set[str] = set()
    for claim in ("team-b/mega-train-16gpu", "research/blackwell-preview"):
        links |= set(re.findall(r'href="(/c/demo/[^"]+)"', why(viewer, claim)))
    assert any("?cel=" in link for link in links)
    for link in links:
        address = link.replace("&amp;", "&").replace("&#x27;", "'")
        assert viewer.get(address).status_code == 200, link


# --- small clusters ---


def lab(*objects: Json, **device: Json) -> Cluster:
    return mirror([*build.lab(), *objects])


def same_model(claim: Json) -> Json:
    attribute = f"{build.GPU}/index"
    claim["spec"]["devices"]["constraints"] = [{"matchAttribute": attribute}]
    return claim


def test_a_claim_that_others_hold_up_is_full_and_may_wait(
    db: None, viewer: Client
) -> None:
    held = [
        build.allocated(f"held-{node}-{place}", build.result(node, f"gpu-{place}"))
        for node in ("n0", "n1")
        for place in (0, 1)
    ]
    lab(build.claim("one"), *held)
    text = words(why(viewer, "lab/one"))
    assert "full now" in text
    assert "would if no claim held anything" in text
    assert "Wait until claim lab/held-n0-0 is released." in text


def test_a_constraint_shows_how_values_split(db: None, viewer: Client) -> None:
    lab(same_model(build.claim("pair", build.request(count=2))))
    text = words(why(viewer, "lab/pair"))
    assert f"with 2 that agree on {build.GPU}/index" in text
    assert "The most that one node can give is 1." in text
    assert "0: 1, 1: 1" in text
    assert "Drop the constraint matchAttribute" in text


def test_claims_of_one_pod_are_explained_together(db: None, viewer: Client) -> None:
    pod = build.pod("both", "a")
    pod["spec"]["resourceClaims"].append({"name": "b", "resourceClaimName": "b"})
    lab(build.claim("a", build.request(count=2)), build.claim("b"), pod)
    text = words(why(viewer, "lab/a"))
    assert "Pod both needs 2 claims on one node" in text
    assert "cannot fit" in text


def test_what_the_scheduler_said_stands_beside_it(db: None, viewer: Client) -> None:
    pod = build.pod("p", "one")
    pod["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "message": "0/2 nodes: no room"}
    ]
    lab(build.claim("one"), pod)
    assert "0/2 nodes: no room" in words(why(viewer, "lab/one"))


def test_a_claim_with_an_error_says_that_it_cannot_be_asked(
    db: None, viewer: Client
) -> None:
    lab(build.claim("odd", build.request(deviceClassName="none.test")))
    text = words(why(viewer, "lab/odd"))
    assert "not valid" in text
    assert "none.test" in text


def test_a_deadline_that_is_over_is_told(
    db: None, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "deadline", lambda _: lambda: True)
    lab(build.claim("many", build.request(count=3)))
    assert "Not everything was looked at" in words(why(viewer, "lab/many"))


def test_an_answer_that_is_not_of_now_is_asked_for_again_soon(
    db: None, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "PATIENCE", 1e9)
    monkeypatch.setattr(why_page, "PATIENCE", 10.0)
    cluster = lab(build.claim("many", build.request(count=3)))
    assert "data-refresh-every" not in why(viewer, "lab/many")
    Cluster.objects.filter(pk=cluster.pk).update(seq=cluster.seq + 1)
    assert "data-refresh-every" in why(viewer, "lab/many")


def test_a_claim_that_does_not_wait_has_nothing_to_explain(
    demo: Cluster, viewer: Client
) -> None:
    claim = ResourceClaim.objects.filter(state="in use").first()
    assert claim is not None
    name = f"{claim.namespace}/{claim.name}"
    assert "hidden" in why(viewer, name)
    assert "It does not wait for devices" in words(why(viewer, name, part=False))
    assert viewer.get("/c/demo/claims/team-a/none/why/").status_code == 404


def test_the_lists_say_why_in_one_line_once_it_was_worked_out(
    demo: Cluster, viewer: Client
) -> None:
    before = viewer.get("/c/demo/claims/?state=pending").content.decode()
    assert "No node has 16" not in before
    explain_waiting(demo.pk)
    for address in ("/c/demo/claims/?state=pending", "/c/demo/"):
        page = viewer.get(address).content.decode()
        assert "No node has 16 free devices of class gpu.nvidia.com" in page
        assert "as of" in page


def test_the_reason_costs_the_same_queries_for_any_number_of_holders(
    demo: Cluster, viewer: Client, django_assert_num_queries: Queries
) -> None:
    why(viewer, "team-b/mega-train-16gpu")
    with django_assert_num_queries(11):
        why(viewer, "team-b/mega-train-16gpu")
