"""What a cluster has: nodes, slices, devices, classes, taint rules."""

from __future__ import annotations

from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "inventory"
    default_auto_field = "django.db.models.BigAutoField"
