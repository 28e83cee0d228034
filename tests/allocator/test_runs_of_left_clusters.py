"""Runs that are under way when their cluster leaves clusters.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from allocator.choices import RepairAction
from allocator.models import AllocationRun, DeviceRepair, RepairStep
from allocator.repairs import doing
from allocator.services import RunBusyError, freshness, start_release
from cluster.config import load_clusters
from dra_portal.watching.clusters import sync_clusters
from inventory.models import Cluster
from tests.allocator.lab import KilledError, Lab, die_at, end_lease, states
from tests.allocator.test_resuming import THE_WAY
from tests.allocator.test_waiting_runs import wait_in_the_queue, waited

pytestmark = pytest.mark.django_db

LEFT = "The cluster lab has not been in clusters.yaml since"


@pytest.fixture
def patient(lab: Lab, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Lab:
    settings.RUN_WATCH_SECONDS = 60
    monkeypatch.setattr(freshness, "_HOLD", 0.1)
    return lab


def come_back(lab: Lab) -> None:
    Cluster.objects.update(origin=load_clusters(Path(lab.file))[0].origin)
    sync_clusters(load_clusters(Path(lab.file)))
    lab.sync()


def test_a_run_waits_for_a_slip_in_the_file_to_be_mended(patient: Lab) -> None:
    run = patient.start("one")
    sync_clusters([])
    run = wait_in_the_queue(patient, run)
    assert run.state == "queued"
    assert run.waits_for.startswith(f"Waits for the watch. {LEFT}")
    come_back(patient)
    assert states(patient.execute(run)) == THE_WAY


def test_one_that_has_waited_long_enough_ends_with_that_sentence(patient: Lab) -> None:
    run = patient.start("one")
    sync_clusters([])
    waited(wait_in_the_queue(patient, run), 61)
    run = patient.execute(run)
    assert run.state == "failed"
    assert run.reason.startswith(f"Nothing was written. {LEFT}")
    assert run.reason.endswith("Start again when it is back.")
    assert run.waits_for == ""


def test_so_it_is_with_one_that_takes_an_allocation_back(patient: Lab) -> None:
    patient.execute(patient.start("one"))
    patient.sync()
    run = start_release(
        cluster=patient.cluster, namespace="lab", claim_name="one", user=None
    )
    sync_clusters([])
    waited(wait_in_the_queue(patient, run), 61)
    run = patient.execute(run)
    assert run.state == "failed"
    assert LEFT in run.reason


@pytest.mark.parametrize("point", ["now planning", "now writing", "sent"])
def test_wherever_a_run_is_it_comes_to_an_end(patient: Lab, point: str) -> None:
    run = patient.start("one")
    with pytest.raises(KilledError):
        patient.execute(run, die_at(point))
    end_lease(run)
    sync_clusters([])
    patient.file.write_text("clusters: []\n", encoding="utf-8")
    for _ in range(5):
        try:
            patient.execute(run)
            break
        except RunBusyError:
            waited(AllocationRun.objects.get(pk=run.pk), 61)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "not in the clusters file" in run.reason or LEFT in run.reason


def test_a_step_of_a_repair_ends_with_that_sentence(patient: Lab) -> None:
    repair = DeviceRepair.objects.create(
        cluster=patient.cluster, driver="d", pool="p", device="x"
    )
    step = RepairStep.objects.create(
        repair=repair, action=RepairAction.QUARANTINE, actor="alice"
    )
    sync_clusters([])
    doing.do_step(step.pk)
    step.refresh_from_db()
    assert step.state == "failed"
    assert step.result.startswith(f"Nothing was written. {LEFT}")
