"""Bearer tokens for tools. Browsers use the session, with CSRF."""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from web import tokens
from web.models import ApiToken


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>``; ``request.auth`` is the ApiToken."""

    keyword = "Bearer"

    def authenticate(
        self, request: Request
    ) -> tuple[AbstractBaseUser, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != self.keyword.lower().encode():
            return None
        if len(parts) != 2:
            raise AuthenticationFailed(
                "The Authorization header must be: Bearer <token>."
            )
        try:
            secret = parts[1].decode("ascii")
        except UnicodeDecodeError:
            raise AuthenticationFailed("The token is not valid.") from None
        token = tokens.verify(secret)
        if token is None:
            raise AuthenticationFailed("The token is unknown, revoked or expired.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return self.keyword
