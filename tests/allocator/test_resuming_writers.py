"""A worker dies at each point of a carrier run and of a guarded one; the next finishes."""

from __future__ import annotations

import pytest

from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from tests.allocator.lab import KilledError, Lab, die_at, end_lease, states

pytestmark = pytest.mark.django_db

THE_WAY = ["queued", "planning", "writing", "verifying", "done"]
REQUESTS = {
    "carrier": ["carrier pod", "pin", "carrier pod removed"],
    "direct": [
        "guard",
        "barrier pod",
        "barrier pod removed",
        "finalizer",
        "status",
        "guard removed",
    ],
}
CASES = [
    *(
        (writer, f"before sending {step}")
        for writer in REQUESTS
        for step in REQUESTS[writer]
    ),
    *((writer, "sent") for writer in REQUESTS),
    *((writer, "before verifying") for writer in REQUESTS),
]


@pytest.mark.parametrize("writer", list(REQUESTS))
def test_the_requests_before_which_a_worker_is_killed_here_are_all_there_are(
    lab: Lab, writer: str
):
    lab.use(writer)
    seen: list[str] = []
    with ControlPlane(lab.server.store, Habits(delay=0.0)):
        lab.execute(lab.start("one"), seen.append)
    sent = {p.removeprefix("before sending ") for p in seen if "sending" in p}
    assert sent == set(REQUESTS[writer])


@pytest.mark.parametrize(("writer", "point"), CASES)
def test_a_run_whose_worker_died_is_finished_by_the_next(
    lab: Lab, writer: str, point: str
):
    lab.use(writer)

    with ControlPlane(lab.server.store, Habits(delay=0.0)):
        run = lab.start("one")
        with pytest.raises(KilledError):
            lab.execute(run, die_at(point))
        end_lease(run)
        run = lab.execute(run)

    assert states(run) == THE_WAY, run.reason
    assert lab.devices("one") == ["n0/gpu-0"]
    assert run.plan == lab.claim("one")["status"]["allocation"]
    assert run.attempts == 1
    assert lab.left_behind() == []
