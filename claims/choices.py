"""States of a claim, and what is done to objects, as a person says them."""

from __future__ import annotations

from django.db import models


class ClaimState(models.TextChoices):
    PENDING = "pending", "pending"
    ALLOCATED = "allocated", "allocated"
    RESERVED = "reserved", "reserved"
    IN_USE = "in use", "in use"
    DELETING = "deleting", "deleting"


class Verb(models.TextChoices):
    """What somebody wanted to do to an object of a cluster."""

    CREATE = "create", "create"
    UPDATE = "update", "change"
    DELETE = "delete", "delete"
