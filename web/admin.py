"""Tokens in the admin site: to see whose they are and to revoke them, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from web import tokens
from web.models import ApiToken

if TYPE_CHECKING:
    Base = admin.ModelAdmin[ApiToken]
else:
    # Generic for the type checker alone.
    Base = admin.ModelAdmin


@admin.register(ApiToken)
class ApiTokenAdmin(Base):
    list_display = (
        "name",
        "user",
        "role",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = ("role",)
    search_fields = ("name", "user__username", "prefix")
    exclude = ("digest",)
    actions = ("revoke",)

    def has_add_permission(self, _request: HttpRequest) -> bool:
        """Only its owner sees the secret: nobody makes one for somebody else."""
        return False

    def has_change_permission(
        self, _request: HttpRequest, _obj: ApiToken | None = None
    ) -> bool:
        return False

    def has_view_permission(
        self, request: HttpRequest, _obj: ApiToken | None = None
    ) -> bool:
        return bool(request.user.is_superuser)

    def has_delete_permission(
        self, _request: HttpRequest, _obj: ApiToken | None = None
    ) -> bool:
        """Revoked tokens stay, to say what a key was."""
        return False

    @admin.action(description="Revoke the chosen tokens")
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiToken]) -> None:
        number = sum(tokens.revoke(token=token) for token in chosen)
        self.message_user(request, f"{number} revoked.")
