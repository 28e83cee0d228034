"""From JSON to a decoded object in v1 form with the API server's defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dra.validation.outcome import Refusal
from dra.validation.schema import GROUP, KINDS
from dra.validation.schema.shapes import Mismatch, Reading, Struct
from dra.validation.versions import to_newest

type Value = dict[str, Any]

NO_RESOURCE: Final = "the server could not find the requested resource"


class Refused(Exception):  # noqa: N818 - it does not leave the package
    """The answer is known, and it is no list of causes."""

    def __init__(self, code: int, reason: str, message: str, field: str = "") -> None:
        super().__init__(message)
        self.refusal = Refusal(code, reason, message, field)


@dataclass(frozen=True, slots=True)
class Decoded:
    """``value`` is in v1 form whatever ``version`` it came in, whose ``shape`` it had.

    ``unknown`` are the paths of fields that nobody knows and that are gone.
    """

    version: str
    shape: Struct
    value: Value
    unknown: tuple[str, ...]


def decode(kind: str, raw: Any, now: str) -> Decoded:
    """``raw``, JSON of any kind, read as ``kind``; ``now`` is for defaults.

    Raises :class:`Refused` for what cannot be read.
    """
    if kind not in KINDS:
        raise Refused(404, "NotFound", NO_RESOURCE)
    if not isinstance(raw, dict):
        message = f"the object provided is unrecognized (must be of type {kind})"
        raise Refused(400, "BadRequest", message)
    version = _version(kind, raw)
    shape = KINDS[kind][version]
    reading = Reading(now)
    try:
        value = shape.read(raw, "", "", reading)
    except Mismatch as wrong:
        message = (
            f'{kind} in version "{version}" cannot be handled as a {kind}: '
            f"{wrong.message}"
        )
        raise Refused(400, "BadRequest", message, wrong.path) from wrong
    newest = to_newest(kind, version, value)
    return Decoded(version, shape, newest, tuple(reading.unknown))


def _version(kind: str, raw: Value) -> str:
    """The version that is meant; what the object leaves out, the address says."""
    api_version, found = raw.get("apiVersion"), raw.get("kind")
    for name, value in (("apiVersion", api_version), ("kind", found)):
        if not (value is None or isinstance(value, str)):
            message = f"couldn't get version/kind; {name} is no string"
            raise Refused(400, "BadRequest", message, name)
    group, _, version = (api_version or f"{GROUP}/v1").partition("/")
    if found and found != kind:
        message = f'{found} in version "{version}" cannot be handled as a {kind}'
        raise Refused(400, "BadRequest", message, "kind")
    if group != GROUP:
        message = (
            f"the API version in the data ({api_version}) does not match the expected "
            f"API version ({GROUP}/v1)"
        )
        raise Refused(400, "BadRequest", message, "apiVersion")
    if version not in KINDS[kind]:
        raise Refused(404, "NotFound", NO_RESOURCE, "apiVersion")
    return version
