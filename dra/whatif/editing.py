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
    Node,
    Pod,
    ResourceClaim,
    TaintRuleSelector,
)
from dra.validation.gates import Gates
from dra.whatif import edits
from dra.whatif.choosing import chosen_devices, chosen_nodes
from dra.whatif.drafts import draft
from dra.whatif.edits import Edit
from dra.whatif.errors import ScenarioError
from dra.whatif.hardware import (
    changed_slices,
    new_nodes,
    republished,
    tainted,
    untainted,
)
from dra.whatif.losses import Losses
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
        names = self._nodes(edit, path)
        self._set_unschedulable(names, value=True)
        self.losses.leave_nodes(frozenset(names), "drained")

    def cordon(self, edit: edits.Cordon, path: str) -> None:
        self._set_unschedulable(self._nodes(edit, path), value=True)

    def uncordon(self, edit: edits.Uncordon, path: str) -> None:
        self._set_unschedulable(self._nodes(edit, path), value=False)

    def remove_nodes(self, edit: edits.RemoveNodes, path: str) -> None:
        names = frozenset(self._nodes(edit, path))
        self.losses.leave_nodes(names, "node removed")
        slices = [
            ObjectKey("ResourceSlice", "", name)
            for name, piece in self.world.snapshot.slices.items()
            if piece.spec.node_name in names
        ]
        nodes = [ObjectKey("Node", "", name) for name in sorted(names)]
        self.world.edit(remove=[*slices, *nodes])

    def add_nodes(self, edit: edits.AddNodes, path: str) -> None:
        made, note = new_nodes(self.world.snapshot, edit, path)
        if note:
            self.world.notes.append(note)
        self.world.edit(add=made)

    def _nodes(self, edit: edits.NodeEdit, path: str) -> list[str]:
        return chosen_nodes(self.world.snapshot, edit.nodes, edit.labels, path)

    def _set_unschedulable(self, names: list[str], *, value: bool) -> None:
        nodes: list[Node] = [self.world.snapshot.nodes[name] for name in names]
        self.world.edit(
            add=[
                replace(node, spec=replace(node.spec, unschedulable=value))
                for node in nodes
            ]
        )

    # --- devices ---

    def taint(self, edit: edits.Taint, path: str) -> None:
        self._change(edit.devices, path, tainted(edit.taint))

    def untaint(self, edit: edits.Untaint, path: str) -> None:
        self._change(edit.devices, path, untainted(edit))

    def change_devices(self, edit: edits.ChangeDevices, path: str) -> None:
        self._change(edit.devices, path, republished(edit, path))

    def _change(self, choice: Any, path: str, change: Callable[..., Any]) -> None:
        chosen = chosen_devices(
            self.world.snapshot, choice, self.world.features, f"{path}.devices"
        )
        self.world.edit(add=changed_slices(chosen, change))

    def taint_by_rule(self, edit: edits.TaintByRule, path: str) -> None:
        if edit.name in self.world.snapshot.taint_rules:
            raise ScenarioError(
                f"{path}.name", f"the cluster has a taint rule {edit.name} already"
            )
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
        self.world.edit(add=[made])

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
            if kind == "ResourceClaim" and "status" not in raw:
                one = self._with_status(one)
            made.append(one)
        self.world.edit(add=made)

    def _with_status(self, claim: ResourceClaim) -> ResourceClaim:
        """With that of the claim in whose place it comes: it has what that one has."""
        old = self.world.claim((claim.metadata.namespace, claim.metadata.name))
        return claim if old is None else replace(claim, status=old.status)

    def remove(self, edit: edits.Remove, path: str) -> None:
        snapshot = self.world.snapshot
        keys: list[ObjectKey] = []
        pods: list[Pod] = []
        for place, named in enumerate(edit.objects):
            table = _TABLES.get(named.kind)
            if table is None:
                known = ", ".join(sorted(_TABLES))
                raise ScenarioError(
                    f"{path}.objects[{place}].kind",
                    f"{named.kind!r} is none of {known}",
                )
            own: Any = getattr(snapshot, table)
            namespaced = named.kind in _NAMESPACED
            key = (named.namespace, named.name) if namespaced else named.name
            if key not in own:
                raise ScenarioError(
                    f"{path}.objects[{place}]",
                    f"the cluster has no {named.kind} {named.name}",
                )
            if named.kind == "Pod":
                pods.append(cast("Pod", own[key]))
            namespace = named.namespace if namespaced else ""
            keys.append(ObjectKey(named.kind, namespace, named.name))
        if pods:
            self.losses.remove_pods(pods)
        self.world.edit(remove=keys)


_EXTENDED_RESOURCE: Final = ("extendedResource", "DRAExtendedResource")
"""Names of the gate that decides about pods, not about an allocation."""

_TABLES: Final = {
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
_NAMESPACED: Final = frozenset(
    {"Pod", "PodGroup", "ResourceClaim", "ResourceClaimTemplate"}
)

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
