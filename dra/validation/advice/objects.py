"""Advice on classes and slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dra.names import qualified_name
from dra.validation.advice.advice import Advice
from dra.validation.advice.asks import expressions
from dra.validation.advice.requests import on_expression
from dra.validation.advice.scene import Scene

type Found = Iterator[Advice]


def on_class(name: str, spec: Mapping[str, Any], scene: Scene) -> Found:
    own = expressions(spec)
    steps = scene.matching(own)
    total = len(scene.table)
    if not own:
        yield Advice(
            "class-everything",
            "spec.selectors",
            f"Without a selector every one of the {total:,} devices of the cluster is "
            "of this class.",
        )
    for index, step in enumerate(steps):
        field = f"spec.selectors[{index}].cel.expression"
        yield from on_expression(step.expression, field, step.before, scene)
        if step.narrows_to_none:
            yield Advice(
                "selector-matches-none",
                field,
                "No device of the cluster would be of this class.",
            )
            break
    yield from _resource_name(name, spec.get("extendedResourceName"), scene)


def _resource_name(name: str, resource: str | None, scene: Scene) -> Found:
    """Of two classes with one name the newest wins, of equally old ones the first by name."""
    if not resource:
        return
    others = sorted(
        other
        for other, found in scene.snapshot.classes.items()
        if found.spec.extended_resource_name == resource and other != name
    )
    if not others:
        return
    holders = ", ".join(others)
    if name in scene.snapshot.classes:
        outcome = "the newest class wins, and at equal age the name that sorts first"
    else:
        outcome = "the newest class wins, so pods would get devices of this one"
    yield Advice(
        "resource-name-taken",
        "spec.extendedResourceName",
        f"{resource} is also that of {holders}; {outcome}.",
    )


def on_slice(spec: Mapping[str, Any]) -> Found:
    driver = spec.get("driver", "")
    for index, device in enumerate(spec.get("devices") or ()):
        for kind in ("attributes", "capacity"):
            field = f"spec.devices[{index}].{kind}"
            seen: dict[str, str] = {}
            for key in device.get(kind) or ():
                if key.count("/") > 1:
                    yield Advice(
                        "name-unchecked",
                        field,
                        f"{key} has more than one slash: the API server does not check "
                        "such names, and no expression can read them.",
                    )
                full = qualified_name(key, driver)
                if full in seen:
                    yield Advice(
                        "name-twice",
                        field,
                        f"{seen[full]} and {key} are the same name; it is open which of "
                        "them an expression reads.",
                    )
                seen[full] = key
