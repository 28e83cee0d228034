"""From one object as the server sent it to the columns that every row has.

Tolerant: whatever cannot be read is told in one sentence and kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db import models

from dra import objects
from dra.errors import ObjectError

Json = dict[str, Any]
Key = tuple[str, str]
"""Namespace (empty for a cluster-scoped object) and name."""

_INT64 = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Reading[T: objects.Base]:
    """``object`` is None when the raw object cannot be read at all.

    ``problem`` is one sentence, empty when all is well. An object with both is
    readable but holds a value that nobody can compute with.
    """

    raw: Json
    object: T | None
    problem: str


def read_object[T: objects.Base](
    raw: Json, cls: type[T], problem: Callable[[T], ObjectError | None] | None = None
) -> Reading[T]:
    """Read ``raw``; ``problem`` looks at values that reading leaves as text."""
    try:
        value = objects.read(raw, cls)
    except ObjectError as error:
        return Reading(raw, None, str(error))
    found = problem(value) if problem else None
    return Reading(raw, value, str(found) if found else "")


def key_of(raw: Json) -> Key | None:
    """Which row the object is, or None when it names none that fits."""
    meta = _mapping(raw.get("metadata"))
    namespace, name = _text(meta.get("namespace")), _text(meta.get("name"))
    if not name or len(name) > 253 or len(namespace) > 63:
        return None
    return (namespace, name) if _is_text(namespace + name) else None


def version_of(raw: Json) -> tuple[str, str]:
    """``uid`` and ``resourceVersion``: together they identify one state of one object."""
    meta = _mapping(raw.get("metadata"))
    return _text(meta.get("uid"))[:64], _text(meta.get("resourceVersion"))[:64]


def meta_columns(raw: Json) -> dict[str, Any]:
    """The columns of ``MirroredObject`` that come from ``metadata``."""
    meta = _mapping(raw.get("metadata"))
    uid, version = version_of(raw)
    return {
        "uid": uid,
        "resource_version": version,
        "created_at": moment(meta.get("creationTimestamp")),
        "deleting": bool(meta.get("deletionTimestamp")),
    }


def moment(text: Any) -> datetime | None:
    """An RFC 3339 time with its zone, or None when it is absent or unreadable."""
    if not isinstance(text, str):
        return None
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def storable(raw: Json) -> Json:
    """``raw`` without characters that a database refuses.

    PostgreSQL takes no NUL in text, UTF-8 no lone surrogate; both become U+FFFD, as
    the API server itself does with what is no text. Nearly every object comes back
    as it is.
    """
    try:
        if b"\\u0000" not in msgspec.json.encode(raw):
            return raw
    except UnicodeEncodeError:
        pass
    cleaned = _clean(raw)
    assert isinstance(cleaned, dict)
    return cleaned


def fit(model: type[models.Model], columns: Mapping[str, Any]) -> dict[str, Any]:
    """``columns`` cut to what the table holds; the raw object keeps the whole."""
    fitted = dict(columns)
    for name, value in columns.items():
        if isinstance(value, str):
            limit = getattr(model._meta.get_field(name), "max_length", None)
            if limit is not None and len(value) > limit:
                fitted[name] = value[:limit]
        elif isinstance(value, int) and not isinstance(value, bool):
            fitted[name] = max(-_INT64, min(_INT64, value))
    return fitted


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        text = value.replace("\x00", "\ufffd")
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


def _is_text(text: str) -> bool:
    """Whether a database takes it: see :func:`storable`."""
    return "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
