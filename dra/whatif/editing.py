"""Carrying out the edits of a scenario, one after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from msgspec.structs import replace

from dra.allocation.features import Features
from dra.names import ObjectKey
from dra.objects import (
    Base,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    Meta,
    Node,
    Pod,
    ResourceClaim,
    TaintRuleSelector,
)
from dra.snapshot_reading import NAMESPACED, TABLES, table_key
from dra.validation.gates import Gates
from dra.whatif import edits
from dra.whatif.choosing import Chosen, chosen_devices, chosen_nodes
from dra.whatif.drafts import NAMESPACE, check_device, draft
from dra.whatif.edits import Edit
from dra.whatif.errors import ScenarioError
from dra.whatif.hardware import (
    changed_slices,
    new_nodes,
    on_dropping,
    on_untainting,
    republished,
    tainted,
    untainted,
)
from dra.whatif.losses import Losses
from dra.whatif.node_taints import cordoned
from dra.whatif.parts import TaintSpec
from dra.whatif.words import names
from dra.whatif.world import World, released


class Editor:
    """Edits a run's world; what claims lose goes to ``losses``.

    Raises :class:`ScenarioError` with the edit's field.
    """

    def __init__(self, world: World, losses: Losses) -> None:
        self.world = world
        self.losses = losses

    def carry_out(self, edit: Edit, path: str) -> None:
        _WAYS[type(edit)](self, edit, path)

    # --- nodes ---

    def drain(self, edit: edits.Drain, path: str) -> None:
        found = self._nodes(edit, path)
        self._set_unschedulable(found, value=True)
        self.losses.leave_nodes(frozenset(found), "drained")

    def cordon(self, edit: edits.Cordon, path: str) -> None:
        self._set_unschedulable(self._nodes(edit, path), value=True)

    def uncordon(self, edit: edits.Uncordon, path: str) -> None:
        self._set_unschedulable(self._nodes(edit, path), value=False)

    def remove_nodes(self, edit: edits.RemoveNodes, path: str) -> None:
        found = self._nodes(edit, path)
        self._leave(frozenset(found))
        self.world.edit(remove=[ObjectKey("Node", "", name) for name in found])

    def _leave(self, nodes: frozenset[str]) -> None:
        """Nodes are gone: their pods go, and the slices that they own."""
        self.losses.leave_nodes(nodes, "node removed")
        slices = [
            ObjectKey("ResourceSlice", "", name)
            for name, piece in self.world.snapshot.slices.items()
            if piece.spec.node_name in nodes
        ]
        self.world.edit(remove=slices)

    def add_nodes(self, edit: edits.AddNodes, path: str) -> None:
        made, note = new_nodes(self.world.snapshot, edit, path)
        if note:
            self.world.notes.append(note)
        self.world.edit(add=made)

    def _nodes(self, edit: edits.NodeEdit, path: str) -> list[str]:
        return chosen_nodes(self.world.snapshot, edit.nodes, edit.labels, path)

    def _set_unschedulable(self, found: list[str], *, value: bool) -> None:
        nodes: list[Node] = [self.world.snapshot.nodes[name] for name in found]
        self.world.edit(
            add=[cordoned(node, value=value) for node in nodes],
        )

    # --- devices ---

    def taint(self, edit: edits.Taint, path: str) -> None:
        _check_taint(edit.taint, path)
        self._change(edit.devices, path, tainted(edit.taint))

    def untaint(self, edit: edits.Untaint, path: str) -> None:
        chosen = self._change(edit.devices, path, untainted(edit))
        self.world.notes += on_untainting(self.world.snapshot, chosen, edit)

    def change_devices(self, edit: edits.ChangeDevices, path: str) -> None:
        chosen = self._change(edit.devices, path, republished(edit, path))
        self.world.notes += on_dropping(chosen, edit)

    def _change(self, choice: Any, path: str, change: Callable[..., Any]) -> Chosen:
        chosen = chosen_devices(
            self.world.snapshot, choice, self.world.features, f"{path}.devices"
        )
        self.world.edit(add=changed_slices(chosen, change))
        return chosen

    def taint_by_rule(self, edit: edits.TaintByRule, path: str) -> None:
        if edit.name in self.world.snapshot.taint_rules:
            raise ScenarioError(
                f"{path}.name", f"the cluster has a taint rule {edit.name} already"
            )
        _check_taint(edit.taint, path)
        selector = TaintRuleSelector(
            driver=edit.driver or None,
            pool=edit.pool or None,
            device=edit.device or None,
        )
        taint = DeviceTaint(
            key=edit.taint.key, value=edit.taint.value, effect=edit.taint.effect
        )
        rule = DeviceTaintRule(
            spec=DeviceTaintRuleSpec(device_selector=selector, taint=taint)
        )
        named = replace(rule, metadata=replace(rule.metadata, name=edit.name))
        self.world.edit(add=[named])

    # --- claims and classes ---

    def release(self, edit: edits.Release, path: str) -> None:
        snapshot = self.world.snapshot
        if not edit.claims and not edit.namespace:
            raise ScenarioError(path, "no claim is named: give claims or namespace")
        keys: dict[tuple[str, str], None] = {}
        for place, reference in enumerate(edit.claims):
            namespace, _, name = reference.partition("/")
            if (namespace, name) not in snapshot.claims:
                raise ScenarioError(
                    f"{path}.claims[{place}]", f"the cluster has no claim {reference}"
                )
            keys[namespace, name] = None
        if edit.namespace:
            own = [key for key in snapshot.claims if key[0] == edit.namespace]
            if not own:
                raise ScenarioError(
                    f"{path}.namespace", f"namespace {edit.namespace} has no claim"
                )
            keys |= dict.fromkeys(sorted(own))
        claims = [snapshot.claims[key] for key in keys]
        self.world.edit(add=[released(c) for c in claims if c.status.allocation])
        self.losses.let_go(keys)

    def set_class(self, edit: edits.SetClass, path: str) -> None:
        raw = {"metadata": {"name": edit.name}, "spec": edit.spec}
        made = draft("DeviceClass", raw, path, self.world.snapshot)
        old = self.world.snapshot.classes.get(edit.name)
        self.world.edit(add=[_in_place_of(old, made)])

    def remove_class(self, edit: edits.RemoveClass, path: str) -> None:
        if edit.name not in self.world.snapshot.classes:
            raise ScenarioError(f"{path}.name", f"the cluster has no class {edit.name}")
        self.world.edit(remove=[ObjectKey("DeviceClass", "", edit.name)])

    def set_features(self, edit: edits.SetFeatures, path: str) -> None:
        if not edit.version and not edit.gates:
            raise ScenarioError(path, "switches nothing: give version or gates")
        world = self.world
        features = world.features
        if edit.version:
            try:
                features = Features.preset(edit.version)
                extended = Gates.preset(edit.version).extended_resource
            except ValueError as error:
                raise ScenarioError(f"{path}.version", str(error)) from error
            world.extended_resources = extended
        gates = dict(edit.gates)
        for name in _EXTENDED_RESOURCE:
            world.extended_resources = gates.pop(name, world.extended_resources)
        try:
            world.features = features.override(gates)
        except ValueError as error:
            raise ScenarioError(f"{path}.gates", str(error)) from error

    # --- any object ---

    def add(self, edit: edits.Add, path: str) -> None:
        made: list[Base] = []
        for place, raw in enumerate(edit.objects):
            at = f"{path}.objects[{place}]"
            kind = raw.get("kind")
            if not isinstance(kind, str):
                raise ScenarioError(f"{at}.kind", "is missing")
            one = draft(kind, raw, at, self.world.snapshot)
            old = self._known(kind, one)
            if isinstance(old, ResourceClaim) and "status" not in raw:
                one = replace(one, status=old.status)  # it has what that one has
            made.append(_in_place_of(old, one))
        self.world.edit(add=made)

    def _known(self, kind: str, one: Any) -> Any:
        """The object in whose place one comes, None: there is none."""
        key = ObjectKey(kind, one.metadata.namespace, one.metadata.name)
        return getattr(self.world.snapshot, TABLES[kind]).get(table_key(key))

    def remove(self, edit: edits.Remove, path: str) -> None:
        snapshot = self.world.snapshot
        keys: list[ObjectKey] = []
        pods: list[Pod] = []
        nodes: list[str] = []
        for place, named in enumerate(edit.objects):
            table = TABLES.get(named.kind)
            if table is None:
                known = ", ".join(sorted(TABLES))
                raise ScenarioError(
                    f"{path}.objects[{place}].kind",
                    f"{named.kind!r} is none of {known}",
                )
            own: Any = getattr(snapshot, table)
            namespaced = named.kind in NAMESPACED
            namespace = (named.namespace or NAMESPACE) if namespaced else ""
            key = (namespace, named.name) if namespaced else named.name
            if key not in own:
                name = f"{namespace}/{named.name}" if namespaced else named.name
                raise ScenarioError(
                    f"{path}.objects[{place}]",
                    f"the cluster has no {named.kind} {name}",
                )
            if named.kind == "Pod":
                pods.append(cast("Pod", own[key]))
            elif named.kind == "Node":
                nodes.append(named.name)
            elif named.kind == "ResourceClaim":
                self._note_in_use(own[key])
            keys.append(ObjectKey(named.kind, namespace, named.name))
        if pods:
            self.losses.remove_pods(pods)
        if nodes:
            self._leave(frozenset(nodes))
        self.world.edit(remove=keys)

    def _note_in_use(self, claim: ResourceClaim) -> None:
        users = [reference.name for reference in claim.status.reserved_for or ()]
        if users:
            meta = claim.metadata
            self.world.notes.append(
                f"Claim {meta.namespace}/{meta.name} is taken as gone at once: Kubernetes "
                f"keeps it and its devices until {names(users)} has ended."
            )


def _check_taint(taint: TaintSpec, path: str) -> None:
    raw = {"key": taint.key, "value": taint.value, "effect": taint.effect}
    check_device({"taints": [raw]}, path, {"taints[0]": "taint"})


_NEWEST: Final = "9999-12-31T23:59:59Z"
"""The time of what a scenario brings: of classes with one extended resource the newest
counts, and pods wait for those that are older."""


def _in_place_of(old: Any, made: Any) -> Any:
    """``made`` as an update of ``old``: what the server keeps stays."""
    given = made.metadata
    known = old.metadata if old is not None else Meta(creation_timestamp=_NEWEST)
    meta = replace(
        given,
        uid=given.uid or known.uid,
        creation_timestamp=given.creation_timestamp or known.creation_timestamp,
        owner_references=given.owner_references or known.owner_references,
    )
    return replace(made, metadata=meta)


_EXTENDED_RESOURCE: Final = ("extendedResource", "DRAExtendedResource")
"""Names of the gate that decides about pods, not about an allocation."""

_WAYS: Final[dict[type[Any], Callable[[Editor, Any, str], None]]] = {
    edits.Drain: Editor.drain,
    edits.Cordon: Editor.cordon,
    edits.Uncordon: Editor.uncordon,
    edits.RemoveNodes: Editor.remove_nodes,
    edits.AddNodes: Editor.add_nodes,
    edits.Taint: Editor.taint,
    edits.Untaint: Editor.untaint,
    edits.TaintByRule: Editor.taint_by_rule,
    edits.ChangeDevices: Editor.change_devices,
    edits.Release: Editor.release,
    edits.SetClass: Editor.set_class,
    edits.RemoveClass: Editor.remove_class,
    edits.SetFeatures: Editor.set_features,
    edits.Add: Editor.add,
    edits.Remove: Editor.remove,
}
