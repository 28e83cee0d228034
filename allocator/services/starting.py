"""Starting and cancelling a run: what a person or a tool asks for."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from uuid import UUID

import structlog
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from allocator.choices import FINAL, OPEN, NodePolicy, RunKind, RunState
from allocator.models import (
    AllocationRule,
    AllocationRun,
    DeviceRepair,
    RunTransition,
)
from allocator.services import steps
from allocator.services.asked import asking
from allocator.services.queueing import QueueError, enqueue
from allocator.services.states import RunMovedError, move
from allocator.services.stranding import left_without
from claims.choices import ClaimState
from claims.models import ResourceClaim
from cluster.writeback import allocation_of, changes, reservations_of
from cluster.writeback.pins import is_pin
from inventory.choices import Source
from inventory.models import Cluster, Node
from inventory.queries.leaving import why_left

log = structlog.get_logger("allocator.runs")

User = AbstractBaseUser | AnonymousUser | None

PORTAL = "the portal"
_UNHEARD = (
    "The task queue does not answer, so no worker may have learned of this run yet. "
    "Nothing was written. It begins by itself some two minutes after the queue is back, "
    "unless it is cancelled before."
)
_LEFT_WITHOUT = (
    "A rewriting took the claim's allocation away and could not put it back, and its pods "
    "still use the devices: put it back, or end them, on the page of the repair."
)


class RunRefused(Exception):  # noqa: N818 (an answer to the user, named so in the API)
    """The run cannot be started or cancelled; the text is a sentence for the user."""


def start_run(
    *,
    cluster: Cluster,
    namespace: str,
    claim_name: str,
    user: User,
    node: str = "",
    policy: str = NodePolicy.FIRST,
    dry_run: bool = False,
    retry_of: AllocationRun | None = None,
    rule: AllocationRule | None = None,
) -> AllocationRun:
    """Record a run for a pending claim and have a worker execute it after commit.

    ``node`` empty: of the nodes where the claim fits, the one that ``policy`` likes
    best. ``dry_run`` plans and shows what would be written, also for a cluster that is
    read-only here. Raises RunRefused. Whether ``user`` may do this is the caller's
    question.
    """
    must_be_writable(cluster, dry_run=dry_run)
    claim = _pending_claim(cluster, namespace, claim_name)
    if node and not Node.objects.filter(cluster=cluster, name=node).exists():
        raise RunRefused(f"There is no node {node} in the cluster {cluster.name}.")
    return record_and_tell(
        AllocationRun(
            cluster=cluster,
            namespace=namespace,
            claim_name=claim_name,
            claim_uid=claim.uid,
            wanted_node=node,
            policy=policy,
            dry_run=dry_run,
            retry_of=retry_of,
            rule=rule,
        ),
        user,
    )


def start_release(
    *,
    cluster: Cluster,
    namespace: str,
    claim_name: str,
    user: User,
    dry_run: bool = False,
    override: bool = False,
    retry_of: AllocationRun | None = None,
    seen_version: str = "",
    repair: DeviceRepair | None = None,
) -> AllocationRun:
    """Record a run that takes a claim's allocation back.

    ``override``: although pods have reserved the claim, or another claim holds its
    device; whether ``user`` may say so is the caller's question. ``seen_version``: the
    resourceVersion of the claim that was decided about; another one ends the run. Raises
    RunRefused.
    """
    must_be_writable(cluster, dry_run=dry_run)
    claim = _readable_claim(cluster, namespace, claim_name)
    if allocation_of(claim.raw) is None:
        raise RunRefused("The claim holds no allocation, so there is nothing to free.")
    users = [r for r in reservations_of(claim.raw) if not is_pin(r)]
    if users and not override and not dry_run:
        named = ", ".join(changes.name_of(reservation) for reservation in users[:3])
        raise RunRefused(
            f"The claim is reserved by {named}. End what uses it first: the devices of "
            "a pod that runs would be given to others."
        )
    return record_and_tell(
        AllocationRun(
            kind=RunKind.DEALLOCATE,
            cluster=cluster,
            namespace=namespace,
            claim_name=claim_name,
            claim_uid=claim.uid,
            dry_run=dry_run,
            override=override,
            retry_of=retry_of,
            seen_version=seen_version,
            repair=repair,
        ),
        user,
    )


def start_rewriting(
    *,
    repair: DeviceRepair,
    namespace: str,
    claim_name: str,
    seen_version: str,
    user: User,
) -> AllocationRun:
    """Record a run that writes a claim's allocation anew as it is. Raises RunRefused.

    For the claim that keeps the device of ``repair``, which must be in quarantine.
    """
    must_be_writable(repair.cluster)
    claim = _readable_claim(repair.cluster, namespace, claim_name)
    if allocation_of(claim.raw) is None:
        raise RunRefused("The claim holds no allocation, so there is nothing to write.")
    return record_and_tell(
        AllocationRun(
            kind=RunKind.REWRITE,
            cluster=repair.cluster,
            namespace=namespace,
            claim_name=claim_name,
            claim_uid=claim.uid,
            seen_version=seen_version,
            repair=repair,
        ),
        user,
    )


def retry_run(
    *, run: AllocationRun, user: User, dry_run: bool | None = None
) -> AllocationRun:
    """A new run of the same kind for the same claim, which names ``run``.

    ``dry_run`` None: as ``run`` was; False makes what a plan has shown happen. An
    override is not repeated: it is asked for each time. Raises RunRefused.
    """
    if run.state in OPEN:
        raise RunRefused("The run is still under way; wait for its end or cancel it.")
    dry = run.dry_run if dry_run is None else dry_run
    if run.kind == RunKind.REWRITE:
        raise RunRefused("It belongs to a repair: do that step again there.")
    if run.kind == RunKind.DEALLOCATE:
        return start_release(
            cluster=run.cluster,
            namespace=run.namespace,
            claim_name=run.claim_name,
            user=user,
            dry_run=dry,
            retry_of=run,
        )
    return start_run(
        cluster=run.cluster,
        namespace=run.namespace,
        claim_name=run.claim_name,
        user=user,
        node=run.wanted_node,
        policy=run.policy,
        dry_run=dry,
        retry_of=run,
    )


def cancel_run(*, run: AllocationRun, user: User) -> AllocationRun:
    """Cancel a run before it has sent what cannot be undone. Raises RunRefused.

    The worker that is on it finds out at its next step; one that has put something into
    the cluster takes it away first, and only then the run is over.
    """
    while True:
        run.refresh_from_db()
        if run.state in FINAL:
            raise RunRefused(f"The run is over: {run.get_state_display()}.")
        if run.state == RunState.WRITING and not run.committed:
            if steps.ask_to_stop(run, name_of(user)):
                run.refresh_from_db()
                return run
            continue
        if run.state not in {RunState.QUEUED, RunState.PLANNING}:
            raise RunRefused(
                "The run is writing to the cluster and cannot be undone here; wait for "
                "its end, then deallocate the claim."
                if run.kind == RunKind.ALLOCATE
                else "The allocation is being written already; wait for the end."
                if run.kind == RunKind.REWRITE
                else "The allocation is being taken back already; wait for the end."
            )
        try:
            move(
                run,
                RunState.CANCELLED,
                actor=name_of(user),
                reason=f"Cancelled by {name_of(user)}.",
            )
        except RunMovedError:
            continue  # it went a step further meanwhile: look again
        return run


def record_and_tell(run: AllocationRun, user: User) -> AllocationRun:
    """Record the run and have a worker execute it after commit. Raises RunRefused."""
    record_run(run, user)
    transaction.on_commit(lambda: tell_workers(run.pk))
    run.refresh_from_db()
    return run


def record_run(run: AllocationRun, user: User) -> AllocationRun:
    """The run with its first transition. Raises RunRefused when one is under way."""
    recorded, under_way = record_runs([run], user)
    if not recorded:
        raise RunRefused(under_way[0][1])
    return run


def record_runs(
    runs: Sequence[AllocationRun], user: User
) -> tuple[list[AllocationRun], list[tuple[AllocationRun, str]]]:
    """Those that are recorded, each with its first transition, and the others with why.

    All are of one cluster. A claim has one run under way at most: where there is one, no
    other is recorded; nor is one that would give devices to a claim whose pods still use
    those that a rewriting took from it.
    """
    actor, details = name_of(user), asking()
    giving = [r for r in runs if r.kind == RunKind.ALLOCATE and not r.dry_run]
    uids = [run.claim_uid for run in giving]
    left = left_without(giving[0].cluster, uids) if giving else set()
    stranded = [run for run in giving if run.claim_uid in left]
    runs = [run for run in runs if run not in stranded]
    for run in runs:
        run.created_by_id = user.pk if user and user.is_authenticated else None
    with transaction.atomic():
        AllocationRun.objects.bulk_create(runs, ignore_conflicts=True)
        there = set(
            AllocationRun.objects.filter(pk__in=[run.pk for run in runs]).values_list(
                "pk", flat=True
            )
        )
        recorded = [run for run in runs if run.pk in there]
        RunTransition.objects.bulk_create(
            RunTransition(
                run=run, to_state=RunState.QUEUED, actor=actor, details=details
            )
            for run in recorded
        )
    for run in recorded:
        claim = f"{run.namespace}/{run.claim_name}"
        log.info("run.asked", run=str(run.pk), kind=str(run.kind), claim=claim)
    return recorded, [(run, _LEFT_WITHOUT) for run in stranded] + [
        (run, _already_open(run.cluster, run.namespace, run.claim_name))
        for run in runs
        if run.pk not in there
    ]


def must_be_writable(cluster: Cluster, *, dry_run: bool = False) -> None:
    """Raises RunRefused for a cluster that is read-only here. A dry run needs one that
    is followed: of any other the mirror is no ground for a plan."""
    if why := why_left(cluster):
        raise RunRefused(why)
    if dry_run:
        return
    if cluster.source == Source.DUMP:
        raise RunRefused(
            f"The cluster {cluster.name} is a dump file: nothing can be allocated in it. "
            "A dry run shows what would be."
        )
    if cluster.read_only:
        raise RunRefused(
            f"The cluster {cluster.name} is read-only here (writer: none in the clusters "
            "file). A dry run shows what would be allocated."
        )


def _pending_claim(cluster: Cluster, namespace: str, name: str) -> ResourceClaim:
    claim = _claim(cluster, namespace, name)
    why = pending_problem(claim, cluster, namespace, name)
    if claim is None or why:
        raise RunRefused(why)
    return claim


def pending_problem(
    claim: ResourceClaim | None, cluster: Cluster, namespace: str, name: str
) -> str:
    """Why the claim cannot be allocated, in a sentence; empty when it can."""
    if why := _unreadable(claim, cluster, namespace, name):
        return why
    assert claim is not None
    if claim.deleting:
        return "The claim is being deleted."
    if claim.state != ClaimState.PENDING:
        return f"The claim is not pending: it is {claim.state}."
    return ""


def _readable_claim(cluster: Cluster, namespace: str, name: str) -> ResourceClaim:
    claim = _claim(cluster, namespace, name)
    why = _unreadable(claim, cluster, namespace, name)
    if claim is None or why:
        raise RunRefused(why)
    return claim


def _claim(cluster: Cluster, namespace: str, name: str) -> ResourceClaim | None:
    return ResourceClaim.objects.filter(
        cluster=cluster, namespace=namespace, name=name
    ).first()


def _unreadable(
    claim: ResourceClaim | None, cluster: Cluster, namespace: str, name: str
) -> str:
    if claim is None:
        return f"There is no claim {namespace}/{name} in the cluster {cluster.name}."
    if claim.problem:
        return f"The claim cannot be read: {claim.problem}"
    return ""


def _already_open(cluster: Cluster, namespace: str, name: str) -> str:
    open_run = AllocationRun.objects.filter(
        cluster=cluster, namespace=namespace, claim_name=name, state__in=OPEN
    ).first()
    state = f" ({open_run.get_state_display()})" if open_run else ""
    return f"A run for this claim is already on its way{state}."


def tell_workers(run_id: UUID) -> None:
    """Have a worker execute the run; end it when nobody can be told.

    Where somebody may have been told, it is left to whoever it was, and to the periodic
    sweep; its row says so.
    """
    try:
        enqueue(run_id)
    except QueueError as error:
        if error.perhaps:
            untouched = AllocationRun.objects.filter(
                pk=run_id, state=RunState.QUEUED, worker=""
            )
            untouched.update(waits_for=_UNHEARD)
            return
        run = AllocationRun.objects.get(pk=run_id)
        # Moved: it was cancelled, or a worker found it all the same.
        with contextlib.suppress(RunMovedError):
            move(
                run,
                RunState.FAILED,
                actor=PORTAL,
                reason="The task queue cannot be reached, so no worker would learn of "
                "this run. Nothing was written; start it again when the queue is back.",
            )


def name_of(user: User) -> str:
    """As records name who did something."""
    if user is None or not user.is_authenticated:
        return PORTAL
    return user.get_username()
