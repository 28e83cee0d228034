"""What pages read about runs."""

from __future__ import annotations

import pytest

from allocator import queries
from allocator.services import cancel_run
from tests.allocator import builders as build
from tests.allocator.builders import Mirror
from tests.allocator.lab import Lab

pytestmark = pytest.mark.django_db


def test_runs_come_newest_first_and_of_one_cluster(lab: Lab):
    other = Mirror("other")
    lab.put(build.claim("two"))
    first, second = lab.start("one"), lab.start("two")

    assert list(queries.runs(lab.cluster)) == [second, first]
    assert list(queries.runs()) == [second, first]
    assert list(queries.runs(other.cluster)) == []


def test_every_run_of_a_claim_is_found_by_its_name(lab: Lab):
    lab.put(build.claim("two"))
    cancel_run(run=lab.start("one"), user=None)
    newest = lab.start("one")
    lab.start("two")
    found = queries.runs_of_claim(lab.cluster, "lab", "one")
    assert (found.first(), found.count()) == (newest, 2)


def test_the_story_has_states_and_requests_in_order_with_their_times(lab: Lab):
    run = lab.execute(lab.start("one"))
    lines = queries.story(run)
    assert [line.state for line in lines] == [
        *("queued", "planning", "writing", "", "", "verifying", "done")
    ]
    assert [line.text.partition(":")[0] for line in lines[3:5]] == [
        "finalizer",
        "status",
    ]
    assert lines[0].after is None
    assert lines[-1].took is None
    assert all(line.after is not None for line in lines[1:])


def test_a_device_that_two_claims_hold_is_found_from_either(lab: Lab):
    lab.put(
        build.allocated("a", build.result("n0", "gpu-0")),
        build.allocated("b", build.result("n0", "gpu-0")),
        build.allocated("c", build.result("n0", "gpu-1")),
    )
    (found,) = queries.booked_twice(lab.cluster, "lab", "a")
    assert (found.claim_name, found.device) == ("b", "gpu-0")
    assert [b.claim_name for b in queries.booked_twice(lab.cluster, "lab", "b")] == [
        "a"
    ]
    assert queries.booked_twice(lab.cluster, "lab", "c") == []


def test_every_transition_changes_the_number_that_streams_compare(lab: Lab):
    assert queries.newest_changes(lab.cluster) == (0, 0)
    run = lab.start("one")
    before, _ = queries.newest_changes(lab.cluster)
    cancel_run(run=run, user=None)
    assert queries.newest_changes(lab.cluster)[0] > before > 0
