"""Doors, the kit of pages, API manners."""

from __future__ import annotations

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "web"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from web import converters

        converters.register()
