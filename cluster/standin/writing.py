"""Create, update, patch and delete, with what makes two writers safe.

Each operation runs under the store's lock from reading to writing, as etcd's
transactions do.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from cluster.standin import checking, rules
from cluster.standin.answers import (
    Cause,
    StatusError,
    already_exists,
    bad_request,
    conflict,
    invalid,
    not_found,
)
from cluster.standin.defaults import fill
from cluster.standin.kinds import KINDS, Kind
from cluster.standin.listing import Scope
from cluster.standin.patches import PatchError, json_patch, merge, strategic
from cluster.standin.store import Entry, Store, now
from cluster.standin.versions import as_version, clone, from_version

Json = dict[str, Any]
MERGE: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
PATCH_TYPES: Final = (MERGE, JSON_PATCH, STRATEGIC)

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_KEPT: Final = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "selfLink",
)
"""Metadata that a client cannot change."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about. ``version`` is the API version the client speaks."""

    kind: Kind
    version: str
    namespace: str
    name: str = ""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Caller:
    """``refuse_binding(verb)`` is why the user may not touch an allocation, or None."""

    refuse_binding: Callable[[str], str | None]


class Writer:
    """All writes to one store. ``dry_run`` answers as usual and stores nothing."""

    def __init__(self, store: Store, *, seed: int | None = None) -> None:
        self._store = store
        self._random = random.Random(seed)  # noqa: S311 names, not secrets

    # --- create -----------------------------------------------------------

    def create(self, target: Target, obj: Json, *, dry_run: bool) -> Entry:
        """Raises 400, 404 (namespace), 409 or 422."""
        kind = target.kind
        body = _read_object(target, obj)
        meta = body["metadata"]
        with self._store.lock:
            if kind.namespaced and not self.namespace_exists(target.namespace):
                raise not_found(KINDS["Namespace"], target.namespace)
            self._name(kind, meta)
            if kind.namespaced:
                meta["namespace"] = target.namespace
            else:
                meta.pop("namespace", None)
            _clean_new(kind, body)
            checking.check(kind, body, labels=self._labels(target.namespace))
            if self._store.find(kind, target.namespace, meta["name"]):
                raise already_exists(kind, meta["name"])
            if dry_run:
                return Entry(kind, body, 0)
            return self._store.commit(kind, body)

    def namespace_exists(self, namespace: str) -> bool:
        """True also for one that only its objects make known, and for default."""
        if namespace == "default" or self._store.find(
            KINDS["Namespace"], "", namespace
        ):
            return True
        return any(
            entry.namespace == namespace
            for kind in KINDS.values()
            if kind.namespaced
            for entry in self._store.current(kind)[1]
        )

    def _labels(self, namespace: str) -> Json:
        """The labels of a namespace that there is."""
        entry = self._store.find(KINDS["Namespace"], "", namespace)
        found = entry.body["metadata"].get("labels") if entry else None
        return found if isinstance(found, dict) else {}

    def _name(self, kind: Kind, meta: Json) -> None:
        """Make the name that generateName asks for; what is wrong with it is 422.

        Of kinds whose form is checked, that comes with all else that is wrong.
        """
        checked = kind.name in checking.CHECKED
        if not meta.get("name"):
            prefix = meta.get("generateName")
            if not prefix:
                if checked:
                    return
                message = "Required value: name or generateName is required"
                cause = Cause("FieldValueRequired", message, "metadata.name")
                raise invalid(kind, "", [cause])
            meta["name"] = prefix + self.suffix()
        if not checked:
            rules.check_name(kind, str(meta["name"]))

    def suffix(self) -> str:
        """Five characters as Kubernetes appends them to generateName."""
        return "".join(self._random.choices(_LETTERS, k=5))

    # --- update and patch -------------------------------------------------

    def replace(
        self, target: Target, obj: Json, caller: Caller, *, dry_run: bool
    ) -> Entry:
        """PUT. Raises 400, 404, 409 or 422."""
        body = _read_object(target, obj)
        with self._store.lock:
            old = self.read(target)
            rules.check_identity(target.kind, old.body, body, patch=False)
            return self._write(target, old, body, caller, "update", dry_run=dry_run)

    def patch(
        self,
        target: Target,
        patch: Any,
        content_type: str,
        caller: Caller,
        *,
        dry_run: bool,
    ) -> Entry:
        """PATCH of one of :data:`PATCH_TYPES`. Raises 400, 404, 409 or 422."""
        with self._store.lock:
            old = self.read(target)
            shown = as_version(target.kind, target.version, old.body)
            patched = _apply(shown, patch, content_type)
            body = from_version(target.kind, target.version, patched)
            if not isinstance(body.get("metadata"), dict):
                body["metadata"] = {}
            rules.check_identity(target.kind, old.body, body, patch=True)
            return self._write(target, old, body, caller, "patch", dry_run=dry_run)

    def read(self, target: Target) -> Entry:
        """The current object. Raises 404."""
        entry = self._store.find(target.kind, target.namespace, target.name)
        if entry is None:
            raise not_found(target.kind, target.name)
        return entry

    def _write(
        self,
        target: Target,
        old: Entry,
        body: Json,
        caller: Caller,
        verb: str,
        *,
        dry_run: bool,
    ) -> Entry:
        kind = target.kind
        if target.subresource == "status":
            new = {**old.body, "status": _without_empty(body.get("status"))}
            self._check_status(kind, old.body, new, caller, verb)
        else:
            new = self._main(kind, old.body, body)
        if new == old.body:
            return old
        new = clone(new)
        if dry_run:
            return Entry(kind, new, old.version)
        meta = new["metadata"]
        if meta.get("deletionTimestamp") and not meta.get("finalizers"):
            self._store.remove(old)
            return Entry(kind, new, old.version)
        return self._store.commit(kind, new)

    def _main(self, kind: Kind, old: Json, body: Json) -> Json:
        meta = {k: v for k, v in body["metadata"].items() if v not in (None, [], {})}
        before = old["metadata"]
        for field in (*_KEPT, "resourceVersion"):
            meta.pop(field, None)
            if field in before:
                meta[field] = before[field]
        new = {**body, "metadata": meta}
        if kind.status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        fill(kind, new)
        known = clone(old)
        fill(kind, known)  # what was loaded may lack them; the server reads them in
        rules.check_update(kind, known, new)
        labels = self._labels(str(before.get("namespace") or ""))
        checking.check(kind, new, old=old, labels=labels)
        if kind.generation and new.get("spec") != old.get("spec"):
            meta["generation"] = before.get("generation", 1) + 1
        return new

    def _check_status(
        self, kind: Kind, old: Json, new: Json, caller: Caller, verb: str
    ) -> None:
        if kind.name != "ResourceClaim":
            return
        if rules.changes_binding(old, new) and (why := caller.refuse_binding(verb)):
            message = (
                "Forbidden: changing status.allocation or status.reservedFor requires "
                f'resource="resourceclaims/binding", verb="{verb}" permission: {why}'
            )
            cause = Cause("FieldValueForbidden", message, "status.allocation")
            raise invalid(kind, old["metadata"]["name"], [cause])
        rules.check_claim_status(kind, old, new)

    # --- delete -----------------------------------------------------------

    def delete(self, target: Target, options: Json, *, dry_run: bool) -> Entry:
        """DELETE of one object: the last or the marked object. Raises 404 or 409."""
        with self._store.lock:
            entry = self.read(target)
            _check_preconditions(entry, options.get("preconditions") or {})
            return self._delete(entry, options, dry_run=dry_run)

    def delete_collection(
        self, scope: Scope, options: Json, *, dry_run: bool
    ) -> tuple[int, list[Entry]]:
        """DELETE of all objects of ``scope``: the version and what was deleted."""
        with self._store.lock:
            version, entries = self._store.current(scope.kind)
            deleted = [
                self._delete(entry, options, dry_run=dry_run)
                for entry in list(entries)
                if scope.holds(entry)
            ]
            return version, deleted

    def _delete(self, entry: Entry, options: Json, *, dry_run: bool) -> Entry:
        meta = dict(entry.body["metadata"])
        finalizers = list(meta.get("finalizers") or [])
        if options.get("propagationPolicy") == "Foreground":
            if "foregroundDeletion" not in finalizers:
                finalizers.append("foregroundDeletion")
            meta["finalizers"] = finalizers
        if not finalizers:
            return entry if dry_run else self._store.remove(entry)
        if meta == entry.body["metadata"] and meta.get("deletionTimestamp"):
            return entry
        meta.setdefault("deletionTimestamp", now())
        meta.setdefault("deletionGracePeriodSeconds", 0)
        body = {**clone(entry.body), "metadata": meta}
        if dry_run:
            return Entry(entry.kind, body, entry.version)
        return self._store.commit(entry.kind, body)


