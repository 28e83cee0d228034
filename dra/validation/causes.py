"""One thing that is wrong with an object: where, of which kind, in which words.

Reasons and wording are those of ``field.Error`` in Kubernetes' API machinery, so
that people can search for what they read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from dra.cel.functions.formatting import go_quote
from dra.quantity import Quantity


class Cause(msgspec.Struct, frozen=True):
    """``field`` is a path like ``spec.devices.requests[0].name``, ``reason`` a word like
    ``FieldValueInvalid``, ``message`` what the API server says or more."""

    field: str
    reason: str
    message: str


type Causes = Iterator[Cause]

REQUIRED: Final = "FieldValueRequired"
INVALID: Final = "FieldValueInvalid"
FORBIDDEN: Final = "FieldValueForbidden"
TOO_LONG: Final = "FieldValueTooLong"
TOO_MANY: Final = "FieldValueTooMany"
DUPLICATE: Final = "FieldValueDuplicate"
NOT_SUPPORTED: Final = "FieldValueNotSupported"
NOT_FOUND: Final = "FieldValueNotFound"

IMMUTABLE: Final = "field is immutable"


def required(field: str, detail: str = "") -> Cause:
    return Cause(field, REQUIRED, _with_detail("Required value", detail))


def invalid(field: str, value: object, detail: str) -> Cause:
    return Cause(field, INVALID, f"Invalid value: {shown(value)}: {detail}")


def all_invalid(field: str, value: object, details: Iterable[str]) -> Causes:
    """One cause for each of the ``details``."""
    for detail in details:
        yield invalid(field, value, detail)


def immutable(field: str, value: object, changed: Iterable[str]) -> Cause:
    """A part that cannot change; the message says where it would."""
    detail = f"{IMMUTABLE} (changed: {', '.join(changed)})"
    return invalid(field, plain(value), detail)


def forbidden(field: str, detail: str) -> Cause:
    return Cause(field, FORBIDDEN, _with_detail("Forbidden", detail))


def too_long(field: str, limit: int) -> Cause:
    return Cause(field, TOO_LONG, f"Too long: may not be more than {limit} bytes")


def too_many(field: str, count: int, limit: int) -> Cause:
    detail = f"must have at most {limit} items"
    return Cause(field, TOO_MANY, f"Too many: {count}: {detail}")


def duplicate(field: str, value: object) -> Cause:
    return Cause(field, DUPLICATE, f"Duplicate value: {shown(value)}")


def not_found(field: str, value: object) -> Cause:
    return Cause(field, NOT_FOUND, f"Not found: {shown(value)}")


def not_supported(field: str, value: object, supported: Iterable[str]) -> Cause:
    values = ", ".join(quoted(value) for value in supported)
    message = f"Unsupported value: {shown(value)}: supported values: {values}"
    return Cause(field, NOT_SUPPORTED, message)


def _with_detail(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def shown(value: object) -> str:
    """A value as error messages show it: texts quoted, the rest as JSON."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Quantity):
        return quoted(str(value))
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def quoted(text: str) -> str:
    """``text`` in double quotes, as Go's ``%q`` writes it."""
    return go_quote(text)


def size(text: str) -> int:
    """Bytes of UTF-8: what every limit of the API counts."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def unique(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """The causes in order, each once: the API server checks some things twice."""
    return tuple(dict.fromkeys(causes))


def plain(value: Any) -> Any:
    """A decoded value as JSON can hold it: quantities become text."""
    if isinstance(value, Quantity):
        return str(value)
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value
