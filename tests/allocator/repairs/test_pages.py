"""The guided page: what it shows, who may do what, and what is said in words."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from allocator.models import AllocationRun, DeviceRepair, Finding, RepairStep
from allocator.repairs import asking
from tests.allocator import builders as build
from tests.allocator.lab import Lab
from tests.allocator.repairs.conftest import Ward
from tests.cluster.standin.scheduled import eventually, scheduled

pytestmark = pytest.mark.django_db

FIRST = {"namespace": "lab", "claim_name": "first"}
SECOND = {"namespace": "lab", "claim_name": "second"}


def page(client: Client, finding: Finding) -> str:
    answer = client.get(f"/c/lab/findings/{finding.pk}/")
    assert answer.status_code == 200
    return answer.text


def press(client: Client, finding: Finding, button: str, **sent: Any) -> HttpResponse:
    address = f"/c/lab/findings/{finding.pk}/repair/{button}/"
    return client.post(address, sent, follow=True)  # type: ignore[return-value]  # ours


def work(ward: Ward) -> None:
    """The workers do the last step."""
    ward.work(RepairStep.objects.latest("pk"))


def test_the_page_shows_who_holds_the_device_and_what_would_be_forgotten(
    ward: Ward, viewer: Client
) -> None:
    finding = ward.admit()
    shown = page(viewer, finding)
    assert "Who holds gpu-0 now" in shown
    assert "/c/lab/claims/lab/first/" in shown
    assert "/c/lab/pods/lab/one/" in shown
    assert "Running" in shown
    assert "As soon as one of these 2 claims is released" in shown
    assert "To take a step you need the role" in shown
    assert "<form" not in shown.split('id="repair"')[1].split("Acknowledged")[0]
    # What can be done without the portal is still there.
    assert "kubectl cordon n0" in shown


def test_the_way_from_the_double_booking_to_its_end_with_buttons(
    ward: Ward, admin: Client
) -> None:
    finding = ward.admit()
    assert "Quarantine gpu-0" in page(admin, finding)
    press(admin, finding, "quarantine", hours=24)
    assert "It waits for a worker" in page(admin, finding)
    work(ward)
    shown = page(admin, finding)
    assert "By a taint of the node n0" in shown
    assert "In quarantine by a taint of the node n0, until" in shown

    press(admin, finding, "keep", **FIRST)
    shown = page(admin, finding)
    assert "lab/first keeps it" in shown
    assert "Release lab/second" in shown
    press(admin, finding, "release", **SECOND, seen_version=ward.version("second"))
    work(ward)
    shown = page(admin, finding)
    assert "Only lab/first holds the device." in shown
    assert "may take gpu-0 for free although lab/first holds it" in shown
    assert "Lift it although a scheduler may have forgotten" in shown

    press(admin, finding, "rewrite", seen_version=ward.version("first"))
    work(ward)
    assert "The allocation of lab/first was written anew." in page(admin, finding)
    press(admin, finding, "lift")
    work(ward)
    shown = page(admin, finding)
    assert "Lifted. This finding ends" in shown
    assert "It has ended; nothing is left to do." in shown
    for words in ("a-admin", "Put the device into quarantine", "Release lab/second"):
        assert words in shown
    assert ward.another_pod() == "False"


def test_the_page_says_where_one_is_when_it_is_opened_later(
    ward: Ward, operator: Client, viewer: Client
) -> None:
    finding = ward.admit()
    press(operator, finding, "quarantine")
    work(ward)
    press(operator, finding, "keep", **FIRST)
    finding.refresh_from_db()
    shown = page(viewer, finding)
    assert "By a taint of the node n0" in shown
    assert "lab/first keeps it. End the pods of lab/second" in shown
    assert "a-operator" in shown


def test_each_button_takes_its_role(
    ward: Ward, viewer: Client, operator: Client
) -> None:
    finding = ward.admit()
    buttons = ["quarantine", "keep", "restarted", "wait", "lift"]
    for button in (*buttons, "release", "rewrite", "put-back"):
        assert press(viewer, finding, button).status_code == 403, button
    for button in ("release", "rewrite", "put-back"):
        assert press(operator, finding, button).status_code == 403, button
    answer = press(operator, finding, "lift", although_forgotten="on")
    assert answer.status_code == 403
    assert not DeviceRepair.objects.exists()
    assert not AllocationRun.objects.exists()


def test_nothing_happens_without_a_post_that_was_meant(
    ward: Ward, admin: Client, client_of: Callable[..., Client]
) -> None:
    finding = ward.admit()
    address = f"/c/lab/findings/{finding.pk}/repair/quarantine/"
    assert admin.get(address).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="a-admin"))
    assert strict.post(address, {}).status_code == 403
    assert not RepairStep.objects.exists()


def test_a_claim_that_changed_meanwhile_is_told_on_the_page(
    ward: Ward, admin: Client
) -> None:
    finding = ward.admit()
    press(admin, finding, "quarantine")
    work(ward)
    press(admin, finding, "keep", **FIRST)
    answer = press(admin, finding, "release", **SECOND, seen_version="1")
    assert "was changed since you looked at it" in answer.text
    assert "Nothing was written" in answer.text
    assert not AllocationRun.objects.exists()


def test_what_makes_a_rewriting_unsafe_is_said_beside_it(
    ward: Ward, admin: Client, ada: User
) -> None:
    finding = ward.admit()
    press(admin, finding, "quarantine")
    work(ward)
    press(admin, finding, "keep", **FIRST)
    press(admin, finding, "release", **SECOND, seen_version=ward.version("second"))
    work(ward)
    assert "Write lab/first anew" in page(admin, finding)
    ward.store.put(build.pod("waits", "first"))
    eventually(lambda: scheduled(ward.store, "waits") == "False")
    ward.settle()
    shown = page(admin, finding)
    assert "Not now:" in shown
    assert "The pod waits waits for the claim" in shown
    assert "Write lab/first anew</button>" not in shown
    asking.wait(finding, ada)
    assert "Somebody decided to wait" in page(admin, finding)


def test_a_step_that_failed_says_why_until_something_is_done(
    ward: Ward, operator: Client
) -> None:
    finding = ward.admit()
    ward.store.delete("Node", "n0")
    press(operator, finding, "quarantine")
    work(ward)
    shown = page(operator, finding)
    assert "The node n0 does not exist any more." in shown
    assert 'role="alert"' in shown


def test_where_rules_may_kill_the_scheduler_the_page_says_why_there_is_none(
    ward: Ward, operator: Client
) -> None:
    shown = page(operator, ward.admit())
    assert "No taint rule:" in shown
    assert "a taint of the node n0" in shown
    assert "a device taint rule</option>" not in shown


def test_where_rules_are_safe_one_may_choose(
    ruled_ward: Ward, operator: Client
) -> None:
    finding = ruled_ward.admit()
    assert "a device taint rule</option>" in page(operator, finding)
    press(operator, finding, "quarantine")
    work(ruled_ward)
    assert "By the taint rule dra-portal-quarantine-" in page(operator, finding)


def test_a_dump_is_shown_without_buttons(ward: Ward, admin: Client) -> None:
    finding = ward.admit()
    ward.lab.cluster.read_only = True
    ward.lab.cluster.save()
    shown = page(admin, finding)
    assert "read-only here: do the steps by hand" in shown
    assert "Quarantine gpu-0" not in shown


def test_claim_and_run_lead_to_the_repair(ward: Ward, operator: Client) -> None:
    finding = ward.admit()
    shown = operator.get("/c/lab/claims/lab/second/").text
    address = "/c/lab/repair/gpu.acme.test/n0/gpu-0/"
    assert address in shown
    assert "it is released as a step of the repair above" in shown
    assert ">Deallocate</button>" not in shown
    answer = operator.get(address)
    assert answer["Location"] == f"/c/lab/findings/{finding.pk}/"


def test_before_anybody_has_looked_the_way_there_says_so(
    lab: Lab, operator: Client
) -> None:
    answer = operator.get("/c/lab/repair/gpu.acme.test/n0/gpu-0/", follow=True)
    assert "try again in a few seconds" in answer.text


def test_a_quarantine_is_shown_for_what_it_is(
    ruled_ward: Ward, operator: Client
) -> None:
    ward = ruled_ward
    finding = ward.admit()
    press(operator, finding, "quarantine", hours=8)
    work(ward)
    (rule,) = ward.store.objects("DeviceTaintRule")
    name = rule["metadata"]["name"]
    link = f"/c/lab/findings/{finding.pk}/"
    shown = operator.get("/c/lab/devices/gpu.acme.test/n0/gpu-0/").text
    assert "A quarantine of this portal" in shown
    assert "/c/lab/repair/gpu.acme.test/n0/gpu-0/" in shown
    for path in ("taint-rules/", f"taint-rules/{name}/"):
        shown = operator.get(f"/c/lab/{path}").text
        assert "quarantine of this portal" in shown, path
        assert link in shown, path


def test_a_tainted_node_says_that_it_is_a_quarantine(
    ward: Ward, operator: Client
) -> None:
    finding = ward.admit()
    press(operator, finding, "quarantine", hours=8)
    work(ward)
    shown = operator.get("/c/lab/nodes/n0/").text
    assert "quarantine of this portal" in shown
    assert f"/c/lab/findings/{finding.pk}/" in shown


def test_the_page_takes_a_bounded_number_of_queries(
    ward: Ward,
    operator: Client,
    ada: User,
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    finding = ward.admit()
    press(operator, finding, "quarantine")
    work(ward)
    page(operator, finding)
    with django_assert_num_queries(21):
        page(operator, finding)
    for n in range(4):
        ward.give_too(f"more-{n}")
        ward.store.put(build.pod(f"more-{n}", f"more-{n}"))
    ward.settle()
    for n in range(3):
        asking.keep(finding, ada, "lab", f"more-{n}")
    with django_assert_num_queries(21):
        page(operator, finding)
