"""The CEL selectors of a claim's or template's requests, each with a way to try it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inventory.queries.raws import mappings_at
from inventory.views.cel_links import cel_href


@dataclass(frozen=True, slots=True)
class Selector:
    """``cel_href`` asks it about the devices of the request's class."""

    expression: str
    cel_href: str


def selectors_of(cluster: str, raw: Any, *spec: str) -> dict[str, list[Selector]]:
    """By request name (``parent/sub`` for an alternative).

    ``spec`` is the path to the claim's spec in the raw object.
    """
    found: dict[str, list[Selector]] = {}
    for request in mappings_at(raw, *spec, "devices", "requests"):
        name = str(request.get("name", ""))
        found[name] = _selectors(cluster, request.get("exactly"))
        for alternative in mappings_at(request, "firstAvailable"):
            full_name = f"{name}/{alternative.get('name', '')}"
            found[full_name] = _selectors(cluster, alternative)
    return found


def _selectors(cluster: str, request: Any) -> list[Selector]:
    found = []
    for selector in mappings_at(request, "selectors"):
        cel = selector.get("cel")
        if isinstance(cel, dict):
            expression = str(cel.get("expression", ""))
            scope = str(request.get("deviceClassName", ""))
            href = cel_href(cluster, expression, device_class=scope)
            found.append(Selector(expression, href))
    return found
