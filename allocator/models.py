"""Allocation runs and what happened in them. Written by ``allocator.services`` only."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from allocator.choices import OPEN, NodePolicy, RunKind, RunState
from allocator.models_findings import (
    Finding,
    FindingObject,
    FindingPass,
    PublishedPool,
)
from allocator.models_repair import DeviceRepair, RepairStep
from allocator.models_whatif import (
    HeadroomSample,
    HeadroomShape,
    SavedScenario,
    WhatIfRun,
)
from inventory.models import Cluster

__all__ = [
    "AllocationRun",
    "DeviceRepair",
    "Finding",
    "FindingObject",
    "FindingPass",
    "HeadroomSample",
    "HeadroomShape",
    "PlanCounter",
    "PublishedPool",
    "RepairStep",
    "RunTransition",
    "SavedScenario",
    "WaitingPass",
    "WaitingReason",
    "WhatIfRun",
]


class RunBatch(models.Model):
    """Claims that were asked for together: planned in order in one snapshot."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="run_batches"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"batch {self.pk}"


class AllocationRule(models.Model):
    """ "Allocate the claims of a namespace as they come", until somebody turns it off."""

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="allocation_rules"
    )
    namespace = models.CharField(max_length=63)
    policy = models.CharField(
        max_length=8, choices=NodePolicy, default=NodePolicy.FIRST
    )
    enabled = models.BooleanField(default=False)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["cluster", "namespace"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "namespace"], name="rule_one_per_namespace"
            )
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id}: {self.namespace}"


class AllocationRun(models.Model):
    """One attempt of the portal to allocate one claim, or to take an allocation back.

    The claim is named, not referenced: it may vanish while the run is kept.
    ``plan`` is the AllocationResult in Kubernetes' JSON, ``patch`` the requests
    that carry it (a list of ``{"request", "contentType", "body"}``; foreseen while
    planning, exactly what was sent afterwards), ``reason`` one sentence about the
    end; ``before`` is what the plan changes of the claim as it was then (finalizers,
    status). A claim has at most one open run that writes.

    ``stop_asked``: somebody wants the write stopped; ``committed``: the request that
    allocates may have been sent, so it cannot be stopped any more. At most one of the
    two is ever set first, see ``allocator.services.steps``.

    ``worker`` and ``lease_until`` say which worker is on it and until when nobody
    else may be; ``ticket`` is the place in the cluster's order of plans
    (``allocator.services.planning``), None while nothing is planned to be written.

    ``takeovers`` counts the workers that died on it since it moved last; ``waits_for``
    is one sentence about what it waits for that no worker can hasten, since
    ``waits_since`` (``allocator.services.awaiting``); else empty and None. ``looked_at``:
    when a worker last gave it back to the queue, to be looked at again in a moment.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="runs")
    namespace = models.CharField(max_length=63)
    claim_name = models.CharField(max_length=253)
    claim_uid = models.CharField(max_length=64, blank=True)
    kind = models.CharField(max_length=16, choices=RunKind, default=RunKind.ALLOCATE)
    state = models.CharField(max_length=16, choices=RunState, default=RunState.QUEUED)
    dry_run = models.BooleanField(default=False)
    override = models.BooleanField(default=False)
    """Deallocate although somebody reserved the claim, or holds its device too."""
    seen_version = models.CharField(max_length=64, blank=True)
    """The resourceVersion that was decided about; empty: whichever it has."""
    repair = models.ForeignKey(
        DeviceRepair, on_delete=models.SET_NULL, null=True, related_name="runs"
    )
    policy = models.CharField(
        max_length=8, choices=NodePolicy, default=NodePolicy.FIRST
    )
    wanted_node = models.CharField(max_length=253, blank=True)
    node_name = models.CharField(max_length=253, blank=True)
    attempts = models.IntegerField(default=0)
    snapshot_seq = models.BigIntegerField(null=True)
    plan = models.JSONField(null=True)
    patch = models.JSONField(null=True)
    before = models.JSONField(null=True)
    written_resource_version = models.CharField(max_length=64, blank=True)
    reason = models.TextField(blank=True)
    stop_asked = models.CharField(max_length=150, blank=True)
    committed = models.BooleanField(default=False)
    ticket = models.BigIntegerField(null=True, blank=True)
    worker = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    takeovers = models.IntegerField(default=0)
    waits_for = models.TextField(blank=True)
    waits_since = models.DateTimeField(null=True, blank=True)
    looked_at = models.DateTimeField(null=True, blank=True)
    batch = models.ForeignKey(
        RunBatch, on_delete=models.SET_NULL, null=True, related_name="runs"
    )
    position = models.IntegerField(default=0)
    """Place in the batch."""
    rule = models.ForeignKey(
        AllocationRule, on_delete=models.SET_NULL, null=True, related_name="runs"
    )
    retry_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, related_name="retries"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["cluster", "-created_at"], name="run_by_time"),
            models.Index(
                fields=["cluster", "namespace", "claim_name"], name="run_by_claim"
            ),
            models.Index(fields=["state"], name="run_by_state"),
            models.Index(fields=["cluster", "ticket"], name="run_by_ticket"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "namespace", "claim_name"],
                condition=models.Q(state__in=sorted(OPEN), dry_run=False),
                name="run_one_open_per_claim",
            )
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.claim_name}: {self.state}"


class RunTransition(models.Model):
    """One change of a run's state: when, who, why."""

    run = models.ForeignKey(
        AllocationRun, on_delete=models.CASCADE, related_name="transitions"
    )
    at = models.DateTimeField(auto_now_add=True)
    from_state = models.CharField(max_length=16, choices=RunState, blank=True)
    to_state = models.CharField(max_length=16, choices=RunState)
    actor = models.CharField(max_length=150)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.from_state} → {self.to_state}"


