"""The kinds of ``resource.k8s.io`` by version: which fields, of which types, with which defaults."""

from __future__ import annotations

from typing import Final

from dra.validation.schema.claims import FLAT_REQUEST, REQUEST, claim, template
from dra.validation.schema.shapes import Shape, Struct
from dra.validation.schema.shared import optional
from dra.validation.schema.slices import BASIC_DEVICE, CLASS, DEVICE, RULE, slice_

GROUP: Final = "resource.k8s.io"


def _versions(newest: Struct, flat: Struct) -> dict[str, Struct]:
    return {"v1": newest, "v1beta2": newest, "v1beta1": flat}


KINDS: Final[dict[str, dict[str, Struct]]] = {
    "ResourceClaim": _versions(claim(REQUEST), claim(FLAT_REQUEST)),
    "ResourceClaimTemplate": _versions(template(REQUEST), template(FLAT_REQUEST)),
    "DeviceClass": _versions(CLASS, CLASS),
    "ResourceSlice": _versions(
        slice_(DEVICE), slice_(BASIC_DEVICE, selection=optional)
    ),
    "DeviceTaintRule": {"v1": RULE, "v1beta2": RULE, "v1alpha3": RULE},
}
"""The shape of every kind by version."""

NAMESPACED: Final = frozenset({"ResourceClaim", "ResourceClaimTemplate"})
WITH_STATUS: Final = frozenset({"ResourceClaim", "DeviceTaintRule"})
COUNTED: Final = frozenset({"DeviceClass", "ResourceSlice", "DeviceTaintRule"})
"""Whose ``metadata.generation`` the API server sets, whatever was sent."""
PLURALS: Final = {
    "ResourceClaim": "resourceclaims",
    "ResourceClaimTemplate": "resourceclaimtemplates",
    "DeviceClass": "deviceclasses",
    "ResourceSlice": "resourceslices",
    "DeviceTaintRule": "devicetaintrules",
}


def part(kind: str, *names: str) -> Shape:
    """The shape of a part of ``kind`` in v1, by the names of the fields that lead to it."""
    shape: Shape = KINDS[kind]["v1"]
    for name in names:
        assert isinstance(shape, Struct), "only objects have parts"
        shape = shape.fields[name].shape
    return shape
