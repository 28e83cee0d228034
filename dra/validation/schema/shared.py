"""Parts that several kinds have, and the words the descriptions are written with.

Names, types and what is written for an unset field are those of
``k8s.io/api/resource``; defaults those of ``pkg/apis/resource/*/defaults.go``.
"""

from __future__ import annotations

from typing import Any, Final

from dra.validation.schema.scalars import Amount, Boolean, Integer, Raw, Text, Time
from dra.validation.schema.shapes import Field, ListOf, MapOf, Reading, Shape, Struct

TEXT: Final = Text()
INTEGER: Final = Integer()
BOOLEAN: Final = Boolean()
AMOUNT: Final = Amount()
TIME: Final = Time()
RAW: Final = Raw()

type _Value = dict[str, Any]


def optional(shape: Shape) -> Field:
    """Written only where something is set."""
    return Field(shape)


def always(shape: Shape) -> Field:
    return Field(shape, always=True)


def pointer(shape: Shape) -> Field:
    return Field(shape, pointer=True)


# --- parts from other API groups ---------------------------------------------

META: Final = Struct(
    "ObjectMeta",
    {
        "name": optional(TEXT),
        "generateName": optional(TEXT),
        "namespace": optional(TEXT),
        "selfLink": optional(TEXT),
        "uid": optional(TEXT),
        "resourceVersion": optional(TEXT),
        "generation": optional(INTEGER),
        "creationTimestamp": optional(TIME),
        "deletionTimestamp": pointer(TIME),
        "deletionGracePeriodSeconds": pointer(INTEGER),
        "labels": optional(MapOf(TEXT)),
        "annotations": optional(MapOf(TEXT)),
        "ownerReferences": optional(
            ListOf(
                Struct(
                    "OwnerReference",
                    {
                        "apiVersion": always(TEXT),
                        "kind": always(TEXT),
                        "name": always(TEXT),
                        "uid": always(TEXT),
                        "controller": pointer(BOOLEAN),
                        "blockOwnerDeletion": pointer(BOOLEAN),
                    },
                )
            )
        ),
        "finalizers": optional(ListOf(TEXT)),
        "managedFields": optional(
            ListOf(
                Struct(
                    "ManagedFieldsEntry",
                    {
                        "manager": optional(TEXT),
                        "operation": optional(TEXT),
                        "apiVersion": optional(TEXT),
                        "time": pointer(TIME),
                        "fieldsType": optional(TEXT),
                        "fieldsV1": pointer(RAW),
                        "subresource": optional(TEXT),
                    },
                )
            )
        ),
    },
)

CONDITION: Final = Struct(
    "Condition",
    {
        "type": always(TEXT),
        "status": always(TEXT),
        "observedGeneration": optional(INTEGER),
        "lastTransitionTime": always(TIME),
        "reason": always(TEXT),
        "message": always(TEXT),
    },
)

_REQUIREMENT = Struct(
    "NodeSelectorRequirement",
    {
        "key": always(TEXT),
        "operator": always(TEXT),
        "values": optional(ListOf(TEXT)),
    },
)
NODE_SELECTOR: Final = Struct(
    "NodeSelector",
    {
        "nodeSelectorTerms": always(
            ListOf(
                Struct(
                    "NodeSelectorTerm",
                    {
                        "matchExpressions": optional(ListOf(_REQUIREMENT)),
                        "matchFields": optional(ListOf(_REQUIREMENT)),
                    },
                )
            )
        )
    },
)

# --- parts of several kinds -----------------------------------------------------


def _taint_default(taint: _Value, reading: Reading) -> None:
    taint.setdefault("timeAdded", reading.now)


def _toleration_default(toleration: _Value, _reading: Reading) -> None:
    toleration.setdefault("operator", "Equal")


TAINT: Final = Struct(
    "DeviceTaint",
    {
        "key": always(TEXT),
        "value": optional(TEXT),
        "effect": always(TEXT),
        "timeAdded": pointer(TIME),
    },
    _taint_default,
)
TOLERATION: Final = Struct(
    "DeviceToleration",
    {
        "key": optional(TEXT),
        "operator": optional(TEXT),
        "value": optional(TEXT),
        "effect": optional(TEXT),
        "tolerationSeconds": pointer(INTEGER),
    },
    _toleration_default,
)
SELECTOR: Final = Struct(
    "DeviceSelector",
    {
        "cel": pointer(Struct("CELDeviceSelector", {"expression": always(TEXT)})),
    },
)
CONFIGURATION: Final = {
    "opaque": pointer(
        Struct(
            "OpaqueDeviceConfiguration",
            {"driver": always(TEXT), "parameters": always(RAW)},
        )
    )
}


def kind(go: str, **parts: Field) -> Struct:
    """A whole object with these parts beside its header and metadata."""
    return Struct(
        go,
        {
            "apiVersion": optional(TEXT),
            "kind": optional(TEXT),
            "metadata": optional(META),
            **parts,
        },
    )
