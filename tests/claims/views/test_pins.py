"""A reservation of the portal's own is shown for what it is, and goes with the release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from allocator import wiring
from allocator.services import start_release
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from cluster.standin.server import StandinServer
from tests.allocator import builders as build
from tests.allocator.lab import Lab
from tests.cluster.standin.scheduled import eventually, scheduled

pytestmark = pytest.mark.django_db

RAW = "allocationpins"


@pytest.fixture
def pinned(tmp_path: Path, settings: Any, db: None) -> Iterator[Lab]:
    """The claim "one", which a run of ours gave a device through a carrier."""
    with StandinServer([*build.lab(), build.claim("one")]) as server:
        lab = Lab(server, tmp_path)
        settings.CLUSTERS_FILE = str(lab.file)
        settings.RUN_MIRROR_SECONDS = 1
        settings.RUN_VERIFY_SECONDS = 2
        wiring.forget()
        lab.use("carrier")
        with ControlPlane(server.store, Habits(delay=0.0)):
            assert lab.execute(lab.start("one")).state == "done"
            lab.sync()
            yield lab
        wiring.forget()


def page(client: Client, path: str) -> str:
    answer = client.get(f"/c/lab/{path}")
    assert answer.status_code == 200, path
    return answer.text


def test_it_is_no_workload_on_any_page(
    pinned: Lab, client_of: Callable[..., Client]
) -> None:
    operator = client_of("operator")
    shown = page(operator, "claims/lab/one/")
    assert "kept by the portal&#x27;s pin" in shown
    assert "Not a workload: this portal keeps the allocation" in shown
    assert "the portal's pin is removed" in shown
    for path in ("claims/", "devices/gpu.acme.test/n0/gpu-0/"):
        listed = page(operator, path)
        assert ">pin</span>" in listed, path
        assert RAW not in listed, path
    exported = operator.get("/c/lab/claims/?format=csv")
    assert RAW not in exported.getvalue().decode()
    deleting = page(operator, "claims/lab/one/delete/")
    assert "the portal&#x27;s pin" in deleting
    assert "deallocate the claim here first" in deleting


def test_beside_a_pod_only_the_pod_counts_as_its_user(
    pinned: Lab, client_of: Callable[..., Client]
) -> None:
    pinned.server.store.put(build.pod("user", "one"))
    eventually(lambda: scheduled(pinned.server.store, "user") == "True")
    pinned.sync()
    shown = page(client_of("viewer"), "claims/lab/one/")
    assert "is in use by 1 consumer." in shown
    listed = page(client_of("operator"), "claims/")
    assert "/c/lab/pods/lab/user/" in listed
    assert ">pin</span>" in listed


def test_it_goes_when_the_claim_is_released_through_the_portal(pinned: Lab) -> None:
    entries = pinned.claim("one")["status"]["reservedFor"]
    assert [entry["resource"] for entry in entries] == [RAW]
    run = start_release(
        cluster=pinned.cluster, namespace="lab", claim_name="one", user=None
    )
    assert pinned.execute(run).state == "done"
    assert pinned.claim("one").get("status", {}) == {}


def test_what_happens_after_the_last_pod_is_said_before_one_allocates(
    pinned: Lab, client_of: Callable[..., Client]
) -> None:
    operator = client_of("operator")
    pinned.put(build.claim("two"))
    assert "the portal keeps it with a pin" in page(operator, "claims/lab/two/")
    text = pinned.file.read_text(encoding="utf-8")
    pinned.file.write_text(
        text.replace("writer: carrier", "writer: unguarded"), encoding="utf-8"
    )
    shown = page(operator, "claims/lab/two/")
    assert "After the last pod that uses the claim has ended" in shown
    assert "the next pod gets whichever devices" in shown