def _read_object(target: Target, obj: Json) -> Json:
    """The stored-form body of what a client sent. Raises 400."""
    kind = target.kind
    group = f"{kind.group}/{target.version}" if kind.group else target.version
    sent_kind, sent_version = obj.get("kind"), obj.get("apiVersion")
    if sent_kind and (sent_kind != kind.name or sent_version != group):
        raise bad_request(
            f"{sent_kind} in version {sent_version!r} cannot be handled as a "
            f"{kind.name} of {group}"
        )
    body = from_version(kind, target.version, obj)
    meta = body.setdefault("metadata", {})
    if not isinstance(meta, dict):
        raise bad_request("metadata is no object")
    name = meta.get("name")
    if target.name and name and name != target.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL "
            f"({target.name})"
        )
    namespace = meta.get("namespace")
    if kind.namespaced and namespace and namespace != target.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace "
            "sent on the request"
        )
    return body


def _clean_new(kind: Kind, body: Json) -> None:
    meta = body["metadata"]
    for field in (
        "resourceVersion",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "generation",
    ):
        meta.pop(field, None)
    meta["uid"] = str(uuid.uuid4())
    meta["creationTimestamp"] = now()
    if kind.status:
        body.pop("status", None)
    if kind.generation:
        meta["generation"] = 1
    fill(kind, body)


