"""Tables of what is asked for and what is held, and of what people write here.

Mirrored kinds are written by ``claims.mirror`` only; drafts and the record of
writes by ``claims.services`` only.
"""

from __future__ import annotations

import uuid
from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from claims.choices import ClaimState, Verb
from cluster.writeback import pins
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
        return "the portal's pin" if self.is_pin else f"{self.resource} {self.name}"

    @property
    def is_pin(self) -> bool:
        """Whether a portal keeps the allocation with it, and no workload."""
        return pins.is_pin({"apiGroup": self.api_group, "resource": self.resource})


class Pod(NamespacedObject):
    """Pods with resource claims, and those that wait for extended resources of DRA;
    others are not stored."""

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


WAITING_POD: Final = Q(node_name="", deleting=False) & ~Q(
    phase__in=("Succeeded", "Failed")
)
"""Condition for pods that wait for a node: one that has ended or goes away does not."""


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


class PodResource(models.Model):
    """An extended resource that a pod asks for, and how many of it at once."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    pod = models.ForeignKey(Pod, on_delete=models.CASCADE, related_name="resources")
    name = models.CharField(max_length=317)
    amount = models.BigIntegerField()

    class Meta:
        ordering = ["name"]
        indexes = [models.Index(fields=["cluster", "name"], name="podresource_by_name")]

    def __str__(self) -> str:
        return f"{self.amount:,} × {self.name}"


class Draft(models.Model):
    """YAML that one user is writing for one cluster; nobody else sees it.

    ``text`` is all there is: the form of the editor reads and writes it.
    ``selected`` is the position of the document that the form shows. ``revision``
    grows with every change, so that of two tabs the slower one learns of the other.
    ``page`` and ``turn`` say which open page of the editor saved it last, and with which
    of its requests; empty and 0 for others. ``origin`` says in words what the draft began
    as. The ``base_`` columns name the
    object of the cluster that is being edited, as it was when editing began; all of
    them are empty for something new.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts"
    )
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    title = models.CharField(max_length=200, blank=True)
    text = models.TextField(blank=True)
    origin = models.CharField(max_length=400, blank=True)
    selected = models.PositiveIntegerField(default=0)
    revision = models.PositiveBigIntegerField(default=1)
    page = models.CharField(max_length=36, blank=True)
    turn = models.PositiveBigIntegerField(default=0)
    base_kind = models.CharField(max_length=63, blank=True)
    base_namespace = models.CharField(max_length=63, blank=True)
    base_name = models.CharField(max_length=253, blank=True)
    base_uid = models.CharField(max_length=64, blank=True)
    base_resource_version = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["-updated_at", "pk"]
        indexes = [
            models.Index(
                fields=["user", "cluster", "updated_at"], name="draft_by_owner"
            )
        ]

    def __str__(self) -> str:
        return self.title or "Untitled draft"


class ObjectWrite(models.Model):
    """Who had what object created, changed or deleted, and how it ended.

    ``user`` is the name at that time, kept when the account is gone. ``name`` is
    empty when the object got none. ``outcome`` is the name of the outcome
    (``Created``, ``Invalid``, …) of :mod:`cluster.objects`.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    user = models.CharField(max_length=150)
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=63, blank=True)
    name = models.CharField(max_length=253, blank=True)
    uid = models.CharField(max_length=64, blank=True)
    verb = models.CharField(max_length=16, choices=Verb)
    dry_run = models.BooleanField(default=False)
    outcome = models.CharField(max_length=32)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["cluster", "at"], name="objectwrite_by_time"),
            models.Index(
                fields=["cluster", "kind", "namespace", "name"],
                name="objectwrite_by_object",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.kind} {self.namespace}/{self.name}: {self.outcome}"
