"""Doors: API tokens and failed logins."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class ApiToken(models.Model):
    """A tool's key. Only the SHA-256 of the secret is kept; ``prefix`` finds the row.

    ``role`` caps what the token may do, whatever its user may.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    role = models.CharField(max_length=16, default="viewer")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class LoginFailure(models.Model):
    """A failed login, kept long enough to throttle the next ones."""

    key = models.CharField(max_length=200)
    """``user:<name>`` or ``ip:<address>``."""
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["key", "at"], name="loginfailure_by_key")]

    def __str__(self) -> str:
        return self.key