def _without_empty(status: Any) -> Json:
    """The server does not store empty lists and nulls of a status."""
    if not isinstance(status, dict):
        return {}
    return {key: value for key, value in status.items() if value not in (None, [], {})}


def _apply(shown: Json, patch: Any, content_type: str) -> Json:
    if content_type == JSON_PATCH:
        if not isinstance(patch, list):
            raise bad_request("error decoding patch: a JSON patch is a list")
        try:
            patched = json_patch(shown, patch)
        except PatchError as error:
            raise _refused_patch() from error
    else:
        if not isinstance(patch, dict):
            raise bad_request("error decoding patch: it is no object")
        try:
            function = merge if content_type == MERGE else strategic
            patched = function(shown, patch)
        except PatchError as error:
            raise bad_request(str(error)) from error
    if not isinstance(patched, dict):
        raise _refused_patch()
    return patched


def _refused_patch() -> StatusError:
    """422 as Kubernetes gives it for a failed JSON patch: it does not say why."""
    return StatusError(
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
        details={},
    )


def _check_preconditions(entry: Entry, wanted: Json) -> None:
    meta = entry.body["metadata"]
    for field, shown, end in (
        ("uid", "UID", "deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", "modified"),
    ):
        value = wanted.get(field)
        if value and value != meta[field]:
            raise conflict(
                entry.kind,
                meta["name"],
                f"the {shown} in the precondition ({value}) does not match the "
                f"{shown} in record ({meta[field]}). "
                f"The object might have been {end}",
                by_kind=True,
            )
