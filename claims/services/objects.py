"""Creating, changing and deleting objects of a cluster for somebody who is signed in.

Who may do that is the caller's question (:func:`check_may_write`). Where the clusters file says
``impersonate: true`` the API server sees the user, and its own rules decide; else the
portal's account writes, and the object carries the user's name as an annotation. Every
attempt is recorded and logged, with names and outcome and nothing of the content.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import structlog
from django.core.exceptions import PermissionDenied

from claims.choices import Verb
from claims.services.record import record
from cluster.objects import (
    CreateOutcome,
    DeleteOutcome,
    Expected,
    Forbidden,
    Outcome,
    UpdateOutcome,
)
from inventory import clients
from inventory.choices import Source
from inventory.clients import Connected, NoClientError
from inventory.models import Cluster
from inventory.queries.leaving import why_left
from web.doors import AnyUser, Role, RoleMissing
from web.namespaces import check_namespace

Json = dict[str, Any]
log = structlog.get_logger("claims.objects")

CREATED_BY: Final = "dra-portal.io/created-by"
UPDATED_BY: Final = "dra-portal.io/updated-by"
_RESERVED: Final = "system:"
"""How names begin that Kubernetes keeps for its own components."""


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """The portal does not write to this cluster; nothing was sent."""

    reason: str


def role_for(kind: str) -> Role:
    """The role that may write objects of a kind: classes are everybody's.

    An author may write in some namespaces only: :func:`check_may_write`.
    """
    return Role.ADMIN if kind == "DeviceClass" else Role.AUTHOR


def check_may_write(
    cluster: Cluster, user: AnyUser, held: Role | None, kind: str, namespace: str
) -> None:
    """Raise :class:`~web.doors.RoleMissing` where the role ``held``, with which the user
    acts, may not write objects of ``kind``, and
    :class:`~web.namespaces.NamespaceMissing` where it may not do so in ``namespace``."""
    needed = role_for(kind)
    if held is None or not held.includes(needed):
        raise RoleMissing(needed, held)
    if needed is Role.AUTHOR:
        check_namespace(user, held, cluster.name, namespace)


def why_not(
    cluster: Cluster, user: AnyUser, held: Role | None, kind: str, namespace: str
) -> str:
    """What :func:`check_may_write` raises, as a sentence; empty where it raises nothing."""
    try:
        check_may_write(cluster, user, held, kind, namespace)
    except PermissionDenied as refused:
        return str(refused)
    return ""


def why_read_only(cluster: Cluster) -> str:
    """A sentence on why nothing can be written to the cluster; empty: it can be."""
    if why := why_left(cluster):
        return why
    if cluster.source == Source.DUMP:
        return (
            f"The cluster {cluster.name} is a dump file, so nothing can be written to "
            "it. Copy the YAML and apply it with kubectl where it belongs."
        )
    if cluster.read_only:
        return (
            f"The cluster {cluster.name} is read-only here (writer: none in the "
            "clusters file). Copy the YAML and apply it with kubectl, or ask an "
            "administrator of this portal to allow writing."
        )
    return ""


def author_sentence(
    cluster: Cluster, user: AnyUser, *, verb: Verb = Verb.CREATE
) -> str:
    """Under whose name a write would happen, for the page that offers it."""
    if why := why_read_only(cluster):
        return why
    try:
        config = clients.config_of(cluster.name)
    except NoClientError as error:
        return str(error)
    name = user.get_username()
    if config.impersonate:
        return (
            f"The API server sees the user {name}: what you may do is decided by the "
            "cluster's own rules."
        )
    if verb is Verb.DELETE:
        return (
            "The portal's own account deletes it; that it was you is kept in the "
            "portal's record."
        )
    note = UPDATED_BY if verb is Verb.UPDATE else CREATED_BY
    return (
        "The portal's own account writes; the object says that it was you in the "
        f"annotation {note}: {name}."
    )


def create(
    cluster: Cluster,
    user: AnyUser,
    value: Json,
    *,
    namespace: str = "",
    dry_run: bool = False,
) -> CreateOutcome | ReadOnly:
    """Create ``value``, a claim, template or class in any version.

    ``namespace`` empty: the object's own. It comes back as it is stored, in v1 form.
    """

    def send(to: Connected, as_user: str) -> CreateOutcome:
        marks = {} if as_user else {CREATED_BY: user.get_username()}
        signed = _signed(value, marks, drop=(CREATED_BY, UPDATED_BY))
        return to.objects.create(signed, namespace, dry_run=dry_run, as_user=as_user)

    what = _Write(cluster, user, Verb.CREATE, *_named(value, namespace), dry_run)
    return _done(what, send)


def update(
    cluster: Cluster,
    user: AnyUser,
    value: Json,
    expected: Expected,
    *,
    name: str,
    namespace: str = "",
    dry_run: bool = False,
) -> UpdateOutcome | ReadOnly:
    """Replace the object ``expected`` of this name by ``value``, its status excepted."""

    def send(to: Connected, as_user: str) -> UpdateOutcome:
        marks = {} if as_user else {UPDATED_BY: user.get_username()}
        signed = _signed(value, marks, drop=(UPDATED_BY,))
        return to.objects.update(
            signed, name, expected, namespace, dry_run=dry_run, as_user=as_user
        )

    kind = _named(value, namespace)[0]
    what = _Write(cluster, user, Verb.UPDATE, kind, namespace, name, dry_run)
    return _done(what, send)


def delete(
    cluster: Cluster,
    user: AnyUser,
    kind: str,
    expected: Expected,
    *,
    name: str,
    namespace: str = "",
    dry_run: bool = False,
) -> DeleteOutcome | ReadOnly:
    """Delete the object ``expected``, neither a newer nor another one of its name."""

    def send(to: Connected, as_user: str) -> DeleteOutcome:
        return to.objects.delete(
            kind, name, expected, namespace, dry_run=dry_run, as_user=as_user
        )

    what = _Write(cluster, user, Verb.DELETE, kind, namespace, name, dry_run)
    return _done(what, send)


@dataclass(frozen=True, slots=True)
class _Write:
    cluster: Cluster
    user: AnyUser
    verb: Verb
    kind: str
    namespace: str
    name: str
    dry_run: bool


def _done[Result: Outcome](
    what: _Write, send: Callable[[Connected, str], Result]
) -> Result | Forbidden | ReadOnly:
    outcome: Result | Forbidden | ReadOnly
    try:
        outcome = _attempted(what, send)
    except NoClientError as error:
        outcome = ReadOnly(str(error))
    stored = getattr(outcome, "object", None)
    meta = stored.get("metadata", {}) if isinstance(stored, dict) else {}
    # Of an object that was stored the server knows best what it is called.
    named = {
        "kind": what.kind,
        "namespace": str(meta.get("namespace") or what.namespace),
        "name": str(meta.get("name") or what.name),
    }
    said = type(outcome).__name__
    log.info(
        "object.written",
        cluster=what.cluster.name,
        **named,
        verb=what.verb.value,
        user=what.user.get_username(),
        dry_run=what.dry_run,
        outcome=said,
    )
    record(
        cluster=what.cluster,
        user=what.user.get_username(),
        **named,
        uid="" if what.dry_run else str(meta.get("uid") or ""),
        verb=what.verb,
        dry_run=what.dry_run,
        outcome=said,
    )
    return outcome


def _attempted[Result: Outcome](
    what: _Write, send: Callable[[Connected, str], Result]
) -> Result | Forbidden | ReadOnly:
    if why := why_read_only(what.cluster):
        return ReadOnly(why)
    to = clients.connected(what.cluster.name)
    if to.config.read_only:
        # The file was changed after the watch has read it last.
        return ReadOnly(f"The cluster {what.cluster.name} is read-only here.")
    if not to.config.impersonate:
        return send(to, "")
    name = what.user.get_username()
    if not name or name.startswith(_RESERVED) or not name.isprintable():
        return Forbidden(
            f"Nobody can write to a cluster as {name!r}: names that begin with "
            f"{_RESERVED} belong to Kubernetes itself, and others have to be "
            "printable. Sign in under another name."
        )
    return send(to, name)


def _named(value: Json, namespace: str) -> tuple[str, str, str]:
    """Kind, namespace and name as far as ``value`` says them in a sane way."""
    meta = value.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    texts = (value.get("kind"), namespace or meta.get("namespace"), meta.get("name"))
    kind, namespace, name = (text if isinstance(text, str) else "" for text in texts)
    return kind, namespace, name


def _signed(value: Json, marks: dict[str, str], *, drop: tuple[str, ...]) -> Json:
    """``value`` with the annotations ``marks``; what others said in ``drop`` is gone."""
    meta = value.get("metadata", {})
    notes = meta.get("annotations") if isinstance(meta, dict) else None
    if not isinstance(meta, dict) or not isinstance(notes, dict | None):
        return value  # the API server says what is wrong with it
    kept = {k: v for k, v in (notes or {}).items() if k not in drop} | marks
    meta = {k: v for k, v in meta.items() if k != "annotations"}
    return {**value, "metadata": {**meta, "annotations": kept} if kept else meta}
