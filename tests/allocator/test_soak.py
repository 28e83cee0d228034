"""The fight for devices for a long time, with everything that goes wrong at once.

``make soak``; ``DRA_PORTAL_SOAK_SECONDS`` says how long. Every round has another seed,
which a failure names.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from typing import Any

import pytest
from django.db import connection

from allocator.services import start_batch
from cluster.standin.faults import Fault
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

SECONDS = float(os.environ.get("DRA_PORTAL_SOAK_SECONDS", "1800"))

pytestmark = [
    pytest.mark.soak,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(SECONDS + 1200),
]

NODES = 20
PER_NODE = 5
CLAIMS = 200
RIVALS = 20
_AWAY = 0.2
_ONE_OF = 20


@pytest.mark.parametrize("writer", ["carrier", "direct"])
def test_two_hundred_claims_and_a_hundred_devices(
    lab: Lab, settings: Any, writer: str, capsys: pytest.CaptureFixture[str]
):
    settings.RUN_VERIFY_SECONDS = 60
    settings.RUN_MIRROR_SECONDS = 60
    settings.RUN_WATCH_SECONDS = 90
    settings.RUN_SERVER_SECONDS = 45
    settings.RUN_TAKEOVERS = 20
    settings.RUN_MAX_ATTEMPTS = 5
    lab.use(writer)
    for number in range(NODES):
        lab.server.store.put(build.node(f"n{number}"))
        lab.server.store.put(build.slice_(f"n{number}", PER_NODE))
    end = time.monotonic() + SECONDS / 2
    seed, total, killed = 0, Counter[str](), 0
    while time.monotonic() < end:
        seed += 1
        ends, deaths = one_round(lab, seed)
        total += ends
        killed += deaths
        with capsys.disabled():
            print(f"{writer} round {seed}: {dict(ends)}, workers killed: {deaths}")  # noqa: T201
            for (state, reason), count in bad_ends("done", "no fit").most_common(12):
                print(f"  {count} × {state}: {reason}")  # noqa: T201
    with capsys.disabled():
        print(f"{writer}: {seed} rounds, {dict(total)}, workers killed: {killed}")  # noqa: T201


def one_round(lab: Lab, seed: int) -> tuple[Counter[str], int]:
    names = [f"s{seed}-{number:03}" for number in range(CLAIMS)]
    for name in names:
        lab.server.store.put(build.claim(name))
    stop = threading.Event()
    with (
        watched(lab),
        scheduler(lab, delay=random.Random(seed).choice([0.0, 0.05, 0.5])),
    ):
        contention.wait_for_claims(lab, names)
        started = start_batch(
            cluster=lab.cluster, claims=[("lab", n) for n in names], user=None
        )
        trouble = threading.Thread(target=disturb, args=(lab, seed, stop))
        trouble.start()
        try:
            contention.plan_together(started.batch.pk)
            fight = Fight(lab, kill_rate=0.02, seed=seed)
            fight.run(list(started.runs), seconds=600)
        finally:
            stop.set()
            trouble.join()
            lab.server.faults.clear()
        ends = check(lab, list(started.runs))
        empty(lab)
        contention.wait_for_the_mirror(lab)
    return ends, fight.killed


def disturb(lab: Lab, seed: int, stop: threading.Event) -> None:
    """Rivals come, streams are cut, the server stumbles and now and then goes away.

    One request of twenty is hit, whoever sends it: by the clock, nearly every request
    of a watch that looks again after seconds would be, and no run survives a watch that
    is away for minutes.
    """
    chance = random.Random(seed)
    coming = iter(range(RIVALS))
    faults = lab.server.faults
    planned_at = 0
    try:
        while not stop.wait(chance.uniform(0.05, 0.5)):
            if (number := next(coming, None)) is not None:
                rivals(lab, 1, start=seed * 1000 + number)
            if faults.requests >= planned_at + _ONE_OF:
                planned_at = faults.requests
                fault = chance.choice(
                    [Fault(503), Fault(after=True), Fault(500, after=True)]
                )
                faults.plan(fault, position=chance.randint(1, _ONE_OF))
            match chance.randrange(12):
                case 0 if chance.random() < _AWAY:
                    faults.cut_streams()
                case 1 if chance.random() < _AWAY:
                    faults.refuse_connections()
                    stop.wait(chance.uniform(1, 6))
                    faults.accept_connections()
    finally:
        connection.close()


def empty(lab: Lab) -> None:
    """Everything of a round goes, so that the next begins with free devices."""
    for kind in ("Pod", "ResourceClaim"):
        for found in lab.server.store.objects(kind):
            lab.server.store.delete(kind, found["metadata"]["name"], "lab")
