from __future__ import annotations

import importlib

from django.apps import AppConfig

from web import converters


class WebConfig(AppConfig):
    name = "web"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        converters.register()
        # Registers itself; importing it earlier would import DRF before its settings.
        importlib.import_module("web.api.schema")
