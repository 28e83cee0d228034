"""Doors, the kit of pages, API manners."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.apps import apps as present_apps
from django.apps.registry import Apps
from django.db import router
from django.db.models.signals import post_migrate


class WebConfig(AppConfig):
    name = "web"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from web import converters

        converters.register()
        post_migrate.connect(make_groups_of_roles, sender=self)


def make_groups_of_roles(using: str, apps: Apps = present_apps, **_: Any) -> None:
    """Make the groups that stand for roles where they are missing.

    After every ``migrate``, as Django makes its permissions, and not in migrations alone:
    what empties the tables (``flush``, the end of a test with real transactions) would
    leave a portal in which nobody can be given a role.
    """
    from web.doors import Role

    try:
        group = apps.get_model("auth", "Group")
    except LookupError:  # migrated backwards to before auth
        return
    if not router.allow_migrate_model(using, group):
        return
    groups = group._default_manager.using(using)
    for role in Role:
        groups.get_or_create(name=role.value)
