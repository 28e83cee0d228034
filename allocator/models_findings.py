"""What is wrong in each cluster, since when, and who has taken note of it.

Written by ``allocator.findings`` only.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from dra.audits import MEANINGS, SEVERITIES, Code
from dra.audits.codes import Meaning
from inventory.models import Cluster


class Finding(models.Model):
    """One thing that is wrong, from when it was first seen until it was seen no more.

    ``key`` is a hash of code and subject; of open ones each exists once. ``kind``,
    ``namespace``, ``name``, ``device`` and ``detail`` are those of
    ``dra.audits.Subject``. ``rank`` sorts by severity, 0 is the worst.
    ``visible_from`` is later than ``since`` for what is normal for a moment; one that
    ends before then is forgotten.
    """

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="findings"
    )
    key = models.CharField(max_length=64)
    code = models.CharField(max_length=40)
    severity = models.CharField(max_length=8, choices=[(s, s) for s in SEVERITIES])
    rank = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=40)
    namespace = models.CharField(max_length=63, blank=True)
    name = models.CharField(max_length=400)
    device = models.CharField(max_length=400, blank=True)
    detail = models.TextField(blank=True)
    sentence = models.TextField()
    evidence = models.JSONField(default=dict)
    since = models.DateTimeField()
    visible_from = models.DateTimeField()
    last_seen = models.DateTimeField()
    """Of an open one: up to a minute old."""
    ended_at = models.DateTimeField(null=True, blank=True)
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    acknowledged_reason = models.TextField(blank=True)

    class Meta:
        ordering = ["rank", "code", "name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "key"],
                condition=models.Q(ended_at=None),
                name="finding_one_open_per_key",
            )
        ]
        indexes = [
            models.Index(fields=["cluster", "ended_at", "rank"], name="finding_open"),
            models.Index(fields=["cluster", "-since"], name="finding_by_since"),
        ]

    def __str__(self) -> str:
        return self.sentence

    @property
    def meaning(self) -> Meaning | None:
        """None for a code of another release of the portal."""
        return MEANINGS.get(Code(self.code)) if self.code in _CODES else None

    @property
    def title(self) -> str:
        return self.meaning.title if self.meaning else self.code

    @property
    def why(self) -> str:
        return self.meaning.why if self.meaning else ""

    @property
    def repair(self) -> str:
        return self.meaning.repair if self.meaning else ""


_CODES = frozenset(code.value for code in Code)


class FindingObject(models.Model):
    """An object on whose page a finding is shown.

    ``kind`` is a Kubernetes kind, "Pool", "Driver" or "Device"; names as in a subject.
    """

    finding = models.ForeignKey(
        Finding, on_delete=models.CASCADE, related_name="objects_concerned"
    )
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    namespace = models.CharField(max_length=63, blank=True)
    name = models.CharField(max_length=400)

    class Meta:
        indexes = [
            models.Index(
                fields=["cluster", "kind", "namespace", "name"],
                name="findingobject_by_name",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class FindingPass(models.Model):
    """The look for what is wrong in a cluster: at most one is under way.

    ``seq`` is the state of the mirror that the last one saw, ``due_at`` when the next
    has to come although nothing changes. ``changes`` grows whenever what is shown
    changes. ``errors``, ``warnings`` and ``infos`` count what is open, shown and not
    acknowledged. ``left_out`` counts what was found and is too much to keep;
    ``waits_for`` says in a sentence why no look was possible.
    """

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="finding_pass"
    )
    seq = models.BigIntegerField(default=-1)
    due_at = models.DateTimeField(null=True, blank=True)
    busy_until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    changes = models.BigIntegerField(default=0)
    errors = models.IntegerField(default=0)
    warnings = models.IntegerField(default=0)
    infos = models.IntegerField(default=0)
    left_out = models.IntegerField(default=0)
    waits_for = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.cluster_id}: {self.seq}"


class PublishedPool(models.Model):
    """The types of a pool's attributes when it was last looked at, and what is lost.

    ``types`` is a list of ``[types by attribute, names of devices]``, one entry for all
    devices that are alike; ``lost`` a list of
    ``[device, attribute, type it had, type it has, generation]``.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    driver = models.CharField(max_length=63)
    pool = models.CharField(max_length=253)
    generation = models.BigIntegerField(default=0)
    types = models.JSONField(default=list)
    lost = models.JSONField(default=list)
    losing = models.BooleanField(default=False)
    """Whether ``lost`` has an entry."""
    gone_at = models.DateTimeField(null=True, blank=True)
    """Since when no slice names it: it may come back with another driver release."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "driver", "pool"], name="publishedpool_unique_name"
            )
        ]

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"
