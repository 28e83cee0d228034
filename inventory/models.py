"""Tables of what a cluster offers. Rows of mirrored kinds are written by ``inventory.mirror`` only."""

from __future__ import annotations

from django.db import models

from dra.allocation.features import Features
from dra.validation.gates import Gates
from inventory.choices import DeviceState, Source


class Cluster(models.Model):
    """One Kubernetes cluster of ``clusters.yaml``. Holds no credential.

    ``seq`` counts every change of every mirrored object of this cluster; a row
    carries the value of its last change, so "what is new since N" is one query.

    ``left_at`` is set while ``clusters.yaml`` does not name it: nothing follows it then,
    and it is ``read_only`` (``inventory.queries.leaving``). ``deleted_by`` is who has it
    deleted, a user or the portal itself; from then on it is on its way out and does not
    come back (``inventory.services.leaving``).
    """

    name = models.SlugField(max_length=63, unique=True)
    source = models.CharField(max_length=16, choices=Source)
    origin = models.CharField(max_length=500, blank=True)
    read_only = models.BooleanField(default=False)
    version = models.CharField(max_length=100, blank=True)
    feature_gates = models.JSONField(default=dict, blank=True)
    seq = models.BigIntegerField(default=0)
    pruned_seq = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    left_at = models.DateTimeField(null=True, blank=True)
    deleted_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def features(self) -> Features:
        """The gates that change an allocation: those of the version, and what
        ``clusters.yaml`` says otherwise."""
        return Features.of_cluster(self.version, self.feature_gates)

    @property
    def gates(self) -> Gates:
        """The same with the gates that only the API server has."""
        return Gates.of_cluster(self.version, self.feature_gates)


class MirroredObject(models.Model):
    """What rows of every mirrored kind have.

    ``raw`` is the object in v1 form as the server sent it, unknown fields
    included. ``problem`` is one sentence when the object, or a quantity in a slice,
    could not be read; an object that cannot be read at all is shown and takes no
    part in anything.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=64, blank=True)
    resource_version = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(null=True, blank=True)
    deleting = models.BooleanField(default=False)
    seq = models.BigIntegerField(default=0)
    problem = models.TextField(blank=True)
    raw = models.JSONField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class NamespacedObject(MirroredObject):
    namespace = models.CharField(max_length=63)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def cluster_scoped(label: str) -> list[models.BaseConstraint]:
    return [
        models.UniqueConstraint(fields=["cluster", "name"], name=f"{label}_unique_name")
    ]


def namespaced(label: str) -> list[models.BaseConstraint]:
    return [
        models.UniqueConstraint(
            fields=["cluster", "namespace", "name"], name=f"{label}_unique_name"
        )
    ]


def seq_index(label: str) -> models.Index:
    """Snapshots refresh by "rows of this cluster with a greater seq"."""
    return models.Index(fields=["cluster", "seq"], name=f"{label}_by_seq")


class Namespace(MirroredObject):
    admin_access = models.BooleanField(default=False)

    class Meta:
        constraints = cluster_scoped("namespace")
        indexes = [seq_index("namespace")]


class Node(MirroredObject):
    ready = models.BooleanField(default=True)
    unschedulable = models.BooleanField(default=False)
    zone = models.CharField(max_length=63, blank=True)
    instance_type = models.CharField(max_length=63, blank=True)

    class Meta:
        constraints = cluster_scoped("node")
        indexes = [seq_index("node")]


class DeviceClass(MirroredObject):
    extended_resource_name = models.CharField(max_length=320, blank=True)

    class Meta:
        constraints = cluster_scoped("deviceclass")
        indexes = [seq_index("deviceclass")]


class DeviceTaintRule(MirroredObject):
    """``driver``, ``pool`` and ``device`` empty: the rule does not ask for it."""

    driver = models.CharField(max_length=63, blank=True)
    pool = models.CharField(max_length=253, blank=True)
    device = models.CharField(max_length=63, blank=True)
    effect = models.CharField(max_length=32, blank=True)

    class Meta:
        constraints = cluster_scoped("devicetaintrule")
        indexes = [seq_index("devicetaintrule")]


class Pool(models.Model):
    """Derived from the slices that name it; kept by the mirror with them.

    ``generation`` is the newest one seen, ``slices_wanted`` its
    resourceSliceCount, ``slices_present`` how many slices of it exist and
    ``slices_older`` how many of older generations. ``problem`` says in words why
    the pool is incomplete or invalid ("2 of 3 slices of generation 7").
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    driver = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    node_name = models.CharField(max_length=253, blank=True)
    generation = models.BigIntegerField(default=0)
    slices_wanted = models.BigIntegerField(default=0)
    slices_present = models.IntegerField(default=0)
    slices_older = models.IntegerField(default=0)
    device_count = models.IntegerField(default=0)
    counter_set_count = models.IntegerField(default=0)
    complete = models.BooleanField(default=False)
    valid = models.BooleanField(default=True)
    problem = models.TextField(blank=True)
    seq = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "driver", "name"], name="pool_unique_name"
            )
        ]
        indexes = [
            seq_index("pool"),
            models.Index(fields=["cluster", "node_name"], name="pool_by_node"),
        ]

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


