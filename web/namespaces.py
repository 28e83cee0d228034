"""Namespaces in which somebody may write: given to authors one by one, all of them to operators.

A grant names a user or a group, namespaces and clusters, each as a name or a pattern like
``team-*``. Where no grant matches, an author may write nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q

from web.doors import AnyUser, Role
from web.models import NamespaceGrant

_PATTERN: Final = re.compile(r"[a-z0-9*?-]{1,63}")
_SHOWN: Final = 5


class NamespaceMissing(PermissionDenied):
    """The 403 page's sentence: where the author may write, and where not."""


def check_pattern(value: str) -> None:
    """Raise ValidationError unless ``value`` is a name of a namespace, or has ``*`` or ``?``."""
    if not _PATTERN.fullmatch(value):
        raise ValidationError(
            "Use lower case letters, digits and “-”, with “*” for any characters and “?” "
            "for one, at most 63: team-a, team-*."
        )


def grants_of(user: AnyUser) -> Sequence[tuple[str, str]]:
    """Pairs of patterns, of clusters and of namespaces, that are given to the user or to
    one of their groups. One query the first time, remembered on the user object."""
    if not hasattr(user, "_namespace_grants"):
        mine = Q(user_id=user.pk) | Q(group__user=user.pk)
        rows = NamespaceGrant.objects.filter(mine).distinct()
        pairs = rows.order_by("namespaces").values_list("clusters", "namespaces")
        user._namespace_grants = list(pairs)  # type: ignore[union-attr]  # a cache that lives as long as the request
    return user._namespace_grants  # type: ignore[union-attr,no-any-return]  # set just above


def may_write_in(
    user: AnyUser, held: Role | None, cluster: str, namespace: str
) -> bool:
    """Whether ``user``, acting with the role ``held``, may write in a namespace."""
    if held is None or held < Role.AUTHOR:
        return False
    return held > Role.AUTHOR or any(
        fnmatchcase(cluster, clusters) and fnmatchcase(namespace, namespaces)
        for clusters, namespaces in grants_of(user)
    )


def check_namespace(
    user: AnyUser, held: Role | None, cluster: str, namespace: str
) -> None:
    """Raise :class:`NamespaceMissing` where the user may not write in a namespace."""
    if not may_write_in(user, held, cluster, namespace):
        raise NamespaceMissing(refusal(user, cluster, namespace))


def refusal(user: AnyUser, cluster: str, namespace: str) -> str:
    """Why an author may not write in a namespace, and what to do."""
    given = [
        namespaces
        for clusters, namespaces in grants_of(user)
        if fnmatchcase(cluster, clusters)
    ]
    if not given:
        return (
            "Your role is “author” and no namespace of the cluster "
            f"{cluster} is given to you, so you cannot write in {namespace}. Ask an "
            "administrator of this portal for it."
        )
    more = f" and {len(given) - _SHOWN} more" if len(given) > _SHOWN else ""
    return (
        f"Your role is “author”: in the cluster {cluster} you may write in "
        f"{', '.join(given[:_SHOWN])}{more}, not in {namespace}. Choose one of these, or "
        "ask an administrator of this portal for it."
    )
