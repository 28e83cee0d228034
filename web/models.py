"""Doors: API tokens, namespaces of authors and failed logins."""

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


class NamespaceGrant(models.Model):
    """Namespaces in which one user, or every user of one group, may write as author.

    ``namespaces`` and ``clusters`` are names or patterns (``team-*``).
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="namespace_grants",
    )
    group = models.ForeignKey(
        "auth.Group",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="namespace_grants",
    )
    namespaces = models.CharField(
        max_length=63, help_text="A name, or a pattern: team-a, team-*, *."
    )
    clusters = models.CharField(
        max_length=63, default="*", help_text="A name, or a pattern; * means every one."
    )

    class Meta:
        ordering = ["namespaces", "clusters"]
        constraints = [
            models.CheckConstraint(
                name="namespacegrant_for_one",
                condition=models.Q(user=None) ^ models.Q(group=None),
                violation_error_message="Choose a user or a group, one of the two.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group}: {self.namespaces} ({self.clusters})"


class LoginFailure(models.Model):
    """A failed login, kept long enough to throttle the next ones."""

    key = models.CharField(max_length=200)
    """``user:<name>`` or ``ip:<address>``."""
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["key", "at"], name="loginfailure_by_key")]

    def __str__(self) -> str:
        return self.key
