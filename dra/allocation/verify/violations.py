"""What can be wrong with an allocation, each with a sentence for people."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Code(enum.StrEnum):
    """The rule that is broken."""

    ADMIN_ACCESS = "admin-access"
    ALREADY_ALLOCATED = "already-allocated"
    BINDING_CONDITIONS = "binding-conditions"
    CAPACITY_EXCEEDED = "capacity-exceeded"
    CONFIG_WRONG = "config-wrong"
    CONSTRAINT_BROKEN = "constraint-broken"
    CONSUMED_CAPACITY = "consumed-capacity"
    COUNTERS_OVERDRAWN = "counters-overdrawn"
    DERIVED_ATTRIBUTE = "derived-attribute"
    DEVICE_UNKNOWN = "device-unknown"
    DEVICE_IN_USE = "device-in-use"
    FEATURE_OFF = "feature-off"
    GROUPS_INCOMPATIBLE = "groups-incompatible"
    NODE_SELECTOR = "node-selector"
    NODE_UNKNOWN = "node-unknown"
    NOT_ALL_DEVICES = "not-all-devices"
    NOT_ON_NODE = "not-on-node"
    POOL_UNUSABLE = "pool-unusable"
    REQUEST_INVALID = "request-invalid"
    REQUEST_UNKNOWN = "request-unknown"
    SELECTOR_ERROR = "selector-error"
    SELECTOR_FALSE = "selector-false"
    SEVERAL_ALTERNATIVES = "several-alternatives"
    SHARE_ID = "share-id"
    TAINT_NOT_TOLERATED = "taint-not-tolerated"
    TAKEN_TWICE = "taken-twice"
    TOLERATIONS = "tolerations"
    TOO_MANY_RESULTS = "too-many-results"
    WRONG_COUNT = "wrong-count"


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that an allocation breaks.

    ``claim`` is ``namespace/name``, ``request`` what results call it
    (``request`` or ``request/subrequest``), ``device`` is
    ``driver/pool/device``; each is empty where it does not apply.
    """

    code: Code
    claim: str
    request: str
    device: str
    sentence: str
