"""Runs with each of the writers, beside a scheduler where one is needed."""

from __future__ import annotations

import pytest

from allocator import wiring
from allocator.services import reservations
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from tests.allocator.lab import Lab, states

pytestmark = pytest.mark.django_db

THE_WAY = ["queued", "planning", "writing", "verifying", "done"]


@pytest.mark.parametrize("writer", ["carrier", "direct"])
def test_a_run_beside_a_scheduler_ends_with_the_planned_device(lab: Lab, writer: str):
    lab.use(writer)
    with ControlPlane(lab.server.store, Habits(delay=0.0)):
        run = lab.execute(lab.start("one"))

    assert states(run) == THE_WAY
    assert lab.devices("one") == ["n0/gpu-0"]
    assert run.plan == lab.claim("one")["status"]["allocation"]
    assert lab.server.store.objects("DeviceTaintRule") == []
    assert lab.server.store.objects("Pod") == []


def test_a_dry_run_shows_what_the_writer_would_send(lab: Lab):
    lab.use("carrier")
    run = lab.execute(lab.start("one", dry_run=True))
    assert run.patch is not None
    assert [r["request"].partition(" ")[0] for r in run.patch] == [
        "POST",
        "PATCH",
        "DELETE",
    ]


@pytest.mark.parametrize("writer", ["carrier", "direct", "unguarded"])
def test_the_clusters_file_names_the_writer(lab: Lab, writer: str):
    lab.use(writer)
    assert wiring.writer_for("lab").name == writer


def test_a_read_only_cluster_has_none(lab: Lab):
    lab.use("none")
    with pytest.raises(wiring.NoWriterError, match="read-only"):
        wiring.writer_for("lab")


def test_a_plan_that_nobody_may_write_any_more_holds_no_device(lab: Lab):
    def close(point: str) -> None:
        if point == "now writing":
            text = lab.file.read_text(encoding="utf-8")
            told = text.replace("writer: unguarded", "writer: none")
            lab.file.write_text(told, encoding="utf-8")

    run = lab.execute(lab.start("one"), close)
    assert run.state == "failed"
    assert "Nothing was written: The cluster lab is read-only here." in run.reason
    assert reservations.reserved(lab.cluster, but=None) == []
