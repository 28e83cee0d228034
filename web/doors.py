"""Who may do what: four roles, each holding all that the lower ones may.

A role is a Django group of the same name (made by a migration); a superuser is an
admin. Where an author may write is said in ``web/namespaces.py``. A signed-in user without a role sees one page that says whom to ask.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase

type AnyUser = AbstractBaseUser | AnonymousUser
type ViewFunction = Callable[..., HttpResponseBase]


class Role(enum.StrEnum):
    """Ordered: ``Role.VIEWER < Role.AUTHOR < Role.OPERATOR < Role.ADMIN``."""

    VIEWER = "viewer"
    AUTHOR = "author"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return _RANKS[self]

    @property
    def may(self) -> str:
        """What the role is for, in words that finish "may …"."""
        return _MAY[self]

    def includes(self, other: Role) -> bool:
        """Whether this role may do all that ``other`` may."""
        return self.rank >= other.rank

    def __lt__(self, other: str) -> bool:
        return self.rank < Role(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Role(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Role(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Role(other).rank


_RANKS: Final = {Role.VIEWER: 1, Role.AUTHOR: 2, Role.OPERATOR: 3, Role.ADMIN: 4}
_MAY: Final = {
    Role.VIEWER: "look at everything",
    Role.AUTHOR: "also create, change and delete claims and templates, in namespaces that "
    "are given to them",
    Role.OPERATOR: "also start and cancel allocation runs, and create and delete claims in "
    "every namespace",
    Role.ADMIN: "also manage users and tokens, and create and delete classes",
}


def role_of(user: AnyUser | None) -> Role | None:
    """The highest role of an active user; None for strangers and users without one.

    One query the first time, remembered on the user object (so for one request).
    """
    if user is None or not user.is_authenticated or not user.is_active:
        return None
    if getattr(user, "is_superuser", False):
        return Role.ADMIN
    if not hasattr(user, "_portal_role"):
        names = set(user.groups.values_list("name", flat=True))  # type: ignore[attr-defined]  # AbstractBaseUser has no groups; ours do
        held = [role for role in Role if role.value in names]
        user._portal_role = max(held, default=None)  # type: ignore[attr-defined]  # a cache that lives as long as the request
    return user._portal_role  # type: ignore[attr-defined,no-any-return]  # set just above


class RoleMissing(PermissionDenied):
    """The 403 page's sentence: what is needed, what the user has."""

    def __init__(self, needed: Role, held: Role | None) -> None:
        self.needed = needed
        self.held = held
        if held is None:
            sentence = (
                "Your account has no role yet. Ask an administrator of this portal "
                f"for the role “{needed}” (it may {needed.may})."
            )
        else:
            sentence = (
                f"This needs the role “{needed}” and yours is “{held}”. "
                "Ask an administrator of this portal for it."
            )
        super().__init__(sentence)


def check(user: AnyUser, role: Role) -> None:
    """Raise :class:`RoleMissing` unless the user's role includes ``role``."""
    held = role_of(user)
    if held is None or not held.includes(role):
        raise RoleMissing(role, held)


def requires(role: Role) -> Callable[[ViewFunction], ViewFunction]:
    """Decorate a view function: strangers go to the login page, others need ``role``."""

    def decorate(view: ViewFunction) -> ViewFunction:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            check(request.user, role)
            return view(request, *args, **kwargs)

        guarded.required_role = role  # type: ignore[attr-defined]  # read by the test that walks all addresses
        return guarded

    return decorate


class RequiresRole:
    """Mixin of a class-based view, left of ``View``; ``required_role`` says which."""

    required_role: Role = Role.VIEWER

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        check(request.user, self.required_role)
        return super().dispatch(request, *args, **kwargs)  # type: ignore[misc]  # View comes next in the MRO
