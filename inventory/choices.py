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
