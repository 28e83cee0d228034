"""Who is asking, and what they may do: bearer tokens and rules like RBAC's.

Without users everybody may do everything, as with an administrator's kubeconfig.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cluster.standin.answers import StatusError, unauthorized
from cluster.standin.kinds import Kind

ANONYMOUS_PATHS: Final = ("/version", "/livez", "/readyz", "/healthz")


@dataclass(frozen=True, slots=True)
class Rule:
    """Allows ``verbs`` on ``resources`` (plurals, ``plural/subresource`` or ``*``).

    ``namespaces`` None means everywhere, cluster-wide questions included; a rule
    for namespaces never answers a cluster-wide question.
    """

    verbs: tuple[str, ...]
    resources: tuple[str, ...]
    namespaces: tuple[str, ...] | None = None
    groups: tuple[str, ...] = ("*",)
    names: tuple[str, ...] | None = None
    """Names of objects, as RBAC's resourceNames."""

    def allows(
        self, verb: str, group: str, resource: str, namespace: str, name: str
    ) -> bool:
        return (
            ("*" in self.verbs or verb in self.verbs)
            and ("*" in self.groups or group in self.groups)
            and ("*" in self.resources or resource in self.resources)
            and (self.namespaces is None or namespace in self.namespaces)
            and (self.names is None or name in self.names)
        )


@dataclass(frozen=True, slots=True)
class User:
    """One person or service account. ``throttled``: every answer is 429."""

    name: str
    rules: tuple[Rule, ...] = ()
    groups: tuple[str, ...] = ("system:authenticated",)
    throttled: bool = False

    def may(
        self,
        verb: str,
        group: str,
        resource: str,
        namespace: str = "",
        name: str = "",
    ) -> bool:
        return any(
            rule.allows(verb, group, resource, namespace, name) for rule in self.rules
        )


ADMIN: Final = User(
    "admin",
    rules=(Rule(("*",), ("*",)),),
    groups=("system:masters", "system:authenticated"),
)
ANONYMOUS: Final = User("system:anonymous", groups=("system:unauthenticated",))


class Access:
    """The users of a server: token → user. Empty: everyone is :data:`ADMIN`."""

    def __init__(self, users: Mapping[str, User]) -> None:
        self._users = dict(users)

    def authenticate(self, header: str, impersonated: str) -> User:
        """The user of an Authorization header. Raises 401, 403 (impersonation)."""
        if not self._users:
            return ADMIN
        if not header:
            return ANONYMOUS
        scheme, _, token = header.partition(" ")
        user = self._users.get(token.strip())
        if scheme.lower() != "bearer" or user is None:
            raise unauthorized()
        return self._impersonate(user, impersonated) if impersonated else user

    def _impersonate(self, user: User, name: str) -> User:
        if not user.may("impersonate", "", "users", name=name):
            message = (
                f'users "{name}" is forbidden: User "{user.name}" cannot impersonate '
                'resource "users" in API group "" at the cluster scope'
            )
            details = {"name": name, "kind": "users"}
            raise StatusError(403, "Forbidden", message, details=details)
        known = {known.name: known for known in self._users.values()}
        return known.get(name, User(name))


def refusal(
    user: User, verb: str, kind: Kind, subresource: str, namespace: str, name: str
) -> StatusError | None:
    """403 if the user may not do this, else None."""
    resource = f"{kind.plural}/{subresource}" if subresource else kind.plural
    if user.may(verb, kind.group, resource, namespace, name):
        return None
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    named = f' "{name}"' if name else ""
    message = (
        f'{kind.qualified}{named} is forbidden: User "{user.name}" cannot {verb} '
        f'resource "{resource}" in API group "{kind.group}" {where}'
    )
    details = {"name": name, "group": kind.group, "kind": kind.plural}
    return StatusError(
        403,
        "Forbidden",
        message,
        details={key: value for key, value in details.items() if value},
    )


def refuse_path(user: User, verb: str, path: str) -> StatusError | None:
    """403 for an anonymous user who reads more than version and health."""
    if user is not ANONYMOUS or path in ANONYMOUS_PATHS:
        return None
    message = f'forbidden: User "{user.name}" cannot {verb} path "{path}"'
    return StatusError(403, "Forbidden", message, details={})
