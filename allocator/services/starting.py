"""Starting and cancelling a run: what a person or a tool asks for."""

from __future__ import annotations

import contextlib
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import IntegrityError, transaction

from allocator.choices import FINAL, OPEN, RunState
from allocator.models import AllocationRun, RunTransition
from allocator.services.queueing import QueueError, enqueue
from allocator.services.states import RunMovedError, move
from claims.choices import ClaimState
from claims.models import ResourceClaim
from inventory.choices import Source
from inventory.models import Cluster, Node

User = AbstractBaseUser | AnonymousUser | None

PORTAL = "the portal"


class RunRefused(Exception):  # noqa: N818 (an answer to the user, named so in the API)
    """The run cannot be started or cancelled; the text is a sentence for the user."""


def start_run(
    *,
    cluster: Cluster,
    namespace: str,
    claim_name: str,
    user: User,
    node: str = "",
    dry_run: bool = False,
) -> AllocationRun:
    """Record a run for a pending claim and have a worker execute it after commit.

    ``node`` empty: the first node by name where the claim fits. ``dry_run`` plans
    and shows what would be written, also for a cluster that is read-only here.
    Raises RunRefused. Whether ``user`` may do this is the caller's question.
    """
    if not dry_run:
        _must_be_writable(cluster)
    claim = _pending_claim(cluster, namespace, claim_name)
    if node and not Node.objects.filter(cluster=cluster, name=node).exists():
        raise RunRefused(f"There is no node {node} in the cluster {cluster.name}.")
    try:
        with transaction.atomic():
            run = AllocationRun.objects.create(
                cluster=cluster,
                namespace=namespace,
                claim_name=claim_name,
                claim_uid=claim.uid,
                wanted_node=node,
                dry_run=dry_run,
                created_by_id=user.pk if user and user.is_authenticated else None,
            )
            RunTransition.objects.create(
                run=run, to_state=RunState.QUEUED, actor=_name(user)
            )
            transaction.on_commit(lambda: _tell_workers(run.pk))
    except IntegrityError:
        raise RunRefused(_already_open(cluster, namespace, claim_name)) from None
    run.refresh_from_db()
    return run


def cancel_run(*, run: AllocationRun, user: User) -> AllocationRun:
    """Cancel a run that has not begun to write. Raises RunRefused.

    The worker that is on it finds out at its next step and stops.
    """
    while True:
        run.refresh_from_db()
        if run.state in FINAL:
            raise RunRefused(f"The run is over: {run.get_state_display()}.")
        if run.state not in {RunState.QUEUED, RunState.PLANNING}:
            raise RunRefused(
                "The run is writing to the cluster and cannot be undone here; wait for "
                "its end, which takes less than a minute."
            )
        try:
            move(
                run,
                RunState.CANCELLED,
                actor=_name(user),
                reason=f"Cancelled by {_name(user)}.",
            )
        except RunMovedError:
            continue  # it went a step further meanwhile: look again
        return run


def _must_be_writable(cluster: Cluster) -> None:
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
    claim = ResourceClaim.objects.filter(
        cluster=cluster, namespace=namespace, name=name
    ).first()
    if claim is None:
        raise RunRefused(
            f"There is no claim {namespace}/{name} in the cluster {cluster.name}."
        )
    if claim.problem:
        raise RunRefused(f"The claim cannot be read: {claim.problem}")
    if claim.deleting:
        raise RunRefused("The claim is being deleted.")
    if claim.state != ClaimState.PENDING:
        raise RunRefused(f"The claim is not pending: it is {claim.state}.")
    return claim


def _already_open(cluster: Cluster, namespace: str, name: str) -> str:
    open_run = AllocationRun.objects.filter(
        cluster=cluster, namespace=namespace, claim_name=name, state__in=OPEN
    ).first()
    state = f" ({open_run.get_state_display()})" if open_run else ""
    return f"A run for this claim is already on its way{state}."


def _tell_workers(run_id: UUID) -> None:
    try:
        enqueue(run_id)
    except QueueError:
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


def _name(user: User) -> str:
    if user is None or not user.is_authenticated:
        return PORTAL
    return user.get_username()