class ResourceSlice(MirroredObject):
    driver = models.CharField(max_length=63, blank=True)
    pool_name = models.CharField(max_length=253, blank=True)
    generation = models.BigIntegerField(default=0)
    slice_count = models.BigIntegerField(default=0)
    node_name = models.CharField(max_length=253, blank=True)
    all_nodes = models.BooleanField(default=False)
    device_count = models.IntegerField(default=0)
    counter_set_count = models.IntegerField(default=0)

    class Meta:
        constraints = cluster_scoped("resourceslice")
        indexes = [
            seq_index("resourceslice"),
            models.Index(
                fields=["cluster", "driver", "pool_name"], name="resourceslice_by_pool"
            ),
            models.Index(fields=["cluster", "node_name"], name="resourceslice_by_node"),
        ]


class Device(models.Model):
    """One device of one slice; kept by the mirror with its slice.

    Only slices of their pool's newest generation have rows here: what an older one
    still publishes is in that slice's raw object and in no total.

    ``attributes`` maps the qualified name (``gpu.nvidia.com/type``) to
    ``{"string": "gpu"}``, ``capacity`` the qualified name to the published
    capacity object. ``taints`` are its own plus those of matching rules, each
    with ``"rule": name`` where a rule put it. ``facts`` is what text search
    reads: one ``\\n``-framed line ``name=value`` per attribute and capacity.
    ``state`` follows from taints, pool, claims and counters: the mirror computes
    it anew (``dra.usage``) whenever one of these changes; ``holder_count`` counts
    the claims that hold the device (admin access not counted).
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    slice = models.ForeignKey(
        ResourceSlice, on_delete=models.CASCADE, related_name="devices"
    )
    position = models.IntegerField()
    driver = models.CharField(max_length=63)
    pool = models.CharField(max_length=253)
    name = models.CharField(max_length=63)
    node_name = models.CharField(max_length=253, blank=True)
    shareable = models.BooleanField(default=False)
    tainted = models.BooleanField(default=False)
    state = models.CharField(
        max_length=16, choices=DeviceState, default=DeviceState.FREE
    )
    holder_count = models.IntegerField(default=0)
    attributes = models.JSONField(default=dict)
    capacity = models.JSONField(default=dict)
    counters = models.JSONField(default=list)
    taints = models.JSONField(default=list)
    facts = models.TextField(blank=True)
    seq = models.BigIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["slice", "position"], name="device_by_slice"),
            models.Index(
                fields=["cluster", "driver", "pool", "name"], name="device_by_id"
            ),
            models.Index(fields=["cluster", "node_name"], name="device_by_node"),
            models.Index(fields=["cluster", "state"], name="device_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.name}"


class Tombstone(models.Model):
    """A mirrored object that is gone; lets a snapshot refresh see deletions.

    ``kind`` is the Kubernetes kind. Tombstones up to ``Cluster.pruned_seq`` have
    been deleted: a snapshot older than that has to be built anew.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=63, blank=True)
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=64, blank=True)
    seq = models.BigIntegerField()
    deleted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [seq_index("tombstone")]

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class WatchState(models.Model):
    """What the watch of one kind of one cluster is doing."""

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="watches"
    )
    kind = models.CharField(max_length=63)
    api_version = models.CharField(max_length=100, blank=True)
    state = models.CharField(max_length=32, default="starting")
    error = models.TextField(blank=True)
    resource_version = models.CharField(max_length=64, blank=True)
    seq = models.BigIntegerField(default=0)
    """Cluster.seq of the last change of this kind: what the event stream compares."""
    object_count = models.IntegerField(default=0)
    problem_count = models.IntegerField(default=0)
    listed_at = models.DateTimeField(null=True, blank=True)
    event_at = models.DateTimeField(null=True, blank=True)
    """Last event or bookmark."""
    alive_at = models.DateTimeField(null=True, blank=True)
    """Last sign of life of the reflector: list, event, bookmark or a quiet stream's end."""
    relists = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "kind"], name="watchstate_unique_kind"
            )
        ]
        ordering = ["cluster", "kind"]

    def __str__(self) -> str:
        return f"{self.kind}: {self.state}"


class WatchLock(models.Model):
    """The one row that says which watch process writes (SQLite has no advisory lock)."""

    name = models.CharField(max_length=63, primary_key=True)
    owner = models.CharField(max_length=200)
    heartbeat = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.owner}"


from inventory import models_history as models_history  # noqa: E402  # its tables
