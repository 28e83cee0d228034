"""The project itself: what has to be there when Django starts."""

from __future__ import annotations

import importlib

from django.apps import AppConfig


class DRAPortalConfig(AppConfig):
    name = "dra_portal"

    def ready(self) -> None:
        # They register themselves.
        importlib.import_module("dra_portal.checks")
        importlib.import_module("dra_portal.task_logs")
        importlib.import_module("dra_portal.task_metrics")
