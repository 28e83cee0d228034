"""From JSON to objects and back."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dra.errors import ObjectError
from dra.objects.base import Base, Json
from dra.objects.claims import ResourceClaim, ResourceClaimTemplate
from dra.objects.classes import DeviceClass
from dra.objects.nodes import Namespace, Node
from dra.objects.pods import Pod, PodGroup
from dra.objects.slices import ResourceSlice
from dra.objects.taint_rules import DeviceTaintRule
from dra.reading import convert, spelled_out, where

KINDS: Final[dict[str, type[Base]]] = {
    cls.__name__: cls
    for cls in (
        DeviceClass,
        DeviceTaintRule,
        Namespace,
        Node,
        Pod,
        PodGroup,
        ResourceClaim,
        ResourceClaimTemplate,
        ResourceSlice,
    )
}


def read[T: Base](raw: Any, cls: type[T]) -> T:
    """Read one JSON object (a ``dict``) as ``cls``.

    Null counts as absent, as in Kubernetes. Raises
    :class:`~dra.errors.ObjectError` with the field path when a field has the
    wrong type.
    """
    try:
        return convert(raw, cls)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        meta = raw.get("metadata") if isinstance(raw, dict) else None
        meta = meta if isinstance(meta, dict) else {}
        if isinstance(error, UnicodeEncodeError):
            path, reason = "", "holds a text that is not Unicode (half a character)"
        else:
            path, reason = where(error)
        raise ObjectError(
            kind=cls.__name__,
            namespace=str(meta.get("namespace") or ""),
            name=str(meta.get("name") or "(no name)"),
            path=spelled_out(raw, cls, path),
            reason=reason,
        ) from error


def write(value: Base) -> Json:
    """The JSON object of ``value``, default fields left out."""
    return msgspec.to_builtins(value)  # type: ignore[no-any-return]
