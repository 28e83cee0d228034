from __future__ import annotations

from django.apps import AppConfig


class DRAPortalConfig(AppConfig):
    name = "dra_portal"
