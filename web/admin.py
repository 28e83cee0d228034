"""The doors in the admin site: whose tokens there are, and where authors may write.

Tokens can be looked at and revoked, nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from web import tokens
from web.models import ApiToken, NamespaceGrant
from web.namespaces import check_pattern

if TYPE_CHECKING:
    Base = admin.ModelAdmin[ApiToken]
    GrantBase = admin.ModelAdmin[NamespaceGrant]
    GrantFormBase = forms.ModelForm[NamespaceGrant]
else:
    # Generic for the type checker alone.
    Base = GrantBase = admin.ModelAdmin
    GrantFormBase = forms.ModelForm


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


class NamespaceGrantForm(GrantFormBase):
    """Patterns that can match something; who is granted has to be one of two."""

    def clean_namespaces(self) -> str:
        return self._pattern("namespaces")

    def clean_clusters(self) -> str:
        return self._pattern("clusters")

    def _pattern(self, field: str) -> str:
        value = str(self.cleaned_data[field]).strip()
        check_pattern(value)
        return value


@admin.register(NamespaceGrant)
class NamespaceGrantAdmin(GrantBase):
    """Which namespaces a user, or everybody in a group, may write in as author."""

    form = NamespaceGrantForm
    list_display = ("namespaces", "clusters", "user", "group")
    search_fields = ("namespaces", "clusters", "user__username", "group__name")
    list_select_related = ("user", "group")
    autocomplete_fields = ("user", "group")
