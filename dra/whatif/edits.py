"""What a scenario may change in a cluster before anything is placed.

Edits are carried out one after another; each is one struct with ``edit`` as its tag.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from dra.whatif.parts import (
    MOST_NEW_NODES,
    MOST_OBJECTS,
    DeviceChoice,
    Json,
    Name,
    Names,
    Part,
    References,
    TaintSpec,
    Text,
)


class NodeEdit(Part, frozen=True, tag_field="edit"):
    """An edit of nodes: those named, and those that ``labels`` (as in ``kubectl -l``)
    select."""

    nodes: Names = []
    labels: Text = ""


class Drain(NodeEdit, frozen=True, tag="drain"):
    """No new pods, and those that are there go, except pods of a DaemonSet."""


class Cordon(NodeEdit, frozen=True, tag="cordon"):
    """No new pods."""


class Uncordon(NodeEdit, frozen=True, tag="uncordon"):
    """New pods again."""


class RemoveNodes(NodeEdit, frozen=True, tag="removeNodes"):
    """The nodes, their pods and the slices of their devices are gone."""


class AddNodes(Part, frozen=True, tag_field="edit", tag="addNodes"):
    """Nodes like one that exists, with copies of its own slices.

    They are ready, take pods, and their devices have no taints; of the node's own taints
    they have those that belong to its kind. Their names are ``prefix`` (by default the
    node's name) and a number.
    """

    like: Name
    count: Annotated[int, Meta(ge=1, le=MOST_NEW_NODES)] = 1
    prefix: Text = ""


class Taint(Part, frozen=True, tag_field="edit", tag="taint"):
    """Put a taint on devices."""

    devices: DeviceChoice
    taint: TaintSpec


class Untaint(Part, frozen=True, tag_field="edit", tag="untaint"):
    """Take taints from devices: of this key and effect, or all.

    Taints that a rule puts on them stay; remove the rule for that.
    """

    devices: DeviceChoice
    key: Text = ""
    effect: Text = ""


class TaintByRule(Part, frozen=True, tag_field="edit", tag="taintByRule"):
    """Add a DeviceTaintRule; without driver, pool and device it means every device."""

    name: Name
    taint: TaintSpec
    driver: Text = ""
    pool: Text = ""
    device: Text = ""


class ChangeDevices(Part, frozen=True, tag_field="edit", tag="changeDevices"):
    """Devices as another release of their driver would publish them.

    ``attributes`` are set in the form that slices have, ``drop`` are names of
    attributes and capacities that go, ``capacity`` are new amounts; ``remove``: the
    devices themselves go.
    """

    devices: DeviceChoice
    attributes: dict[Name, Json] = {}
    capacity: dict[Name, str | int | float] = {}
    drop: Names = []
    remove: bool = False


class Release(Part, frozen=True, tag_field="edit", tag="release"):
    """Claims give back what they hold: those named, or all of a namespace."""

    claims: References = []
    namespace: Text = ""


class SetClass(Part, frozen=True, tag_field="edit", tag="setClass"):
    """Add a DeviceClass or give one another spec."""

    name: Name
    spec: Json


class RemoveClass(Part, frozen=True, tag_field="edit", tag="removeClass"):
    name: Name


class SetFeatures(Part, frozen=True, tag_field="edit", tag="features"):
    """Another Kubernetes version with the gates that it has on, or single gates."""

    version: Text = ""
    gates: dict[Name, bool] = {}


class Add(Part, frozen=True, tag_field="edit", tag="add"):
    """Add objects, or replace those of the same name: claims, templates, pods, slices …"""

    objects: Annotated[list[Json], Meta(max_length=MOST_OBJECTS)]


class ObjectName(Part, frozen=True):
    kind: Name
    name: Name
    namespace: Text = ""


class Remove(Part, frozen=True, tag_field="edit", tag="remove"):
    """Remove objects. What a claim held is free; the claims of a pod lose a consumer."""

    objects: Annotated[list[ObjectName], Meta(max_length=MOST_OBJECTS)]


type Edit = (
    Drain
    | Cordon
    | Uncordon
    | RemoveNodes
    | AddNodes
    | Taint
    | Untaint
    | TaintByRule
    | ChangeDevices
    | Release
    | SetClass
    | RemoveClass
    | SetFeatures
    | Add
    | Remove
)
