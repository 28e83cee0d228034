"""Repairs of double bookings: what was decided, and each step that was taken.

Written by ``allocator.repairs`` only.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from allocator.choices import RepairAction, StepState
from allocator.models_findings import Finding
from inventory.models import Cluster


class DeviceRepair(models.Model):
    """The repair of one device that was booked twice, until its quarantine is lifted.

    ``finding`` is the one at which it was begun. ``survivor_*`` name the claim that is to
    keep the device, empty while nobody has decided. ``means`` (rule, node-taint) and
    ``quarantined_until`` are those of the quarantine that was put on last; whether it is
    there is what the mirror says.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="repairs"
    )
    finding = models.ForeignKey(
        Finding, on_delete=models.SET_NULL, null=True, related_name="repairs"
    )
    driver = models.CharField(max_length=63)
    pool = models.CharField(max_length=253)
    device = models.CharField(max_length=63)
    survivor_namespace = models.CharField(max_length=63, blank=True)
    survivor_name = models.CharField(max_length=253, blank=True)
    survivor_uid = models.CharField(max_length=64, blank=True)
    means = models.CharField(max_length=16, blank=True)
    quarantined_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "driver", "pool", "device"],
                condition=models.Q(ended_at=None),
                name="repair_one_open_per_device",
            )
        ]

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class RepairStep(models.Model):
    """One thing that somebody did about it: who, when, what came of it.

    ``claim_*`` name the claim that it was about, empty for the device itself. ``details``
    are what was asked for (``wish``, ``until``). A release and a rewriting are runs, whose
    state says how far they are; of others ``state`` does. ``busy_until`` is set while a
    worker is on it and ends by itself when that dies.
    """

    repair = models.ForeignKey(
        DeviceRepair, on_delete=models.CASCADE, related_name="steps"
    )
    action = models.CharField(max_length=16, choices=RepairAction)
    state = models.CharField(max_length=8, choices=StepState, default=StepState.ASKED)
    at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=150)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    claim_namespace = models.CharField(max_length=63, blank=True)
    claim_name = models.CharField(max_length=253, blank=True)
    claim_uid = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict)
    result = models.TextField(blank=True)
    """One sentence about the end."""
    missing = models.CharField(max_length=200, blank=True)
    """The right that the portal's account lacks."""
    requests = models.JSONField(default=list)
    """What was sent, as in a run's ``patch``."""
    run = models.OneToOneField(
        "AllocationRun",
        on_delete=models.SET_NULL,
        null=True,
        related_name="repair_step",
    )
    busy_until = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["at", "pk"]
        indexes = [models.Index(fields=["state"], name="repairstep_by_state")]
        constraints = [
            models.UniqueConstraint(
                fields=["repair"],
                condition=models.Q(state="asked", run=None),
                name="repairstep_one_asked",
            )
        ]

    def __str__(self) -> str:
        return f"{self.action}: {self.state}"
