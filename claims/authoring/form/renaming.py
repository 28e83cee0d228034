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
    _refer(value, prefix + before, prefix + after)


def chosen(value: Any, request: str, alternative: str) -> None:
    """What was for one alternative of a request is for the request then."""
    _refer(value, f"{request}/{alternative}", request)


def _refer(value: Any, before: str, after: str) -> None:
    """Every name ``before`` in constraints and config is ``after`` then."""
    for names in _references(value):
        new = [_referred(name, before, after) for name in names]
        if new != names:
            names[:] = [name for at, name in enumerate(new) if name not in new[:at]]


def _referred(name: Any, before: str, after: str) -> Any:
    if name == before:
        return after
    if isinstance(name, str) and name.startswith(f"{before}/"):
        return after + name[len(before) :]
    return name


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
