"""Two watches, two beats and four workers with two children each, and all that befalls them.

``make soak``; each round allocates two hundred claims that fight for a hundred devices
while the stand-in's scheduler allocates too, as late as the round says.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection  # noqa: F401  # named by the mark below

from tests.allocator import disasters
from tests.allocator.contention import bad_ends, rivals
from tests.allocator.disasters import Scene, go_through, scene
from tests.allocator.test_soak import empty

SECONDS = float(os.environ.get("DRA_PORTAL_SOAK_SECONDS", "1800"))

pytestmark = [
    pytest.mark.soak,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        "connection.vendor != 'postgresql'", reason="stops its PostgreSQL"
    ),
    pytest.mark.timeout(SECONDS + 1800),
]

NAMES = ["watch1", "watch2", "beat1", "beat2"]
WORKERS = ["worker1", "worker2", "worker3", "worker4"]
NODES = 20
PER_NODE = 5
CLAIMS = 200
RIVALS = 20
ROUND = 900.0
"""Seconds after which a round has failed."""


@pytest.mark.parametrize("writer", ["carrier", "direct"])
@pytest.mark.parametrize("delay", [0.0, 2.0])
def test_two_hundred_claims_a_hundred_devices_and_everything_that_dies(
    tmp_path: Path,
    settings: Any,
    writer: str,
    delay: float,
    capsys: pytest.CaptureFixture[str],
):
    end = time.monotonic() + SECONDS / 4
    seed = 0
    with scene(
        tmp_path,
        settings,
        names=[*NAMES, *WORKERS],
        nodes=NODES,
        per_node=PER_NODE,
        writer=writer,
        delay=delay,
    ) as running:
        while seed == 0 or time.monotonic() < end:
            seed += 1
            ends = one_round(running, seed)
            with capsys.disabled():
                print(f"{writer}, {delay} s late, round {seed}: {dict(ends)}")  # noqa: T201
                for (state, reason), count in bad_ends("done", "no fit").most_common(
                    12
                ):
                    print(f"  {count} × {state}: {reason}")  # noqa: T201
            empty(running.lab)


@pytest.mark.parametrize(
    ("befalls", "how"),
    [
        (disasters.redis_dies, {"keeps": True}),
        (disasters.server_is_cut, {"writer": "direct"}),
        (disasters.postgres_restarts, {"writer": "direct"}),
        (disasters.all_of_a_kind_die, {"names": [*NAMES, "worker1", "worker2"]}),
    ],
    ids=["redis with its data", "server (direct)", "postgresql (direct)", "all"],
)
def test_every_run_of_a_batch_ends_well(
    tmp_path: Path, settings: Any, befalls: Callable[[Scene], None], how: dict[str, Any]
):
    with scene(tmp_path, settings, **{"names": ["watch", "worker1"], **how}) as running:
        go_through(running, befalls)


def one_round(running: Scene, seed: int) -> Counter[str]:
    chance = random.Random(seed)
    runs = running.allocate([f"s{seed}-{number:03}" for number in range(CLAIMS)])
    coming = iter(range(RIVALS))
    end = time.monotonic() + ROUND
    while disasters.open_ones():
        assert time.monotonic() < end, running.said()
        if (number := next(coming, None)) is not None:
            rivals(running.lab, 1, start=seed * 1000 + number)
        befall(running, chance)
        running.rest(chance.uniform(2, 8))
    return running.check(runs)


def befall(running: Scene, chance: random.Random) -> None:
    """One of what may happen: most often a worker dies, now and then nothing."""
    match chance.randrange(12):
        case 0:
            disasters.redis_dies(running)
        case 1:
            disasters.postgres_restarts(running)
        case 2:
            disasters.server_is_cut(running)
        case 3:
            disasters.streams_are_cut(running)
        case 4:
            running.kill_one("watch", chance)
        case 5:
            running.kill_one("beat", chance)
        case 6 | 7 | 8:
            disasters.a_worker_dies(running, chance)
