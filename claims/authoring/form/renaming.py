"""A request or alternative with another name, and everything that refers to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from claims.authoring.form import paths
from claims.authoring.form.subjects import kind_of


def renamed(value: Any, path: paths.Path, before: str, after: str) -> None:
    """Put ``after`` at ``path``, the name of a request or of an alternative.

    Constraints and config that name it by ``before`` name it by ``after`` then, unless
    another one has that name too.
    """
    after = after.strip()
    paths.put(value, path, after)
    if not before or before == after:
        return
    siblings = paths.get(value, path[:-2])
    if any(_name(each) == before for each in siblings if isinstance(each, dict)):
        return
    prefix = ""
    if path[-3] == "firstAvailable":
        prefix = f"{_name(paths.get(value, path[:-3]))}/"
    for names in _references(value):
        for at, name in enumerate(names):
            if name == prefix + before:
                names[at] = prefix + after
            elif not prefix and str(name).startswith(f"{before}/"):
                names[at] = after + str(name)[len(before) :]


def without(value: Any, name: str) -> None:
    """Nothing refers to the request or alternative ``name`` any more.

    A constraint or config that was for it alone would be for all then: it goes too.
    """
    for holders in _holders(value):
        for holder in list(holders):
            names = holder.get("requests") if isinstance(holder, dict) else None
            if not isinstance(names, list) or not names:
                continue
            kept = [n for n in names if n != name and not str(n).startswith(f"{name}/")]
            if not kept:
                holders.remove(holder)
            elif len(kept) != len(names):
                holder["requests"] = kept


def _references(value: Any) -> Iterator[list[Any]]:
    for holders in _holders(value):
        for holder in holders:
            if isinstance(holder, dict) and isinstance(holder.get("requests"), list):
                yield holder["requests"]


def _holders(value: Any) -> Iterator[list[Any]]:
    kind = kind_of(value)
    if kind is None or not kind.devices:
        return
    for name in ("constraints", "config"):
        found = paths.get(value, (*kind.devices, name))
        if isinstance(found, list):
            yield found


def _name(value: Any) -> str:
    return str(value.get("name") or "") if isinstance(value, dict) else ""
