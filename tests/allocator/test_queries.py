"""What pages read about runs."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

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


def test_the_latest_run_of_each_claim_in_one_query(lab: Lab):
    lab.put(build.claim("two"), build.claim("three"))
    cancel_run(run=lab.start("one"), user=None)
    newest = lab.start("one")
    two = lab.start("two")

    with CaptureQueriesContext(connection) as captured:
        found = queries.latest_runs(
            lab.cluster, [("lab", "one"), ("lab", "two"), ("lab", "three")]
        )
    assert found == {("lab", "one"): newest, ("lab", "two"): two}
    assert len(captured) == 1
    assert queries.latest_run(lab.cluster, "lab", "one") == newest
    assert queries.latest_run(lab.cluster, "lab", "three") is None
    assert queries.runs_of_claim(lab.cluster, "lab", "one").count() == 2
    assert queries.latest_runs(lab.cluster, []) == {}


def test_open_runs_are_those_that_are_not_over(lab: Lab):
    lab.put(build.claim("two"))
    cancel_run(run=lab.start("one"), user=None)
    two = lab.start("two")
    assert list(queries.open_runs(lab.cluster)) == [two]


def test_the_timeline_says_how_long_each_step_took(lab: Lab):
    run = lab.execute(lab.start("one"))
    steps = queries.timeline(run)
    assert [s.transition.to_state for s in steps][-1] == "done"
    assert steps[0].elapsed is None
    assert all(s.elapsed is not None for s in steps[1:])


def test_every_transition_changes_the_number_that_streams_compare(lab: Lab):
    assert queries.newest_change(lab.cluster) == 0
    run = lab.start("one")
    before = queries.newest_change(lab.cluster)
    cancel_run(run=run, user=None)
    assert queries.newest_change(lab.cluster) > before > 0
