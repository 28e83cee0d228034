"""Tables of what is asked for and what is held. Written by ``claims.mirror`` only."""

from __future__ import annotations

from django.db import models

from claims.choices import ClaimState
from inventory.models import Cluster, NamespacedObject, namespaced, seq_index


class ResourceClaimTemplate(NamespacedObject):
    requests_text = models.TextField(blank=True)
    """The requests in words: "4 × gpu.nvidia.com, same numaNode"."""

    class Meta:
        constraints = namespaced("resourceclaimtemplate")
        indexes = [seq_index("resourceclaimtemplate")]


class ResourceClaim(NamespacedObject):
    state = models.CharField(max_length=16, choices=ClaimState)
    requests_text = models.TextField(blank=True)
    allocated = models.BooleanField(default=False)
    """status.allocation is set, with devices or without."""
    node_name = models.CharField(max_length=253, blank=True)
    """The only node of status.allocation.nodeSelector, when it names one."""
    device_count = models.IntegerField(default=0)
    consumer_count = models.IntegerField(default=0)
    admin_access = models.BooleanField(default=False)
    owner_kind = models.CharField(max_length=63, blank=True)
    owner_name = models.CharField(max_length=253, blank=True)
    template_name = models.CharField(max_length=253, blank=True)
    allocated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = namespaced("resourceclaim")
        indexes = [
            seq_index("resourceclaim"),
            models.Index(fields=["cluster", "state"], name="resourceclaim_by_state"),
            models.Index(fields=["cluster", "node_name"], name="resourceclaim_by_node"),
        ]


class ClaimRequest(models.Model):
    """One request or subrequest of a claim or of a template (exactly one is set)."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    claim = models.ForeignKey(
        ResourceClaim, on_delete=models.CASCADE, null=True, related_name="requests"
    )
    template = models.ForeignKey(
        ResourceClaimTemplate,
        on_delete=models.CASCADE,
        null=True,
        related_name="requests",
    )
    position = models.IntegerField()
    name = models.CharField(max_length=63)
    subrequest = models.CharField(max_length=63, blank=True)
    class_name = models.CharField(max_length=253, blank=True)
    mode = models.CharField(max_length=32, blank=True)
    count = models.BigIntegerField(default=0)
    admin_access = models.BooleanField(default=False)

    class Meta:
        ordering = ["position"]
        indexes = [
            models.Index(fields=["cluster", "class_name"], name="claimrequest_by_class")
        ]

    def __str__(self) -> str:
        return f"{self.name}/{self.subrequest}" if self.subrequest else self.name


class AllocatedDevice(models.Model):
    """One entry of a claim's status.allocation.devices.results."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    claim = models.ForeignKey(
        ResourceClaim, on_delete=models.CASCADE, related_name="devices"
    )
    position = models.IntegerField()
    request = models.CharField(max_length=127)
    driver = models.CharField(max_length=63)
    pool = models.CharField(max_length=253)
    device = models.CharField(max_length=63)
    admin_access = models.BooleanField(default=False)
    share_id = models.CharField(max_length=64, blank=True)
    consumed_capacity = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]
        indexes = [
            models.Index(
                fields=["cluster", "driver", "pool", "device"],
                name="allocateddevice_by_id",
            )
        ]

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class ClaimConsumer(models.Model):
    """One entry of a claim's status.reservedFor."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    claim = models.ForeignKey(
        ResourceClaim, on_delete=models.CASCADE, related_name="consumers"
    )
    api_group = models.CharField(max_length=253, blank=True)
    resource = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=64)

    class Meta:
        indexes = [models.Index(fields=["cluster", "uid"], name="claimconsumer_by_uid")]

    def __str__(self) -> str:
        return f"{self.resource} {self.name}"


class Pod(NamespacedObject):
    """Pods with resource claims; others are not stored."""

    phase = models.CharField(max_length=32, blank=True)
    node_name = models.CharField(max_length=253, blank=True)
    scheduling_message = models.TextField(blank=True)
    """Message of PodScheduled=False: what the scheduler itself said."""

    class Meta:
        constraints = namespaced("pod")
        indexes = [
            seq_index("pod"),
            models.Index(fields=["cluster", "node_name"], name="pod_by_node"),
            models.Index(fields=["cluster", "uid"], name="pod_by_uid"),
        ]


class PodGroup(NamespacedObject):
    class Meta:
        constraints = namespaced("podgroup")
        indexes = [seq_index("podgroup")]


class PodClaim(models.Model):
    """Which claim an entry of a pod's spec.resourceClaims means.

    ``claim_name`` is the named claim, or the generated one from the pod's
    status; empty while it has not been generated.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    pod = models.ForeignKey(Pod, on_delete=models.CASCADE, related_name="claims")
    namespace = models.CharField(max_length=63)
    entry = models.CharField(max_length=63)
    claim_name = models.CharField(max_length=253, blank=True)
    template_name = models.CharField(max_length=253, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["cluster", "namespace", "claim_name"], name="podclaim_by_claim"
            ),
            models.Index(
                fields=["cluster", "namespace", "template_name"],
                name="podclaim_by_template",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.entry}: {self.claim_name or self.template_name}"
