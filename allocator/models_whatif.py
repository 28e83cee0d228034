"""What-ifs: saved scenarios, their runs, and headroom over time.

Written by ``allocator.whatif`` only. Nothing here is ever sent to a cluster.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from allocator.choices import OPEN_WHAT_IFS, WhatIfState
from inventory.models import Cluster


class SavedScenario(models.Model):
    """A scenario that somebody keeps: ``document`` is its JSON, as people write it.

    ``shared``: everybody with a role may read, run and copy it; only its owner
    changes it. ``revision`` grows with every change, so that of two tabs the slower
    one learns of the other.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="scenarios"
    )
    name = models.CharField(max_length=200)
    document = models.JSONField()
    shared = models.BooleanField(default=False)
    revision = models.PositiveBigIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "pk"]
        indexes = [
            models.Index(fields=["cluster", "user", "name"], name="scenario_by_owner")
        ]

    def __str__(self) -> str:
        return self.name


class WhatIfRun(models.Model):
    """One answer of a scenario on one state of the cluster.

    ``document`` is the scenario as it was then, ``digest`` its hash, ``snapshot_seq``
    and ``snapshot_at`` the state of the mirror that was asked: equal digest and seq
    give equal results. ``result`` is in the form of
    :func:`allocator.whatif.results.stored`; while the run is open it holds what was
    found so far, if anything. ``step``, ``done`` and ``total`` say how far it is.
    ``previous`` is the run that this one asks again.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    scenario = models.ForeignKey(
        SavedScenario,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="runs",
    )
    previous = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    title = models.CharField(max_length=200, blank=True)
    document = models.JSONField()
    digest = models.CharField(max_length=64)
    state = models.CharField(
        max_length=16, choices=WhatIfState, default=WhatIfState.QUEUED
    )
    step = models.CharField(max_length=16, blank=True)
    done = models.IntegerField(default=0)
    total = models.IntegerField(default=0)
    cancel_asked = models.BooleanField(default=False)
    attempts = models.IntegerField(default=0)
    worker = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)
    fits = models.BooleanField(null=True, blank=True)
    complete = models.BooleanField(default=False)
    sentence = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    snapshot_seq = models.BigIntegerField(null=True, blank=True)
    snapshot_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "pk"]
        indexes = [
            models.Index(
                fields=["cluster", "user", "-created_at"], name="whatif_by_owner"
            ),
            # The sweep looks for open ones; there are never many.
            models.Index(
                fields=["lease_until"],
                condition=models.Q(state__in=sorted(OPEN_WHAT_IFS)),
                name="whatif_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title or self.pk}: {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_WHAT_IFS


class HeadroomShape(models.Model):
    """A shape of which people want to know how often it still fits.

    ``claims`` is a list of specs of ResourceClaims, what one pod would bring. A
    cluster without shapes of its own uses one device of each class.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    claims = models.JSONField()
    position = models.IntegerField(default=0)

    class Meta:
        ordering = ["position", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "name"], name="headroomshape_one_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name


class HeadroomSample(models.Model):
    """How many more of a shape fit, at one time or on average over a span.

    ``digest`` is the shape's, so that a shape that was changed begins a line of its
    own. ``span`` is 0 for a single look, else the seconds that were rolled up into
    this row; ``at`` is their beginning. ``fits`` is the mean then.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=16)
    span = models.IntegerField(default=0)
    at = models.DateTimeField()
    fits = models.FloatField()
    least = models.IntegerField()
    most = models.IntegerField()
    looks = models.IntegerField(default=1)
    capped = models.BooleanField(default=False)
    """At least so many: counting ended before the next one did not fit."""

    class Meta:
        ordering = ["at"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "digest", "span", "at"], name="headroomsample_once"
            )
        ]
        indexes = [models.Index(fields=["span", "at"], name="headroomsample_by_age")]

    def __str__(self) -> str:
        return f"{self.name}: {self.fits:g}"
