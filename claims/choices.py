"""States of a claim as a person says them."""

from __future__ import annotations

from django.db import models


class ClaimState(models.TextChoices):
    PENDING = "pending", "pending"
    ALLOCATED = "allocated", "allocated"
    RESERVED = "reserved", "reserved"
    IN_USE = "in use", "in use"
    DELETING = "deleting", "deleting"
