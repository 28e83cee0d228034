from __future__ import annotations

import importlib

from django.apps import AppConfig


class DRAPortalConfig(AppConfig):
    name = "dra_portal"

    def ready(self) -> None:
        # Registers itself.
        importlib.import_module("dra_portal.checks")
