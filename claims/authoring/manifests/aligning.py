"""Which item of a changed list is which item of the old one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def aligned(old: Sequence[Any], new: Sequence[Any]) -> list[int | None]:
    """For every item of ``new`` the position of the item of ``old`` that it is, if any.

    Items are known by ``name`` where they have one, else by being equal, else by their
    place between items that are known. No item of ``old`` is given twice.
    """
    found: list[int | None] = [None] * len(new)
    free = set(range(len(old)))
    _by_equality(old, new, found, free)
    _by_name(old, new, found, free)
    _by_place(old, new, found, free)
    return found


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: ``1``, ``1.0`` and ``true`` are three values; order of keys is none."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def _by_equality(
    old: Sequence[Any], new: Sequence[Any], found: list[int | None], free: set[int]
) -> None:
    for at, (one, other) in enumerate(zip(old, new, strict=False)):
        if same(one, other):
            found[at] = at
            free.discard(at)
    for at, item in enumerate(new):
        if found[at] is None:
            _take(found, free, at, (o for o in sorted(free) if same(old[o], item)))


def _by_name(
    old: Sequence[Any], new: Sequence[Any], found: list[int | None], free: set[int]
) -> None:
    for at, item in enumerate(new):
        name = _name(item)
        if found[at] is None and name:
            _take(found, free, at, (o for o in sorted(free) if _name(old[o]) == name))


def _by_place(
    old: Sequence[Any], new: Sequence[Any], found: list[int | None], free: set[int]
) -> None:
    """Runs of unknown items that are as long in both lists are the same, changed."""
    at = 0
    while at < len(new):
        if found[at] is not None:
            at += 1
            continue
        end = at
        while end < len(new) and found[end] is None:
            end += 1
        before = found[at - 1] if at else -1
        after = found[end] if end < len(new) else len(old)
        assert before is not None
        assert after is not None
        run = [o for o in range(before + 1, after) if o in free]
        if len(run) == end - at:
            for position, o in enumerate(run, at):
                if isinstance(old[o], dict) == isinstance(new[position], dict):
                    _take(found, free, position, iter((o,)))
        at = end


def _take(found: list[int | None], free: set[int], at: int, candidates: Any) -> None:
    taken = next(iter(candidates), None)
    if taken is not None:
        found[at] = taken
        free.discard(taken)


def _name(item: Any) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else ""
