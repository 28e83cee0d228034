"""Tables of what was: use over time, and what happened to objects.

Use is written by ``inventory.history`` for one sampler at a time; happenings by the
mirrors, in the transaction of the change itself.
"""

from __future__ import annotations

from django.db import models

from inventory.choices import Happened, UsageKind


class UsageNumbers(models.Model):
    """Devices by what can be done with them.

    Of a namespace ``in_use`` is the devices that its claims hold, ``pending`` its
    claims that have no allocation; the other numbers are 0. ``pending`` of anything
    else but the whole cluster is 0.
    """

    free = models.BigIntegerField(default=0)
    in_use = models.BigIntegerField(default=0)
    shared = models.BigIntegerField(default=0)
    blocked = models.BigIntegerField(default=0)
    tainted = models.BigIntegerField(default=0)
    incomplete = models.BigIntegerField(default=0)
    invalid = models.BigIntegerField(default=0)
    pending = models.BigIntegerField(default=0)

    class Meta:
        abstract = True


class UsageTrack(models.Model):
    """How far the samples of a cluster are; its row is the lock of whoever samples.

    Up to ``hours_until`` and ``days_until`` whole hours and days are summed up; up to
    ``packed_until`` changes are packed. At ``lost_at`` the mirror was last found not to
    be live: what was true around that time is not known.
    """

    cluster = models.OneToOneField(
        "inventory.Cluster", on_delete=models.CASCADE, related_name="+"
    )
    hours_until = models.DateTimeField(null=True, blank=True)
    days_until = models.DateTimeField(null=True, blank=True)
    packed_until = models.DateTimeField(null=True, blank=True)
    lost_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.cluster_id}"


class UsageCover(models.Model):
    """A time without gaps, from its first sample to its last."""

    cluster = models.ForeignKey(
        "inventory.Cluster", on_delete=models.CASCADE, related_name="+"
    )
    begin = models.DateTimeField()
    end = models.DateTimeField()

    class Meta:
        ordering = ["begin"]
        indexes = [models.Index(fields=["cluster", "end"], name="usagecover_by_end")]

    def __str__(self) -> str:
        return f"{self.begin} – {self.end}"


class UsageSeries(UsageNumbers):
    """What is counted: a class, driver, node or namespace, or all of a cluster.

    The numbers are those of the newest sample. One that has vanished has zeros.
    """

    cluster = models.ForeignKey(
        "inventory.Cluster", on_delete=models.CASCADE, related_name="+"
    )
    kind = models.CharField(max_length=16, choices=UsageKind)
    name = models.CharField(max_length=253, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "kind", "name"], name="usageseries_unique_name"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class UsageChange(UsageNumbers):
    """The numbers of a series from ``at`` until its next change.

    Where no :class:`UsageCover` is, nobody looked. Of days that are over they are in
    :class:`UsagePack`, but the last one of each series.
    """

    series = models.ForeignKey(
        UsageSeries, on_delete=models.CASCADE, related_name="changes", db_index=False
    )
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["series", "at"], name="usagechange_unique_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.series_id} {self.at}"


class UsagePack(models.Model):
    """Many numbers of one series in a few bytes; see :mod:`inventory.history.packing`.

    ``span`` 3,600: the sums of the hours of the day that begins at ``at``. 86,400: of
    the days of the 32 that begin there. A sum is numbers times the seconds for which
    they were true; divided by the seconds that were covered it is the average, and
    sums of neighbours add up. 60: every change of the day. A series without a row had
    nothing.
    """

    series = models.ForeignKey(
        UsageSeries, on_delete=models.CASCADE, related_name="packs", db_index=False
    )
    span = models.IntegerField()
    at = models.DateTimeField()
    data = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["series", "span", "at"], name="usagepack_unique_time"
            )
        ]
        indexes = [models.Index(fields=["span", "at"], name="usagepack_by_time")]

    def __str__(self) -> str:
        return f"{self.series_id} {self.at} {self.span} s"


class Happening(models.Model):
    """What the watch saw happen to one object, at the time when it saw it.

    ``name`` of a device is ``driver/pool/device``; ``uid`` is empty for it.
    ``detail`` holds what the words need: devices, nodes, keys of taints, a claim.
    """

    cluster = models.ForeignKey(
        "inventory.Cluster", on_delete=models.CASCADE, related_name="+"
    )
    at = models.DateTimeField()
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=63, blank=True)
    name = models.CharField(max_length=381)
    uid = models.CharField(max_length=64, blank=True)
    what = models.CharField(max_length=24, choices=Happened)
    detail = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["cluster", "at"], name="happening_by_time"),
            models.Index(
                fields=["cluster", "kind", "namespace", "name", "at"],
                name="happening_by_object",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}: {self.what}"
