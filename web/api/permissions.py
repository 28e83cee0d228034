"""Viewers read, operators act. A token never does more than its own role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from web.doors import Role, role_of
from web.models import ApiToken
from web.tokens import role_with

if TYPE_CHECKING:  # DRF's views import this module through the settings
    from rest_framework.views import APIView


def role_of_request(request: Request) -> Role | None:
    """The role of the signed-in user, capped by the token's; None: no role at all."""
    if isinstance(request.auth, ApiToken):
        return role_with(request.auth)
    return role_of(request.user)


class ViewerReads(BasePermission):
    """The default door: a viewer may read, an operator may also act."""

    message = (
        "This needs the role {role}: ask an administrator to add you to that group."
    )

    def has_permission(self, request: Request, view: APIView) -> bool:
        needed = self.needed(request)
        role = role_of_request(request)
        if role is None or role < needed:
            self.message = ViewerReads.message.format(role=needed.value)
            return False
        return True

    def needed(self, request: Request) -> Role:
        return Role.VIEWER if request.method in SAFE_METHODS else Role.OPERATOR


class ViewerAsks(ViewerReads):
    """For questions that are too long for an address: they change nothing."""

    def needed(self, request: Request) -> Role:
        return Role.VIEWER
