"""A scenario with one of the changes that its answer offers."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final

type Json = dict[str, Any]


MOVED: Final = "moved"
"""In the place of an item's number: what had to move and found no place."""


def changed(document: Json, result: Mapping[str, Any], text: str) -> Json | None:
    """``document`` with the change that ``text`` names.

    That is "item.change", both numbers, or "moved.number.change". ``result`` is in the
    form of :func:`allocator.whatif.results.stored`. None where there is no such change,
    or where the scenario's text cannot say it: of the claim that the scheduler makes of
    extended resources, or where a claim would be released that the scenario places.
    """
    found = _named(result, text)
    if found is None:
        return None
    entry, change = found
    # Of a long scenario only what is changed is copied.
    made = document | {
        "edits": list(document.get("edits", ())),
        "workload": list(document.get("workload", ())),
    }
    if change["code"] == "wait":
        if change["before"] in _placed(result):
            return None
        made["edits"].append({"edit": "release", "claims": [change["before"]]})
        return made
    spec, asked = change["spec"], entry.get("asked", ())
    if spec is None or change["claim"] >= len(asked):
        return None
    wanted = asked[change["claim"]] | {"spec": spec}
    if "item" not in entry:
        return None if wanted.get("made") else _replace(made, _manifest(wanted))
    work = copy.deepcopy(made["workload"][entry["item"]])
    made["workload"][entry["item"]] = work
    return made if _put(made, work, entry, wanted) else None


def _named(
    result: Mapping[str, Any], text: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The item, or what found no place, and one of its changes."""
    *kind, place, number = text.split(".") if text.count(".") else ("", "")
    if kind not in ([], [MOVED]) or not all(map(_is_number, (place, number))):
        return None
    found = result.get("stranded", ()) if kind else result["items"]
    for at, entry in enumerate(found):
        changes = (entry.get("explanation") or {}).get("relaxations", ())
        if entry.get("item", at) == int(place) and int(number) < len(changes):
            return entry, changes[int(number)]
    return None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 7


def _placed(result: Mapping[str, Any]) -> set[str]:
    """Claims that work of the scenario got devices for."""
    return {
        f"{claim['namespace']}/{claim['name']}"
        for placement in result["placements"]
        if placement["item"] >= 0
        for claim in placement["claims"]
    }


def _manifest(wanted: Json) -> Json:
    return {
        "metadata": {"namespace": wanted["namespace"], "name": wanted["name"]},
        "spec": wanted["spec"],
    }


def _put(document: Json, work: Json, item: Mapping[str, Any], wanted: Json) -> bool:
    """Let ``work`` ask for the spec of ``wanted``; False where it has no place for it."""
    manifest, asked = _manifest(wanted), item["asked"]
    match work["place"]:
        case "claim" if "claim" in work:
            work["claim"] = work["claim"] | {"spec": wanted["spec"]}
        case "claim" if work["existing"] == f"{wanted['namespace']}/{wanted['name']}":
            _replace(document, manifest)
        case "claim":
            namespace, _, name = work.pop("existing").partition("/")
            manifest["metadata"] = {"namespace": namespace, "name": name}
            work["claim"] = manifest
        case "template":
            _of_template(work, wanted)
        case "pod":
            return _of_pod(document, work, asked, manifest)
        case "group":
            pod = _member(work, item)
            return pod is not None and _of_pod(document, pod, asked, manifest)
        case "waiting" if not wanted.get("made"):
            _replace(document, manifest)
        case _:
            return False
    return True


def _of_template(work: Json, wanted: Json) -> None:
    template = work.pop("template", None)
    if template is None:
        namespace, _, name = work.pop("existing").partition("/")
        template = {"metadata": {"namespace": namespace, "name": name}, "spec": {}}
    spec = template.get("spec", {}) | {"spec": wanted["spec"]}
    work["template"] = template | {"spec": spec}


def _member(work: Json, item: Mapping[str, Any]) -> Json | None:
    """The entry of a group's pods of which the item's pod is a copy."""
    group = work["name"]
    if work.get("copies", 1) > 1:
        group = f"{group}-{item['placed'] + 1}"
    for pod in work["pods"]:
        name, copies = f"{group}-{pod['name']}", pod.get("copies", 1)
        copy_names = (f"{name}-{number + 1}" for number in range(copies))
        if item["pod"] == name if copies == 1 else item["pod"] in copy_names:
            found: Json = pod
            return found
    return None


def _of_pod(
    document: Json, work: Json, asked: Sequence[Mapping[str, Any]], manifest: Json
) -> bool:
    """Claims that wait are in the order of the pod's entries; allocated ones are left
    out, and one of extended resources comes last."""
    waiting = {claim["name"] for claim in asked}
    entries = []
    for entry in work.get("claims", ()):
        name = entry.get("claimName")
        if name is None or name in waiting:
            entries.append(entry)
            waiting.discard(name)  # one that is named again is the same claim
    place = [claim["name"] for claim in asked].index(manifest["metadata"]["name"])
    if place >= len(entries):
        return False
    entry = entries[place]
    if entry.get("claimName") is not None:
        _replace(document, manifest)
        return True
    old = entry.get("claim") or {}
    metadata = old.get("metadata") or {"name": f"claim-{place + 1}"}
    entry.clear()
    entry["claim"] = {"metadata": metadata, "spec": manifest["spec"]}
    return True


def _replace(document: Json, manifest: Json) -> Json:
    """Have a claim of the cluster ask otherwise."""
    made = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", **manifest}
    document["edits"].append({"edit": "add", "objects": [made]})
    return document
