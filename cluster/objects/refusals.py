"""What an error answer means for somebody who writes an object.

Field paths come back in v1 form, whatever version was sent: the server of an old
version may name ``requests[0].count`` where v1 has ``requests[0].exactly.count``.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Final

from cluster.errors import ApiError, Forbidden, Invalid, Unauthorized
from cluster.objects import values
from cluster.objects.values import Cause
from cluster.resources import DRA, ServedResource

_STRICT: Final = re.compile(r'(?P<what>unknown|duplicate) field "(?P<path>[^"]*)"')
_UNREADABLE: Final = re.compile(
    r"cannot unmarshal (?P<found>.+?) into Go struct field "
    r"\w+\.(?P<path>\S+) of type (?P<wanted>\S+)"
)
_BY_RBAC: Final = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\w+) resource "(?P<resource>[^"]*)"'
)
_FLAT_REQUEST: Final = re.compile(
    r"(?P<at>\bdevices\.requests(?:\[\d+\])?)\.(?!exactly\b|firstAvailable\b|name\b)"
)
_FLAT: Final = ("v1beta1", "v1alpha3")
_SERVICE_ACCOUNT: Final = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class Act:
    """What was tried. ``as_user`` is set when it was tried in that user's name."""

    verb: str
    served: ServedResource
    namespace: str
    as_user: str = ""


def refusal(error: ApiError, act: Act) -> values.Invalid | values.Forbidden:
    """The outcome of an error that the same request would meet again."""
    if isinstance(error, Unauthorized):
        return unauthorized(error)
    if isinstance(error, Forbidden):
        return _forbidden(error, act)
    flat = act.served.version in _FLAT
    return values.Invalid(
        error.message or str(error), tuple(_causes(error, flat=flat)), error.code
    )


def unauthorized(error: Unauthorized) -> values.Forbidden:
    return values.Forbidden(f"{values.sentence(str(error))} Nothing was written.")


def _causes(error: ApiError, *, flat: bool) -> list[Cause]:
    found = _named_causes(error) if isinstance(error, Invalid) else _decoding(error)
    if not flat:
        return found
    return [
        Cause(_FLAT_REQUEST.sub(r"\g<at>.exactly.", c.field), c.message, c.reason)
        for c in found
    ]


def _named_causes(error: ApiError) -> list[Cause]:
    causes = error.details.get("causes")
    return [
        Cause(*(str(c.get(key) or "") for key in ("field", "message", "reason")))
        for c in (causes if isinstance(causes, list) else [])
        if isinstance(c, dict)
    ]


def _decoding(error: ApiError) -> list[Cause]:
    """The fields that the text of a 400 names."""
    strict = [
        Cause(
            found["path"],
            "No such field: nobody would read it. Check the spelling and the place."
            if found["what"] == "unknown"
            else "The field is given twice.",
            "FieldValueForbidden",
        )
        for found in _STRICT.finditer(error.message)
    ]
    if strict:
        return strict
    if found := _UNREADABLE.search(error.message):
        message = f"Must be {found['wanted']}, found {found['found']}"
        return [Cause(found["path"], message, "FieldValueTypeInvalid")]
    return []


# --- rights -------------------------------------------------------------------


def _forbidden(error: ApiError, act: Act) -> values.Forbidden:
    found = _BY_RBAC.search(error.message)
    if found is None:
        # A quota, a namespace that is going away, an admission plugin.
        return values.Forbidden(
            values.sentence(f"The API server does not allow it: {error}")
        )
    user = found["user"]
    if found["verb"] == "impersonate":
        return values.Forbidden(
            f"The portal's account {user} may not act as {act.as_user}. Nothing was "
            "written: let a cluster administrator grant it the verb impersonate on "
            "this user, or set impersonate: false in the clusters file. manage.py "
            "check_cluster prints one role for all who may write here.",
            missing=f"impersonate users {act.as_user}",
            grant=_grant_to_act_as(user, act.as_user),
        )
    resource = act.served.resource
    missing = f"{found['verb']} {found['resource']}"
    where = f" in the namespace {act.namespace}" if act.namespace else ""
    whose = f"The user {user}" if act.as_user else f"The portal's account {user}"
    return values.Forbidden(
        f"{whose} may not {found['verb']} {found['resource']}{where}. Nothing was "
        "written: ask a cluster administrator for the right.",
        missing=missing + where,
        grant=_grant(
            user,
            f"dra-portal-{resource.plural}",
            "get,create,update,delete",
            f"{resource.plural}.{DRA}",
            act.namespace,
        ),
    )


def _grant(user: str, role: str, verbs: str, resource: str, namespace: str) -> str:
    """Two shell commands that give ``user`` the right."""
    scope = "role" if namespace else "clusterrole"
    where = [f"--namespace={namespace}"] if namespace else []
    commands = (
        ["create", scope, role, f"--verb={verbs}", f"--resource={resource}", *where],
        [
            "create",
            f"{scope}binding",
            role,
            f"--{scope}={role}",
            _subject(user),
            *where,
        ],
    )
    return _lines(*commands)


def _grant_to_act_as(user: str, name: str) -> str:
    """For this one name: without it the portal could act as every user."""
    slug = "".join(c if c.isalnum() and c.isascii() else "-" for c in name.lower())
    role = f"dra-portal-impersonate-{slug.strip('-') or 'user'}"
    rule = ["--verb=impersonate", "--resource=users", f"--resource-name={name}"]
    return _lines(
        ["create", "clusterrole", role, *rule],
        ["create", "clusterrolebinding", role, f"--clusterrole={role}", _subject(user)],
    )


def _subject(user: str) -> str:
    if user.startswith(_SERVICE_ACCOUNT):
        return f"--serviceaccount={user.removeprefix(_SERVICE_ACCOUNT)}"
    return f"--user={user}"


def _lines(*commands: list[str]) -> str:
    return "\n".join(shlex.join(["kubectl", *command]) for command in commands)
