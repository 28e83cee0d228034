"""What may be written: the checks of kube-apiserver that our writers can meet.

What decides between two writers: names, immutable fields, finalizers and
reservations of an object being deleted, the allocation's immutability. The form of
claims, templates and classes is the matter of :mod:`cluster.standin.checking`.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from cluster.standin.answers import Cause, StatusError, conflict, invalid, stale
from cluster.standin.kinds import Kind

Json = dict[str, Any]

_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
)
_NAME_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_MAX_RESERVED: Final = 256
_IMMUTABLE_SPEC: Final = frozenset({"ResourceClaim", "ResourceClaimTemplate"})


def check_name(kind: Kind, name: str) -> None:
    """422 for a name that is no DNS subdomain."""
    if len(name) <= 253 and _SUBDOMAIN.fullmatch(name):
        return
    cause = Cause(
        "FieldValueInvalid", f'Invalid value: "{name}": {_NAME_RULE}', "metadata.name"
    )
    raise invalid(kind, name, [cause])


def check_identity(kind: Kind, old: Json, new: Json, *, patch: bool) -> None:
    """409 for a stale resourceVersion or (PUT) a foreign uid, 422 for it in a patch."""
    before, after = old["metadata"], new["metadata"]
    name = before["name"]
    version = after.get("resourceVersion")
    if version and not str(version).isdigit():
        message = (
            f'resourceVersion: Invalid value: "{version}": '
            f'strconv.ParseUint: parsing "{version}": invalid syntax'
        )
        raise StatusError(500, "", message)
    if version and version != before["resourceVersion"]:
        raise stale(kind, name)
    uid = after.get("uid")
    if not uid or uid == before["uid"]:
        return
    if patch:
        message = f'Invalid value: "{uid}": field is immutable'
        cause = Cause("FieldValueInvalid", message, "metadata.uid")
        raise invalid(kind, name, [cause])
    key = f"/registry/{kind.plural}/{before.get('namespace', '')}/{name}"
    raise conflict(
        kind,
        name,
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
        "AdditionalErrorMsg: Precondition failed: UID in precondition: "
        f"{uid}, UID in object meta: {before['uid']}",
    )


def check_update(kind: Kind, old: Json, new: Json) -> None:
    """422 for a change of the main resource that is not allowed."""
    causes = _finalizers(old["metadata"], new["metadata"])
    if kind.name in _IMMUTABLE_SPEC and old.get("spec") != new.get("spec"):
        causes.append(_immutable("spec", new.get("spec")))
    if kind.name == "ResourceSlice":
        causes += _slice_identity(old.get("spec") or {}, new.get("spec") or {})
    if causes:
        raise invalid(kind, old["metadata"]["name"], causes)


def _finalizers(old: Json, new: Json) -> list[Cause]:
    known = old.get("finalizers") or []
    added = [name for name in new.get("finalizers") or [] if name not in known]
    if not added or not old.get("deletionTimestamp"):
        return []
    listed = ", ".join(f'"{name}"' for name in added)
    message = (
        "Forbidden: no new finalizers can be added if the object is being deleted, "
        f"found new finalizers []string{{{listed}}}"
    )
    return [Cause("FieldValueForbidden", message, "metadata.finalizers")]


def _slice_identity(old: Json, new: Json) -> list[Cause]:
    causes = [
        _immutable(f"spec.{field}", new.get(field))
        for field in ("driver", "nodeName", "nodeSelector", "allNodes")
        if old.get(field) != new.get(field)
    ]
    pool = (new.get("pool") or {}).get("name")
    if (old.get("pool") or {}).get("name") != pool:
        causes.append(_immutable("spec.pool.name", pool))
    return causes


def _immutable(field: str, value: Any) -> Cause:
    shown = json.dumps(value, separators=(",", ":"))
    message = f"Invalid value: {shown}: field is immutable"
    return Cause("FieldValueInvalid", message, field)


def changes_binding(old: Json, new: Json) -> bool:
    """Whether a status write needs the right on ``resourceclaims/binding``."""
    before, after = old.get("status") or {}, new.get("status") or {}
    return any(
        before.get(field) != after.get(field) for field in ("allocation", "reservedFor")
    )


def check_claim_status(kind: Kind, old: Json, new: Json) -> None:
    """422 for a changed allocation or a reservation that is not allowed."""
    before, after = old.get("status") or {}, new.get("status") or {}
    causes = _reservations(old, before, after)
    allocated, wanted = before.get("allocation"), after.get("allocation")
    if allocated and wanted and allocated != wanted:
        causes.append(_immutable("status.allocation", wanted))
    if causes:
        raise invalid(kind, old["metadata"]["name"], causes)


def _reservations(old: Json, before: Json, after: Json) -> list[Cause]:
    field = "status.reservedFor"
    reserved = after.get("reservedFor") or []
    causes: list[Cause] = []
    if reserved and not after.get("allocation"):
        message = "Forbidden: may not be specified when `allocated` is not set"
        causes.append(Cause("FieldValueForbidden", message, field))
    uids = [entry.get("uid") for entry in reserved if isinstance(entry, dict)]
    for position, uid in enumerate(uids):
        if uid in uids[:position]:
            message = f'Duplicate value: "{uid}"'
            place = f"{field}[{position}].uid"
            causes.append(Cause("FieldValueDuplicate", message, place))
    if len(reserved) > _MAX_RESERVED:
        message = f"Too many: {len(reserved)}: must have at most {_MAX_RESERVED} items"
        causes.append(Cause("FieldValueTooMany", message, field))
    known = {entry.get("uid") for entry in before.get("reservedFor") or []}
    deleting = old["metadata"].get("deletionTimestamp")
    if deleting and any(uid not in known for uid in uids):
        message = (
            "Forbidden: new entries may not be added while `deallocationRequested` "
            "or `deletionTimestamp` are set"
        )
        causes.append(Cause("FieldValueForbidden", message, field))
    return causes
