"""Runs, findings, repairs and what-if."""

from __future__ import annotations

from django.apps import AppConfig


class AllocatorConfig(AppConfig):
    name = "allocator"
    default_auto_field = "django.db.models.BigAutoField"
