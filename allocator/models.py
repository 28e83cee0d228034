"""Allocation runs and what happened in them. Written by ``allocator.services`` only."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from allocator.choices import OPEN, RunState
from inventory.models import Cluster


class AllocationRun(models.Model):
    """One attempt of the portal to allocate one claim and write the result back.

    The claim is named, not referenced: it may vanish while the run is kept.
    ``plan`` is the AllocationResult in Kubernetes' JSON, ``patch`` the requests
    that carry it (a list of ``{"request", "contentType", "body"}``; foreseen while
    planning, exactly what was sent afterwards), ``reason`` one sentence about the
    end. A claim has at most one open run that writes.

    ``worker`` and ``lease_until`` say which worker is on it and until when nobody
    else may be; ``ticket`` is the place in the cluster's order of plans
    (``allocator.services.planning``), None while nothing is planned to be written.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="runs")
    namespace = models.CharField(max_length=63)
    claim_name = models.CharField(max_length=253)
    claim_uid = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=16, choices=RunState, default=RunState.QUEUED)
    dry_run = models.BooleanField(default=False)
    wanted_node = models.CharField(max_length=253, blank=True)
    node_name = models.CharField(max_length=253, blank=True)
    attempts = models.IntegerField(default=0)
    snapshot_seq = models.BigIntegerField(null=True)
    plan = models.JSONField(null=True)
    patch = models.JSONField(null=True)
    written_resource_version = models.CharField(max_length=64, blank=True)
    reason = models.TextField(blank=True)
    ticket = models.BigIntegerField(null=True, blank=True)
    worker = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
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
