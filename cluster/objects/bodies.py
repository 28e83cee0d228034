"""What is sent: only what a client decides, with a name, in the version served."""

from __future__ import annotations

import json
import secrets
from typing import Any, Final

from cluster.convert import from_v1, to_v1
from cluster.objects.values import KINDS, Cause, Expected, Json, meta_of, text_of
from cluster.resources import BY_KIND, DRA, ServedResource
from dra.errors import QuantityError
from dra.quantity import parse

SERVERS_OWN: Final = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)
"""Metadata that the API server sets: text copied from a cluster has it, and it is
left out. With it a create would be refused, and a change would mean something else."""

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST_PREFIX: Final = 58


def wrong_header(value: Json) -> list[Cause]:
    """What keeps ``value`` from being sent at all: its kind, version or metadata."""
    found: list[Cause] = []
    said = value.get("kind")
    if said not in KINDS:
        wanted = f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
        message = f"Unsupported value: {_shown(said)}: must be {wanted}"
        found.append(Cause("kind", message, "FieldValueNotSupported"))
    else:
        group, _, version = str(value.get("apiVersion") or "").rpartition("/")
        if group != DRA or version not in BY_KIND[said].versions:
            known = ", ".join(f"{DRA}/{v}" for v in BY_KIND[said].versions)
            shown = _shown(value.get("apiVersion"))
            message = f"Unsupported value: {shown}: must be one of {known}"
            found.append(Cause("apiVersion", message, "FieldValueNotSupported"))
    if not can_be_sent(value):
        message = "Invalid value: holds a text or number that no JSON can"
        found.append(Cause("", message, "FieldValueInvalid"))
    if not isinstance(value.get("metadata", {}), dict):
        message = "Invalid value: must be a mapping with a name"
        found.append(Cause("metadata", message, "FieldValueTypeInvalid"))
    return found


def can_be_sent(value: Any) -> bool:
    """Whether JSON can hold it: half of a character pair, say, has no bytes, and a
    number may not be infinite (msgspec would make null of it)."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def can_be_named(name: str) -> bool:
    """Whether an object can have this name as far as its address goes.

    Without a name the address is that of all objects, and a DELETE takes them all.
    """
    return bool(name) and name not in (".", "..") and not set(name) & {"/", "%"}


def in_v1(value: Json, *, drop: tuple[str, ...] = SERVERS_OWN) -> Json:
    """``value`` in v1 form without status and without the server's metadata."""
    obj = {k: v for k, v in to_v1(value).items() if k != "status"}
    obj["metadata"] = {k: v for k, v in meta_of(obj).items() if k not in drop}
    return obj


def with_name(obj: Json) -> Json:
    """``obj`` with a name made of its generateName, as the server would make one.

    Made here, so that a create whose answer was lost can be looked for.
    """
    prefix = text_of(obj, "generateName")
    if meta_of(obj).get("name") or not prefix:
        return obj
    suffix = "".join(secrets.choice(_LETTERS) for _ in range(5))
    name = prefix[:_LONGEST_PREFIX] + suffix
    return {**obj, "metadata": {**meta_of(obj), "name": name}}


def expecting(obj: Json, expected: Expected) -> Json:
    """``obj`` for a PUT that only succeeds on the object that was seen."""
    meta = {
        **meta_of(obj),
        "uid": expected.uid,
        "resourceVersion": expected.resource_version,
    }
    return {**obj, "metadata": meta}


def as_served(obj: Json, served: ServedResource) -> Json:
    """A v1 object in the version and layout of ``served``."""
    body = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind")}
    kind = served.resource.kind
    return {
        "apiVersion": served.api_version,
        "kind": kind,
        **from_v1(kind, body, served.version),
    }


def says(stored: Any, sent: Any) -> bool:
    """Whether ``stored`` holds all of ``sent``; more may be there, such as defaults.

    Quantities are compared by value: they come back in another spelling.
    """
    if sent in (None, [], {}, ""):
        return not stored or stored == sent or isinstance(sent, dict)
    if isinstance(sent, dict):
        return isinstance(stored, dict) and all(
            says(stored.get(key), value) for key, value in sent.items()
        )
    if isinstance(sent, list):
        return (
            isinstance(stored, list)
            and len(stored) == len(sent)
            and all(says(a, b) for a, b in zip(stored, sent, strict=True))
        )
    if isinstance(sent, bool) or isinstance(stored, bool):
        return sent is stored
    return stored == sent or _same_quantity(stored, sent)


def _same_quantity(one: Any, other: Any) -> bool:
    if not isinstance(one, str | int | float) or not isinstance(
        other, str | int | float
    ):
        return False
    try:
        return parse(str(one)) == parse(str(other))
    except QuantityError:
        return False


def _shown(value: object) -> str:
    return "(none)" if value is None else repr(str(value)[:100])
