"""API tokens: keys for tools. Only the SHA-256 of a secret is ever stored.

A secret looks like ``drap_<prefix>_<random>``; the prefix finds the row, the digest
of the whole secret decides. 256 random bits need no slow hash.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from web.doors import Role, role_of
from web.models import ApiToken

_SECRET = re.compile(r"drap_(?P<prefix>[0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_NO_DIGEST: Final = hashlib.sha256(b"").hexdigest()
USE_RECORDED_EVERY: Final = timedelta(minutes=1)
"""How exact ``last_used_at`` is: a busy tool must not write at each request."""

TOKENS_PER_USER: Final = 50


class TokenError(Exception):
    """One sentence on why a token cannot be made."""


def create(
    *, user: User, name: str, role: Role, expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """Make a token and return it with its secret, which cannot be read again.

    Raises :class:`TokenError` when the role is higher than the user's own, the
    expiry is past, the name is empty or the user has too many tokens.
    """
    held = role_of(user)
    if held is None or not held.includes(role):
        raise TokenError(f"You cannot give a token the role “{role}”: you lack it.")
    if expires_at is not None and expires_at <= timezone.now():
        raise TokenError("The expiry has to be in the future.")
    if not name.strip():
        raise TokenError("Give the token a name that says who uses it.")
    if ApiToken.objects.filter(user=user, revoked_at=None).count() >= TOKENS_PER_USER:
        raise TokenError(
            f"You have {TOKENS_PER_USER} tokens. Revoke one that is not used first."
        )
    prefix = secrets.token_hex(6)
    secret = f"drap_{prefix}_{secrets.token_urlsafe(32)}"
    token = ApiToken.objects.create(
        user=user,
        name=name.strip()[:100],
        prefix=prefix,
        digest=_digest(secret),
        role=role.value,
        expires_at=expires_at,
    )
    return token, secret


def verify(secret: str) -> ApiToken | None:
    """The valid token of a secret, its user loaded; None for anything else.

    Revoked, expired, and tokens of inactive users are None too. Records the use.
    """
    found = _SECRET.fullmatch(secret)
    token = (
        ApiToken.objects.select_related("user").filter(prefix=found["prefix"]).first()
        if found
        else None
    )
    digest = token.digest if token else _NO_DIGEST
    right = hmac.compare_digest(_digest(secret), digest)
    if token is None or not right or not is_valid(token) or not token.user.is_active:
        return None
    _record_use(token)
    return token


def is_valid(token: ApiToken) -> bool:
    """Neither revoked nor expired."""
    expired = token.expires_at is not None and token.expires_at <= timezone.now()
    return token.revoked_at is None and not expired


def role_with(token: ApiToken) -> Role | None:
    """What the token may do now: its own role, capped by its user's role of today."""
    held = role_of(token.user)
    return min(Role(token.role), held) if held else None


def revoke(*, token: ApiToken) -> bool:
    """Whether this call revoked it (False: it was revoked before)."""
    now = timezone.now()
    changed = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(
        revoked_at=now
    )
    return bool(changed)


def _record_use(token: ApiToken) -> None:
    now = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_RECORDED_EVERY)
    ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
