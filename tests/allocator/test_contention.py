"""Eight workers over a batch of claims that want more devices than there are."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.models import AllocationRun
from allocator.services import start_batch
from tests.allocator import builders as build
from tests.allocator import contention
from tests.allocator.contention import (
    Fight,
    bad_ends,
    check,
    rivals,
    scheduler,
    watched,
)
from tests.allocator.lab import Lab

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

NODES = 4
PER_NODE = 4
PATIENCE = 400
"""Seconds in which all is over, however busy the machine is."""


def be_patient(settings: Any) -> None:
    """What is late is no fault here, what is wrong is."""
    settings.RUN_VERIFY_SECONDS = settings.RUN_SERVER_SECONDS = 120
    settings.RUN_WATCH_SECONDS = 120
    # Not longer: a version that the mirror has gone past is waited for in vain.
    settings.RUN_MIRROR_SECONDS = 20


def prepare(lab: Lab, claims: int) -> list[str]:
    """Four nodes with four devices each; the names of our claims."""
    for number in range(NODES):
        lab.server.store.put(build.node(f"n{number}"))
        lab.server.store.put(build.slice_(f"n{number}", PER_NODE))
    names = [f"c{number:02}" for number in range(claims)]
    for name in names:
        lab.server.store.put(build.claim(name))
    lab.server.store.delete("ResourceClaim", "one", "lab")
    return names


def start(lab: Lab, names: list[str], **how: Any) -> Any:
    contention.wait_for_claims(lab, names)
    claims = [("lab", name) for name in names]
    return start_batch(cluster=lab.cluster, claims=claims, user=None, **how)


def test_without_rivals_every_device_is_given_once(lab: Lab, settings: Any):
    be_patient(settings)
    names = prepare(lab, 24)
    with watched(lab):
        started = start(lab, names)
        contention.plan_together(started.batch.pk)
        Fight(lab).run(list(started.runs), seconds=PATIENCE)
        ends = check(lab, list(started.runs))
    assert ends == {"done": NODES * PER_NODE, "no fit": 24 - NODES * PER_NODE}


@pytest.mark.parametrize("writer", ["carrier", "direct"])
def test_beside_a_scheduler_no_device_is_given_twice(
    lab: Lab, settings: Any, writer: str
):
    be_patient(settings)
    names = prepare(lab, 16)
    lab.use(writer)
    with watched(lab), scheduler(lab):
        started = start(lab, names, policy="spread")
        rivals(lab, 8)
        contention.plan_together(started.batch.pk)
        Fight(lab).run(list(started.runs), seconds=PATIENCE)
        ends = check(lab, list(started.runs))
    assert sum(ends.values()) == len(names)
    assert ends["done"] > 0, {run.reason for run in AllocationRun.objects.all()}


def test_workers_that_are_killed_lose_nothing(lab: Lab, settings: Any):
    be_patient(settings)
    settings.RUN_TAKEOVERS = 50
    names = prepare(lab, 12)
    lab.use("carrier")
    with watched(lab), scheduler(lab):
        started = start(lab, names)
        fight = Fight(lab, kill_rate=0.1, seed=7)
        fight.run(list(started.runs), seconds=PATIENCE)
        ends = check(lab, list(started.runs))
    assert fight.killed > 0
    assert ends == {"done": len(names)}, bad_ends("done")
