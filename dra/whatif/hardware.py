"""Other devices and other nodes: slices as they would be published then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from dra import quantity
from dra.errors import ObjectError, QuantityError
from dra.names import DeviceID, PoolKey
from dra.objects import (
    Base,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceTaint,
    Node,
    NodeSpec,
    ResourceSlice,
    read,
)
from dra.snapshot import Snapshot
from dra.taints import TaintRules
from dra.whatif.choosing import Chosen
from dra.whatif.drafts import check_device
from dra.whatif.edits import AddNodes, ChangeDevices, Untaint
from dra.whatif.errors import ScenarioError
from dra.whatif.node_taints import is_passing
from dra.whatif.parts import Json, TaintSpec
from dra.whatif.words import names


def changed_slices(
    chosen: Chosen, change: Callable[[str, Device], Device | None]
) -> list[ResourceSlice]:
    """The slices with each chosen device changed, or gone where that is None."""
    found = []
    for piece, places in chosen.values():
        devices = []
        for place, device in enumerate(piece.spec.devices or ()):
            new = change(piece.spec.driver, device) if place in places else device
            if new is not None:
                devices.append(new)
        spec = replace(piece.spec, devices=devices)
        found.append(replace(piece, spec=spec))
    return found


def tainted(taint: TaintSpec) -> Callable[[str, Device], Device]:
    new = DeviceTaint(key=taint.key, value=taint.value, effect=taint.effect)

    def change(_driver: str, device: Device) -> Device:
        kept = [
            t
            for t in device.taints or ()
            if (t.key, t.effect) != (taint.key, taint.effect)
        ]
        return replace(device, taints=[*kept, new])

    return change


def untainted(edit: Untaint) -> Callable[[str, Device], Device]:
    def change(_driver: str, device: Device) -> Device:
        kept = [t for t in device.taints or () if not _is_taken(t, edit)]
        return replace(device, taints=kept or None)

    return change


def _is_taken(taint: DeviceTaint, edit: Untaint) -> bool:
    return edit.key in ("", taint.key) and edit.effect in ("", taint.effect)


def on_untainting(snapshot: Snapshot, chosen: Chosen, edit: Untaint) -> list[str]:
    """Notes where taking taints away leaves less changed than people think.

    ``chosen`` are the devices as they were, ``snapshot`` is how the cluster is now.
    """
    notes = []
    old = [
        taint
        for piece, places in chosen.values()
        for place, device in enumerate(piece.spec.devices or ())
        if place in places
        for taint in device.taints or ()
    ]
    if not any(_is_taken(taint, edit) for taint in old):
        which = " ".join(filter(None, (edit.key, edit.effect)))
        notes.append(
            f"No slice puts {f'the taint {which}' if which else 'a taint'} on these devices."
        )
    rules = TaintRules(snapshot.taint_rules.values())
    left = {
        one.rule: None
        for piece, places in chosen.values()
        for place, device in enumerate(piece.spec.devices or ())
        if place in places
        for one in rules.for_device(
            DeviceID(piece.spec.driver, piece.spec.pool.name, device.name)
        )
        if _is_taken(one.taint, edit)
    }
    if left:
        notes.append(
            f"Taints that rules put on these devices stay: {names(list(left))}. Remove "
            "these rules too."
        )
    return notes


def on_dropping(chosen: Chosen, edit: ChangeDevices) -> list[str]:
    """A note where none of the devices has what it is to lose: it may be misspelled."""
    left = dict.fromkeys(edit.drop)
    for piece, places in chosen.values():
        for place, device in enumerate(piece.spec.devices or ()):
            if not left:
                return []
            if place in places:
                has = {**(device.attributes or {}), **(device.capacity or {})}
                driver = piece.spec.driver
                left = {n: None for n in left if _spelled(n, has, driver) not in has}
    if not left:
        return []
    return [f"None of these devices has an attribute or capacity {names(list(left))}."]


def republished(
    edit: ChangeDevices, path: str
) -> Callable[[str, Device], Device | None]:
    """Raises :class:`ScenarioError` for a value that no slice can have."""
    attributes = {
        name: _attribute(raw, f"{path}.attributes[{name}]")
        for name, raw in edit.attributes.items()
    }
    check_device({"attributes": edit.attributes}, path, {})
    for name, amount in edit.capacity.items():
        try:
            quantity.read(amount)
        except QuantityError as error:
            raise ScenarioError(f"{path}.capacity[{name}]", str(error)) from error
    amounts = {name: {"value": amount} for name, amount in edit.capacity.items()}
    check_device({"capacity": amounts}, path, {})
    if not (attributes or edit.capacity or edit.drop or edit.remove):
        raise ScenarioError(
            path, "changes nothing: give attributes, capacity, drop or remove"
        )

    def change(driver: str, device: Device) -> Device | None:
        if edit.remove:
            return None
        old_attributes, old_capacity = device.attributes or {}, device.capacity or {}
        new_attributes = _without(old_attributes, edit.drop, driver)
        for name, attribute in attributes.items():
            new_attributes[_spelled(name, old_attributes, driver)] = attribute
        new_capacity = _without(old_capacity, edit.drop, driver)
        for name, amount in edit.capacity.items():
            key = _spelled(name, old_capacity, driver)
            old = new_capacity.get(key, DeviceCapacity())
            new_capacity[key] = replace(old, value=amount)
        return replace(
            device,
            attributes=new_attributes or None,
            capacity=new_capacity or None,
        )

    return change


def _attribute(raw: Json, path: str) -> DeviceAttribute:
    try:
        found = read(raw, DeviceAttribute)
    except ObjectError as error:
        raise ScenarioError(f"{path}.{error.path}", error.reason) from error
    fields = [
        f
        for f in DeviceAttribute.__struct_fields__
        if getattr(found, f, None) is not None
    ]
    if len(fields) != 1 or len(raw) != 1:
        raise ScenarioError(
            path, "exactly one of string, int, bool, version or their lists is expected"
        )
    return found


def _spelled(name: str, published: Mapping[str, object], driver: str) -> str:
    """The spelling, with the driver's domain or without, that a device uses."""
    if name in published:
        return name
    domain, slash, identifier = name.partition("/")
    other = identifier if slash and domain == driver else f"{driver}/{name}"
    return other if (slash == "" or domain == driver) and other in published else name