class RunStep(models.Model):
    """A request of a run, recorded right before it was sent.

    ``attempt`` is that of the run; ``request`` as in its ``patch``. A worker that finds
    a step of this attempt knows that an earlier one may have sent it.
    """

    run = models.ForeignKey(
        AllocationRun, on_delete=models.CASCADE, related_name="steps"
    )
    at = models.DateTimeField(auto_now_add=True)
    attempt = models.IntegerField(default=0)
    step = models.CharField(max_length=32)
    request = models.JSONField(default=dict)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.step


class PoolLock(models.Model):
    """Which run writes to devices of a pool; ends by itself when its worker dies."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    driver = models.CharField(max_length=63)
    pool = models.CharField(max_length=253)
    owner = models.CharField(max_length=200, blank=True)
    """The worker as in the run's lease; empty: nobody."""
    run = models.ForeignKey(
        AllocationRun, on_delete=models.CASCADE, null=True, related_name="+"
    )
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "driver", "pool"], name="poollock_one_per_pool"
            )
        ]

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}: {self.owner or 'free'}"


class PlanCounter(models.Model):
    """Numbers the plans of one cluster; its row is the lock under which they are."""

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    value = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.cluster_id}: {self.value}"


class WaitingReason(models.Model):
    """Why a pending claim waits, as it was at ``seq``; one line for lists.

    The claim is named, not referenced, as in a run; a row of another ``claim_uid``
    tells of a claim that is gone. ``verdict`` is that of
    ``dra.allocation.explaining``. Written by ``allocator.services.waiting`` only.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    namespace = models.CharField(max_length=63)
    claim_name = models.CharField(max_length=253)
    claim_uid = models.CharField(max_length=64, blank=True)
    verdict = models.CharField(max_length=16)
    sentence = models.TextField()
    seq = models.BigIntegerField()
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "namespace", "claim_name"],
                name="waitingreason_one_per_claim",
            )
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.claim_name}: {self.verdict}"


class WaitingPass(models.Model):
    """The look at all pending claims of a cluster: at most one is under way.

    ``seq`` is what the last one that ended stood for, ``open`` how many claims it
    did not get to; ``busy_until`` is set while one is under way and ends by itself
    when its worker dies.
    """

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    seq = models.BigIntegerField(default=-1)
    open = models.IntegerField(default=0)
    busy_until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.cluster_id}: {self.seq}"
