"""A claim that cannot be read keeps its devices; what cannot be told stops writing."""

from __future__ import annotations

import pytest

from allocator import snapshots
from dra.snapshot import Snapshot
from inventory.models import Device
from tests.allocator import builders as build
from tests.allocator.builders import Json, Mirror
from tests.allocator.lab import Lab, states

pytestmark = pytest.mark.django_db


def unreadable(name: str, *results: object) -> Json:
    made = build.allocated(name, *results)  # type: ignore[arg-type]  # broken on purpose
    made["spec"] = {"devices": {"requests": [{"name": 7}]}}
    return made


def test_a_run_does_not_take_the_device_of_an_unreadable_claim(lab: Lab):
    lab.put(unreadable("held", build.result("n0", "gpu-0")))

    run = lab.execute(lab.start("one"))

    assert run.state == "done", run.reason
    assert lab.devices("one") == ["n0/gpu-1"]
    assert Device.objects.get(pool="n0", name="gpu-0").state == "in use"


def test_a_run_writes_nothing_while_nobody_knows_what_is_free(lab: Lab):
    lab.put(unreadable("odd", {"driver": build.GPU, "pool": "n0", "device": 5}))

    run = lab.execute(lab.start("one"))

    assert states(run)[-1] == "failed"
    assert "Which devices the claim lab/odd holds cannot be told" in run.reason
    assert "results[0].device" in run.reason
    assert lab.devices("one") == []


def test_a_dry_run_shows_the_plan_and_the_doubt(lab: Lab):
    lab.put(unreadable("odd", "gpu-0"))

    run = lab.execute(lab.start("one", dry_run=True))

    assert run.state == "done"
    assert run.reason.startswith("Dry run: it fits on node n0. Nothing was written.")
    assert "the claim lab/odd holds cannot be told" in run.reason


def test_runs_go_on_when_the_claim_is_mended(lab: Lab):
    lab.put(unreadable("odd", "gpu-0"))
    assert lab.execute(lab.start("one")).state == "failed"
    lab.put(build.allocated("odd", build.result("n0", "gpu-0")))

    assert lab.execute(lab.start("one")).state == "done"
    assert lab.devices("one") == ["n0/gpu-1"]


def test_a_run_writes_nothing_while_a_taint_rule_cannot_be_read(lab: Lab):
    rule = build.taint_rule("odd", "gpu-0")
    lab.mirror.put(rule | {"spec": {"taint": 7}})

    run = lab.execute(lab.start("one"))

    assert states(run)[-1] == "failed"
    assert "the taint rule odd taints cannot be told" in run.reason
    assert "until that object is mended or gone" in run.reason
    assert lab.devices("one") == []
    lab.mirror.put(build.touched(rule))
    run = lab.execute(lab.start("one"))
    assert run.state == "done", run.reason
    assert lab.devices("one") == ["n0/gpu-1"]


def test_rows_give_the_holdings_and_the_doubts_that_the_objects_give():
    mirror = Mirror()
    objects = [
        *build.lab(),
        unreadable("held", build.result("n0", "gpu-0")),
        unreadable("odd", build.result("n1", "gpu-0"), 7),
        unreadable("share", build.result("n1", "gpu-1", shareID="s")),
    ]
    mirror.replace(objects)

    found = snapshots.current(mirror.cluster)

    assert found == Snapshot.build(objects)
    assert len(found.doubts) == 1
    mended = build.allocated("odd", build.result("n1", "gpu-0"))
    mirror.put(mended)
    assert snapshots.current(mirror.cluster) == Snapshot.build([*objects, mended])
    assert not snapshots.current(mirror.cluster).doubts