def _without[T](
    published: Mapping[str, T], drop: list[str], driver: str
) -> dict[str, T]:
    gone = {_spelled(name, published, driver) for name in drop}
    return {name: value for name, value in published.items() if name not in gone}


# --- nodes ---------------------------------------------------------------------


def new_nodes(snapshot: Snapshot, edit: AddNodes, path: str) -> tuple[list[Base], str]:
    """Copies of a node and its own slices, and a note on what could not be copied."""
    like = snapshot.nodes.get(edit.like)
    if like is None:
        raise ScenarioError(f"{path}.like", f"the cluster has no node {edit.like}")
    own: list[ResourceSlice] = []
    shared: list[PoolKey] = []
    for key in snapshot.pool_index.by_node.get(edit.like, ()):
        pool = snapshot.pools[key]
        if pool.node_name == edit.like:
            own += pool.current
        else:
            shared.append(key)
    shared += [
        key for key in snapshot.pool_index.networked if _names(snapshot, key, edit.like)
    ]
    note = ""
    if shared:
        note = (
            f"Pools that span several nodes are not copied for nodes like {edit.like}: "
            f"{', '.join(f'{key.driver}/{key.name}' for key in dict.fromkeys(shared))}."
        )
    made: list[Base] = []
    for name in _free_names(snapshot, edit):
        made.append(_copied_node(like, name))
        made += [_copied_slice(piece, edit.like, name) for piece in own]
    return made, note


def _names(snapshot: Snapshot, key: PoolKey, node: str) -> bool:
    """Whether a pool names the node device by device."""
    return any(device.node_name == node for device in snapshot.pools[key].devices())


def _free_names(snapshot: Snapshot, edit: AddNodes) -> Iterator[str]:
    prefix = edit.prefix or f"{edit.like}-copy"
    number = given = 0
    while given < edit.count:
        number += 1
        name = f"{prefix}-{number}"
        # Slices that a node has left behind would be mixed up with the new ones.
        if name not in snapshot.nodes and name not in snapshot.pool_index.by_node:
            given += 1
            yield name


def _copied_node(like: Node, name: str) -> Node:
    old = like.metadata.name
    labels = {
        key: name if value == old else value
        for key, value in (like.metadata.labels or {}).items()
    }
    conditions = [
        replace(c, status="True") if c.type == "Ready" else c
        for c in like.status.conditions or ()
    ]
    lasting = [taint for taint in like.spec.taints or () if not is_passing(taint)]
    return Node(
        metadata=replace(
            like.metadata,
            name=name,
            uid="",
            labels=labels or None,
            deletion_timestamp=None,
        ),
        spec=NodeSpec(taints=lasting or None),
        status=replace(like.status, conditions=conditions or None),
    )


def _copied_slice(piece: ResourceSlice, old: str, new: str) -> ResourceSlice:
    devices = [replace(device, taints=None) for device in piece.spec.devices or ()]
    pool = piece.spec.pool
    return ResourceSlice(
        metadata=replace(
            piece.metadata,
            name=_renamed(piece.metadata.name, old, new),
            uid="",
            owner_references=None,
        ),
        spec=replace(
            piece.spec,
            node_name=new,
            pool=replace(pool, name=_renamed(pool.name, old, new)),
            devices=devices if piece.spec.devices is not None else None,
        ),
    )


def _renamed(name: str, old: str, new: str) -> str:
    return name.replace(old, new) if old in name else f"{name}-{new}"
