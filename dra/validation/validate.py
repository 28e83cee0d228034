"""The API server's answer before the API server is asked.

The way of a request through ``k8s.io/apiserver``: decode, default, convert,
compare with the address, drop what is switched off, validate, answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from dra.validation.causes import Cause, invalid, quoted, size, unique
from dra.validation.decoding import NO_RESOURCE, Decoded, Refused, decode
from dra.validation.deprecations import deprecated
from dra.validation.kinds import RULES, KindRules, Write
from dra.validation.metadata import (
    any_name,
    check_metadata,
    check_metadata_update,
    keep_for_status,
    keep_system_fields,
)
from dra.validation.outcome import Outcome, Refusal, Request
from dra.validation.policies import Panicked
from dra.validation.rules import Scope
from dra.validation.schema import COUNTED, GROUP, NAMESPACED, PLURALS, WITH_STATUS
from dra.validation.schema.scalars import compact_length, time_text
from dra.validation.versions import from_newest

type _Value = dict[str, Any]

GENERATED: Final = "xxxxx"
"""Stands for the five characters that the API server adds to generateName."""
_GENERATED_BASE: Final = 58
BODY_LIMIT: Final = 3 * 1024 * 1024
"""Bytes of JSON that one request may have."""


def validate(request: Request) -> Outcome:
    """Whether the write would be accepted, and what would be said or stored.

    Never raises for anything that JSON can hold. A kind that is not served is
    refused like everything else.
    """
    try:
        return _Validation(request).outcome()
    except Refused as refused:
        return Outcome(accepted=False, refusal=refused.refusal)
    except Panicked as panicked:
        message = f"the server closes the connection without an answer: {panicked}"
        return Outcome(accepted=False, refusal=Refusal(0, "ConnectionClosed", message))


class _Validation:
    def __init__(self, request: Request) -> None:
        self.request = request
        self.now = time_text(request.now or datetime.now(UTC))
        if request.kind not in RULES:
            raise Refused(404, "NotFound", NO_RESOURCE)
        self.rules: KindRules = RULES[request.kind]
        self.generated = False
        self.status = request.subresource == "status"
        if request.subresource and not (
            self.status and request.update and request.kind in WITH_STATUS
        ):
            raise Refused(404, "NotFound", NO_RESOURCE)

    def outcome(self) -> Outcome:
        if compact_length(self.request.object) > BODY_LIMIT:
            message = f"request entity too large: limit is {BODY_LIMIT}"
            raise Refused(413, "RequestEntityTooLarge", message)
        new = decode(self.request.kind, self.request.object, self.now)
        write = self._update(new) if self.request.update else self._create(new)
        causes = unique(self._lock(new, write) or self._causes(write))
        if not causes:
            _check_storable(write)
        answer = new.shape.write(
            from_newest(self.request.kind, new.version, write.value)
        )
        if self.generated:
            del answer["metadata"]["name"]
        return Outcome(
            accepted=not causes,
            causes=causes,
            object=answer,
            defaulted=dict(_added(self.request.object, answer)),
            warnings=tuple(self._warnings(new)),
        )

    # --- the two ways --------------------------------------------------------------

    def _create(self, new: Decoded) -> Write:
        value = new.value
        meta = value.setdefault("metadata", {})
        for name in _SERVER_SIDE:
            meta.pop(name, None)
        if self.request.kind in COUNTED:
            meta["generation"] = 1
        self._place(meta)
        prefix = meta.get("generateName", "")
        if prefix and not meta.get("name"):
            meta["name"] = _cut(prefix, _GENERATED_BASE) + GENERATED
            self.generated = True
        value.pop("status", None)
        self.rules.drop(value, None, self.request.features)
        return Write(
            value, None, status=False, scope=self._scope(), labels=self._labels(meta)
        )

    def _update(self, new: Decoded) -> Write:
        kind, value = self.request.kind, new.value
        meta = value.setdefault("metadata", {})
        name = meta.get("name", "")
        if self.request.old is None:
            message = f'{PLURALS[kind]}.{GROUP} "{name}" not found'
            raise Refused(404, "NotFound", message)
        old = decode(kind, self.request.old, self.now).value
        old_meta = old.setdefault("metadata", {})
        if name != old_meta.get("name", ""):
            message = (
                f"the name of the object ({name}) does not match the name on the URL "
                f"({old_meta.get('name', '')})"
            )
            raise Refused(400, "BadRequest", message, "metadata.name")
        self._place(meta)
        self._place(old_meta)
        self._preconditions(meta, old_meta)
        if self.status:
            value["spec"] = old.get("spec", {})
            keep_for_status(meta, old_meta)
        elif "status" in old:
            value["status"] = old["status"]
        else:
            value.pop("status", None)
        keep_system_fields(meta, old_meta)
        if self.status:
            self.rules.drop_status(value, old, self.request.features)
        else:
            self.rules.drop(value, old, self.request.features)
            self.rules.stamp(value, old, self.now)
        return Write(
            value,
            old,
            status=self.status,
            scope=self._scope(),
            labels=self._labels(meta),
        )

    def _place(self, meta: _Value) -> None:
        """Give the object the namespace of its address."""
        found, wanted = meta.get("namespace", ""), self.request.namespace
        if self.request.kind not in NAMESPACED:
            meta.pop("namespace", None)
            return
        if wanted is None:
            wanted = found
        elif found and found != wanted:
            message = (
                "the namespace of the provided object does not match the namespace "
                "sent on the request"
            )
            raise Refused(400, "BadRequest", message, "metadata.namespace")
        known = self.request.namespaces
        if wanted and known is not None and wanted not in known:
            message = f"namespaces {quoted(wanted)} not found"
            raise Refused(404, "NotFound", message, "metadata.namespace")
        if wanted:
            meta["namespace"] = wanted

    def _preconditions(self, meta: _Value, old: _Value) -> None:
        """What a write may say about the state that it starts from.

        The stored object as given may lack its uid and version; whatever the
        write says of them is then taken to differ.
        """
        version, uid = meta.get("resourceVersion", ""), meta.get("uid", "")
        resource = f'{PLURALS[self.request.kind]}.{GROUP} "{meta.get("name", "")}"'
        if uid and uid != old.get("uid", ""):
            message = (
                f"Operation cannot be fulfilled on {resource}: StorageError: invalid "
                f"object, Precondition failed: UID in precondition: {uid}, UID in "
                f"object meta: {old.get('uid', '')}"
            )
            raise Refused(409, "Conflict", message, "metadata.uid")
        number = _number(version)
        if number is None:
            digits = version.isascii() and version.isdecimal()
            why = "value out of range" if digits else "invalid syntax"
            message = f"strconv.ParseUint: parsing {quoted(version)}: {why}"
            raise Refused(500, "", message, "metadata.resourceVersion")
        if number and number != _number(old.get("resourceVersion", "")):
            message = (
                f"Operation cannot be fulfilled on {resource}: the object has been "
                "modified; please apply your changes to the latest version and try "
                "again"
            )
            raise Refused(409, "Conflict", message, "metadata.resourceVersion")

    def _lock(self, new: Decoded, write: Write) -> tuple[Cause, ...]:
        """In the newest version, a taint rule is only changed by who has read it."""
        version = (new.value.get("metadata") or {}).get("resourceVersion", "")
        if write.old is None or self.request.kind != "DeviceTaintRule":
            return ()
        if new.version != "v1" or _number(version):
            return ()
        detail = "must be specified for an update"
        return (invalid("metadata.resourceVersion", 0, detail),)

    def _scope(self) -> Scope:
        return Scope(self.request.features)

    def _labels(self, meta: _Value) -> Mapping[str, str] | None:
        return (self.request.namespaces or {}).get(meta.get("namespace", ""))

    # --- judging -----------------------------------------------------------------------

    def _causes(self, write: Write) -> Iterable[Cause]:
        """Of a create, the general rules for names come only when all else is well."""
        meta = write.value.get("metadata") or {}
        namespaced = self.request.kind in NAMESPACED
        if write.old is None:
            found = list(self.rules.create(write))
            if found:
                return found
            return check_metadata(meta, namespaced=namespaced, name_rule=any_name)
        old_meta = write.old.get("metadata") or {}
        rules = self.rules.update_status if write.status else self.rules.update
        return (
            *check_metadata(meta, namespaced=namespaced, name_rule=any_name),
            *check_metadata_update(meta, old_meta),
            *rules(write),
        )

    def _warnings(self, new: Decoded) -> Iterable[str]:
        release = self.request.features.release
        yield from deprecated(new.version, self.request.kind, release)
        for path in new.unknown:
            yield f"unknown field {quoted(path)}"
        if self.request.kind == "ResourceSlice":
            driver = (new.value.get("spec") or {}).get("driver", "")
            if driver != driver.lower():
                yield (
                    "spec.driver: driver names should be lowercase; "
                    f"{quoted(driver)} contains uppercase characters"
                )


_SERVER_SIDE: Final = (
    "creationTimestamp",
    "uid",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)


_LARGEST: Final = 2**64 - 1


def _number(version: str) -> int | None:
    """A resourceVersion as a number; 0 is as good as none, None cannot be read."""
    if not version:
        return 0
    digits = version.lstrip("0") or "0"
    if not (version.isascii() and digits.isdecimal()) or len(digits) > 20:
        return None
    number = int(digits)
    return number if number <= _LARGEST else None


def _check_storable(write: Write) -> None:
    """Only when all is well does the store look at the version of a new object; what
    it cannot read, it takes for none."""
    meta = write.meta
    if write.old is None and _number(meta.get("resourceVersion", "")):
        message = "resourceVersion should not be set on objects to be created"
        raise Refused(500, "", message, "metadata.resourceVersion")


def _cut(text: str, length: int) -> str:
    """The first ``length`` bytes of ``text``."""
    if size(text) <= length:
        return text
    return text.encode()[:length].decode(errors="replace")


def _added(sent: Any, answer: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    """What the answer has and the request had not; metadata of the object left out."""
    if isinstance(answer, dict) and isinstance(sent, dict):
        for name, value in answer.items():
            if not path and name == "metadata":
                continue
            at = f"{path}.{name}" if path else name
            if name in sent:
                yield from _added(sent[name], value, at)
            else:
                yield at, value
    elif isinstance(answer, list) and isinstance(sent, list):
        for index, (before, after) in enumerate(zip(sent, answer, strict=False)):
            yield from _added(before, after, f"{path}[{index}]")
