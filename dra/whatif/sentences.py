"""What a scenario says in words; the only place for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from dra.whatif import edits
from dra.whatif.edits import Edit
from dra.whatif.parts import DeviceChoice, Json, TaintSpec
from dra.whatif.scenario import (
    ClaimWork,
    GroupWork,
    PodWork,
    Scenario,
    Target,
    TemplateWork,
    Waiting,
    Work,
)
from dra.whatif.words import count, listed, names, plural, upper


def of_scenario(scenario: Scenario) -> list[str]:
    """The scenario as sentences, edits first: "Drain h100-00017."."""
    return [
        *(of_edit(edit) for edit in scenario.edits),
        *(of_work(work) for work in scenario.workload),
    ]


# --- edits ---


def of_edit(edit: Edit) -> str:
    return f"{_EDITS[type(edit)](edit)}."


def _nodes(verb: str) -> Callable[[edits.NodeEdit], str]:
    def say(edit: edits.NodeEdit) -> str:
        parts = [names(edit.nodes, "node")] if edit.nodes else []
        if edit.labels:
            parts.append(f"the nodes with {edit.labels}")
        return f"{verb} {' and '.join(parts)}"

    return say


def _add_nodes(edit: edits.AddNodes) -> str:
    return f"Add {count(edit.count, 'node')} like {edit.like}"


def _taint(edit: edits.Taint) -> str:
    return f"Taint {_devices(edit.devices)} with {_taint_words(edit.taint)}"


def _untaint(edit: edits.Untaint) -> str:
    what = f"taint {edit.key}" if edit.key else "taints"
    effect = f" with effect {edit.effect}" if edit.effect else ""
    return f"Take {what}{effect} from {_devices(edit.devices)}"


def _by_rule(edit: edits.TaintByRule) -> str:
    parts = [
        f"{name} {value}"
        for name, value in (
            ("driver", edit.driver),
            ("pool", edit.pool),
            ("device", edit.device),
        )
        if value
    ]
    meant = f"devices of {', '.join(parts)}" if parts else "every device"
    words = _taint_words(edit.taint)
    return f"Add taint rule {edit.name}, which taints {meant} with {words}"


def _change_devices(edit: edits.ChangeDevices) -> str:
    which = _devices(edit.devices)
    if edit.remove:
        return f"Remove {which}"
    parts = [
        f"set {name} to {_value(raw)}" for name, raw in sorted(edit.attributes.items())
    ]
    parts += [
        f"set {name} to {amount}" for name, amount in sorted(edit.capacity.items())
    ]
    if edit.drop:
        parts.append(f"drop {', '.join(edit.drop)}")
    return f"On {which} {listed(parts)}"


def _release(edit: edits.Release) -> str:
    parts = [f"claim{plural(edit.claims)} {names(edit.claims)}"] if edit.claims else []
    if edit.namespace:
        parts.append(f"everything of namespace {edit.namespace}")
    return f"Release {' and '.join(parts)}"


def _set_class(edit: edits.SetClass) -> str:
    selectors = edit.spec.get("selectors")
    found = [
        str(selector["cel"].get("expression"))
        for selector in (selectors if isinstance(selectors, list) else ())
        if isinstance(selector, dict) and isinstance(selector.get("cel"), dict)
    ]
    chosen = f"those with {listed(found)}" if found else "every device"
    return f"Let class {edit.name} select {chosen}"


def _features(edit: edits.SetFeatures) -> str:
    parts = [f"switch to Kubernetes {edit.version}"] if edit.version else []
    parts += [
        f"turn {name} {'on' if on else 'off'}"
        for name, on in sorted(edit.gates.items())
    ]
    return upper(listed(parts))


def _add(edit: edits.Add) -> str:
    if len(edit.objects) == 1:
        return f"Add {_object(edit.objects[0])}"
    return f"Add {_kinds(str(raw.get('kind')) for raw in edit.objects)}"


def _remove(edit: edits.Remove) -> str:
    if len(edit.objects) == 1:
        named = edit.objects[0]
        where = f"{named.namespace}/" if named.namespace else ""
        return f"Remove {_kind(named.kind)} {where}{named.name}"
    return f"Remove {_kinds(named.kind for named in edit.objects)}"


_EDITS: Final[dict[type[Any], Callable[[Any], str]]] = {
    edits.Drain: _nodes("Drain"),
    edits.Cordon: _nodes("Cordon"),
    edits.Uncordon: _nodes("Uncordon"),
    edits.RemoveNodes: _nodes("Remove"),
    edits.AddNodes: _add_nodes,
    edits.Taint: _taint,
    edits.Untaint: _untaint,
    edits.TaintByRule: _by_rule,
    edits.ChangeDevices: _change_devices,
    edits.Release: _release,
    edits.SetClass: _set_class,
    edits.RemoveClass: lambda edit: f"Remove class {edit.name}",
    edits.SetFeatures: _features,
    edits.Add: _add,
    edits.Remove: _remove,
}


# --- work ---


def of_work(work: Work) -> str:
    match work:
        case ClaimWork():
            name = work.existing or _name(work.claim, "claim")
            if work.existing and work.copies == 1:
                return f"Place claim {name}{_on(work.on)}."
            return f"Add {work.copies:,} × claim {name}{_on(work.on)}."
        case TemplateWork():
            name = work.existing or _name(work.template, "template")
            return f"Add {work.copies:,} × claim from template {name}{_on(work.on)}."
        case PodWork():
            return f"Add {work.copies:,} × {_pod(work)}{_on(work.on)}."
        case GroupWork():
            pods = sum(pod.copies for pod in work.pods)
            return (
                f"Add {work.copies:,} × group {work.name} of {count(pods, 'pod')} with "
                f"{_of_group(work)}, together or not at all."
            )
        case Waiting():
            where = f" in namespace {work.namespace}" if work.namespace else ""
            return f"Place the pods that wait{where}."


def _of_group(work: GroupWork) -> str:
    claims = sum(pod.copies * len(pod.claims) for pod in work.pods)
    asked = sorted({name for pod in work.pods for name in pod.resources})
    return listed([*([count(claims, "claim")] if claims or not asked else []), *asked])


def _pod(work: PodWork) -> str:
    parts = [count(len(work.claims), "claim")] if work.claims else []
    parts += [f"{amount} × {name}" for name, amount in sorted(work.resources.items())]
    return f"pod {work.name} with {listed(parts)}"


def _on(target: Target) -> str:
    parts = [names(target.nodes, "node")] if target.nodes else []
    if target.labels:
        parts.append(f"nodes with {target.labels}")
    return f" on {' and '.join(parts)}" if parts else ""


# --- words ---


def _devices(choice: DeviceChoice) -> str:
    parts = [
        f"{name} {value}"
        for name, value in (
            ("device", choice.device),
            ("pool", choice.pool),
            ("driver", choice.driver),
            ("node", choice.node),
        )
        if value
    ]
    text = f"devices of {', '.join(parts)}" if parts else "devices"
    if choice.device:
        text = " of ".join(parts)
    return f"{text} where {choice.cel}" if choice.cel else text


def _taint_words(taint: TaintSpec) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def _value(raw: Json) -> str:
    return ", ".join(str(value) for value in raw.values())


def _object(raw: Json) -> str:
    return f"{_kind(str(raw.get('kind')))} {_name(raw, '(no name)')}"


def _name(raw: Json | None, otherwise: str) -> str:
    meta = (raw or {}).get("metadata")
    if not isinstance(meta, dict) or not meta.get("name"):
        return otherwise
    namespace = meta.get("namespace")
    return f"{namespace}/{meta['name']}" if namespace else str(meta["name"])


_KINDS: Final = {
    "DeviceClass": "class",
    "DeviceTaintRule": "taint rule",
    "PodGroup": "pod group",
    "ResourceClaim": "claim",
    "ResourceClaimTemplate": "claim template",
    "ResourceSlice": "slice",
}


def _kind(kind: str) -> str:
    return _KINDS.get(kind, kind.lower())


def _kinds(kinds: Iterable[str]) -> str:
    counted = Counter(map(_kind, kinds))
    return listed([count(number, kind) for kind, number in counted.items()])
