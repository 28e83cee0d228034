"""What the watch tells of claims that runs work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import structlog
from django.db import OperationalError, connection
from structlog.testing import capture_logs

from allocator.choices import RunState
from allocator.models import AllocationRun
from allocator.services import cancel_run, start_run
from claims.mirror import ResourceClaimStore, store_for
from cluster.store import Event, EventType, State
from dra_portal.watching.runs import ClaimsOfRuns
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.allocator.builders import Mirror

pytestmark = pytest.mark.django_db


@pytest.fixture
def mirror() -> Mirror:
    mirror = Mirror()
    mirror.replace([*build.lab(), build.claim("one"), build.claim("two")])
    return mirror


@pytest.fixture
def store(mirror: Mirror) -> ClaimsOfRuns:
    inner = store_for("ResourceClaim", mirror.cluster.pk)
    return ClaimsOfRuns(inner, mirror.cluster.pk, "lab")


def start(mirror: Mirror, **how: Any) -> AllocationRun:
    cluster = Cluster.objects.get(pk=mirror.cluster.pk)
    with structlog.contextvars.bound_contextvars(request_id="asked-once"):
        return start_run(
            cluster=cluster, namespace="lab", claim_name="one", user=None, **how
        )


def told(store: ClaimsOfRuns, *claims: Any) -> list[dict[str, Any]]:
    events = [Event(EventType.MODIFIED, claim) for claim in claims]
    with capture_logs() as logs:
        store.apply(events, "900")
    return [dict(line) for line in logs]


def changed(name: str) -> Any:
    claim = build.claim(name)
    claim["metadata"]["resourceVersion"] = "900"
    return claim


def test_a_claim_of_an_open_run_is_told_with_both_ids(
    mirror: Mirror, store: ClaimsOfRuns
) -> None:
    run = start(mirror)
    (line,) = told(store, changed("one"), changed("two"))
    assert line["event"] == "watch.claim_of_run"
    assert (line["run"], line["request_id"]) == (str(run.pk), "asked-once")
    assert (line["claim"], line["resource_version"]) == ("lab/one", "900")
    assert (line["allocated"], line["deleted"]) == (False, False)


class SeenAtOnce(ResourceClaimStore):
    """A worker sees what is mirrored before the watch goes on, and ends its run."""

    def apply(self, events: Sequence[Event], resource_version: str) -> None:
        super().apply(events, resource_version)
        AllocationRun.objects.update(state=RunState.DONE)


def test_what_ends_a_run_is_told_however_fast_its_worker_is(mirror: Mirror) -> None:
    run = start(mirror)
    cluster = mirror.cluster.pk
    (line,) = told(ClaimsOfRuns(SeenAtOnce(cluster), cluster, "lab"), changed("one"))
    assert (line["event"], line["run"]) == ("watch.claim_of_run", str(run.pk))


def test_nothing_is_told_of_other_claims_of_plans_and_of_runs_that_are_over(
    mirror: Mirror, store: ClaimsOfRuns
) -> None:
    start(mirror, dry_run=True)
    assert told(store, changed("one")) == []
    cancel_run(run=start(mirror), user=None)
    assert told(store, changed("one"), changed("two")) == []


def test_what_cannot_be_told_is_mirrored_all_the_same(store: ClaimsOfRuns) -> None:
    def away(execute: Any, sql: str, *rest: Any) -> Any:
        if "allocator_allocationrun" in sql:
            raise OperationalError("gone away")
        return execute(sql, *rest)

    with connection.execute_wrapper(away):
        (line,) = told(store, changed("one"))
    assert line["event"] == "watch.runs_not_told"
    assert store.resume_from() == "900"


def test_it_is_a_store_like_the_one_behind_it(store: ClaimsOfRuns) -> None:
    store.replace([changed("one")], "901")
    store.bookmark("902")
    store.report(State.LIVE)
    assert store.resume_from() == "902"
