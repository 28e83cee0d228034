"""From stored (v1) form to the version a client asks for, and back."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from cluster.standin.kinds import KINDS, Kind

Json = dict[str, Any]


def encode_as(kind: Kind, version: str, body: Json) -> bytes:
    """The JSON text of a stored body in API version ``version``."""
    return msgspec.json.encode(as_version(kind, version, body))


def as_version(kind: Kind, version: str, body: Json) -> Json:
    """``body`` in API version ``version``; the body itself stays as it is."""
    return body


def from_version(kind: Kind, version: str, obj: Json) -> Json:
    """``obj`` as a client of API version ``version`` sent it, in stored form; a copy."""
    return copy.deepcopy(obj)


class Converter:
    """Reads an object of any served version into stored form."""

    def to_stored(self, obj: Json) -> tuple[Kind, Json]:
        """The kind and the body, a copy. ValueError names what is wrong."""
        name = str(obj.get("kind") or "")
        kind = KINDS.get(name)
        if kind is None:
            raise ValueError(f"kind {name or '(none)'} is not one the stand-in knows")
        body = copy.deepcopy(obj)
        body.pop("kind")
        body.pop("apiVersion", None)
        return kind, body
