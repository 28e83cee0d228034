"""Parts of raw objects. What is no mapping or no list there is shown as empty."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def mapping_at(raw: Any, *path: str) -> Json:
    """The mapping under these fields, ``{}`` where there is none."""
    for name in path:
        raw = raw.get(name) if isinstance(raw, dict) else None
    return raw if isinstance(raw, dict) else {}


def list_at(raw: Any, *path: str) -> list[Any]:
    """The list under these fields, ``[]`` where there is none."""
    *to, last = path
    found = mapping_at(raw, *to).get(last)
    return found if isinstance(found, list) else []


def mappings_at(raw: Any, *path: str) -> list[Json]:
    """Those entries of a list that are mappings."""
    return [entry for entry in list_at(raw, *path) if isinstance(entry, dict)]
