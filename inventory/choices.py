"""States with the colour and icon that every page shows beside the word."""

from __future__ import annotations

from django.db import models


class Source(models.TextChoices):
    KUBECONFIG = "kubeconfig", "kubeconfig"
    IN_CLUSTER = "in-cluster", "in cluster"
    DUMP = "dump", "dump file"


class DeviceState(models.TextChoices):
    """What an operator can do with a device now (ui.md, "Devices")."""

    FREE = "free", "free"
    IN_USE = "in use", "in use"
    SHARED = "shared", "shared"
    BLOCKED = "blocked", "blocked by counters"
    TAINTED = "tainted", "tainted"
    INCOMPLETE = "incomplete", "pool incomplete"
    INVALID = "invalid", "pool invalid"


class UsageKind(models.TextChoices):
    """Whose devices are counted over time."""

    CLUSTER = "cluster", "cluster"
    CLASS = "class", "class"
    DRIVER = "driver", "driver"
    NODE = "node", "node"
    NAMESPACE = "namespace", "namespace"


class Happened(models.TextChoices):
    """What the watch can see happen to an object."""

    BEGUN = "begun", "first list"
    CREATED = "created", "created"
    ALLOCATED = "allocated", "allocated"
    RESERVED = "reserved", "reserved"
    STARTED = "in use", "in use"
    STOPPED = "not in use", "no longer in use"
    RELEASED = "released", "released"
    DEALLOCATED = "deallocated", "allocation taken away"
    DELETING = "deleting", "being deleted"
    DELETED = "deleted", "deleted"
    CHANGED = "changed", "changed"
    TAINTED = "tainted", "tainted"
    UNTAINTED = "untainted", "taint gone"
    HELD = "held", "held"
    LET_GO = "let go", "let go"
    CORDONED = "cordoned", "cordoned"
    UNCORDONED = "uncordoned", "uncordoned"
    READY = "ready", "ready"
    UNREADY = "not ready", "not ready"
