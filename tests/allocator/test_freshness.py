"""How old the mirror may be before something is written."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from inventory.models import WatchState
from tests.allocator import builders as build
from tests.allocator.lab import Lab

pytestmark = pytest.mark.django_db


@pytest.fixture
def silent(lab: Lab, settings: Any) -> Lab:
    """The watch of claims has heard nothing for a minute, as in a quiet cluster."""
    settings.RUN_WATCH_SECONDS = 0
    quiet = timezone.now() - timedelta(seconds=60)
    WatchState.objects.filter(kind="ResourceClaim").update(alive_at=quiet)
    return lab


def test_a_silent_watch_will_do_when_the_server_has_the_same_claims(silent: Lab):
    assert silent.execute(silent.start("one")).state == "done"


def test_a_mirror_that_has_missed_a_claim_is_not_written_from(silent: Lab):
    silent.server.store.put(build.allocated("new", build.result("n0", "gpu-0")))
    run = silent.execute(silent.start("one"))
    assert run.state == "failed"
    assert "1 claims are not as the API server has them now" in run.reason
    assert "Nothing was written" in run.reason


def test_a_server_that_cannot_be_asked_stops_a_write_and_no_plan(silent: Lab):
    silent.server.faults.refuse_connections()
    run = silent.execute(silent.start("one"))
    assert run.state == "failed"
    assert "cannot be asked what is taken now" in run.reason
    assert silent.execute(silent.start("one", dry_run=True)).state == "done"


def test_the_server_is_asked_once_for_many_runs(silent: Lab):
    silent.put(build.claim("two"))
    quiet = timezone.now() - timedelta(seconds=60)
    WatchState.objects.filter(kind="ResourceClaim").update(alive_at=quiet)
    silent.execute(silent.start("one", dry_run=False))
    silent.server.faults.refuse_connections()
    WatchState.objects.filter(kind="ResourceClaim").update(alive_at=quiet)
    run = silent.execute(silent.start("two"))
    assert "cannot be asked" not in run.reason
