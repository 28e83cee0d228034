"""One claim, template or class by its kind and name."""

from __future__ import annotations

from typing import Any, Final

from claims.models import ResourceClaim, ResourceClaimTemplate
from inventory.models import Cluster, DeviceClass, MirroredObject

_MODELS: Final[dict[str, type[MirroredObject]]] = {
    "ResourceClaim": ResourceClaim,
    "ResourceClaimTemplate": ResourceClaimTemplate,
    "DeviceClass": DeviceClass,
}


def row_of(
    cluster: Cluster, kind: str, namespace: str, name: str
) -> MirroredObject | None:
    """The mirrored object; None for one that is not there, and for other kinds.

    ``namespace`` means nothing for a class. Any text may be asked for.
    """
    model = _MODELS.get(kind)
    if model is None or "\0" in f"{namespace}{name}":
        return None  # PostgreSQL has no NUL, and no name
    wanted: dict[str, Any] = {"cluster": cluster, "name": name}
    if model is not DeviceClass:
        wanted["namespace"] = namespace
    return model._default_manager.filter(**wanted).first()
