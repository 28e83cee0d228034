"""Which table of a snapshot an object belongs to, and under which key."""

from __future__ import annotations

from typing import Any, Final, cast

from dra.errors import ObjectError
from dra.names import ObjectKey
from dra.objects import (
    KINDS,
    Base,
    ResourceSlice,
    read,
)
from dra.sharing import share_parts

TABLES: Final = {
    "DeviceClass": "classes",
    "DeviceTaintRule": "taint_rules",
    "Namespace": "namespaces",
    "Node": "nodes",
    "Pod": "pods",
    "PodGroup": "pod_groups",
    "ResourceClaim": "claims",
    "ResourceClaimTemplate": "templates",
    "ResourceSlice": "slices",
}


NAMESPACED: Final = frozenset(
    {"Pod", "PodGroup", "ResourceClaim", "ResourceClaimTemplate"}
)


def read_item(item: object) -> tuple[ObjectKey, Base | ObjectError] | None:
    """The object in ``item`` and its key; an error where it cannot be read.

    None for kinds that a snapshot does not hold.
    """
    if isinstance(item, Base):
        kind = type(item).__name__
    else:
        kind = str(item.get("kind") or "") if isinstance(item, dict) else ""
        if not kind:
            problem = _problem("(no kind)", "", "", "this is no Kubernetes object")
            return ObjectKey("", "", ""), problem
    if kind not in TABLES:
        return None
    value: Base | ObjectError
    if isinstance(item, Base):
        value = item
    else:
        try:
            value = read(item, KINDS[kind])
            share_parts(value)
        except ObjectError as error:
            namespace = error.namespace if kind in NAMESPACED else ""
            return ObjectKey(kind, namespace, error.name), error
    meta = cast("ResourceSlice", value).metadata
    namespace = meta.namespace if kind in NAMESPACED else ""
    if not meta.name:
        problem = _problem(kind, namespace, "metadata.name", "is missing")
        return ObjectKey(kind, namespace, ""), problem
    return ObjectKey(kind, namespace, meta.name), value


def _problem(kind: str, namespace: str, path: str, reason: str) -> ObjectError:
    return ObjectError(
        kind=kind, namespace=namespace, name="(no name)", path=path, reason=reason
    )


def table_key(key: ObjectKey) -> Any:
    return (key.namespace, key.name) if key.kind in NAMESPACED else key.name
