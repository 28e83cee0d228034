"""A change worked out on a normalised object, brought to the object as somebody wrote it.

The engine answers with a whole spec, defaults filled in. Only what it changed may
change in the text.
"""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import Any

from claims.authoring.form import paths


def rebased(mine: Any, before: Any, after: Any) -> Any:
    """``mine`` with the changes from ``before`` to ``after``.

    ``mine`` and ``before`` mean the same and are written differently; where they
    cannot be brought together, what ``after`` says is taken.
    """
    if _key(before) == _key(after):
        return mine
    if isinstance(before, dict) and isinstance(after, dict) and isinstance(mine, dict):
        return _map(mine, before, after)
    lists = [each for each in (mine, before, after) if isinstance(each, list)]
    if len(lists) == 3 and len(mine) == len(before):
        return _list(mine, before, after)
    return after


def differences(before: Any, after: Any, at: paths.Path = ()) -> list[tuple[str, Any]]:
    """The values to put, by path, that make ``after`` of ``before``; None takes away.

    Lists of another length are put as a whole.
    """
    if _key(before) == _key(after):
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        found: list[tuple[str, Any]] = []
        for name in dict.fromkeys([*before, *after]):
            found += differences(before.get(name), after.get(name), (*at, name))
        return found
    lists = isinstance(before, list) and isinstance(after, list)
    if lists and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [d for n, (b, a) in pairs for d in differences(b, a, (*at, n))]
    return [(paths.text_of(at), after)]


def _map(
    mine: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> dict[str, Any]:
    gone = before.keys() - after.keys()
    new = {
        name: rebased(value, before.get(name), after[name])
        if name in before and name in after
        else after.get(name, value)
        for name, value in mine.items()
        if name not in gone
    }
    for name, value in after.items():
        if name not in new and (
            name not in before or _key(before[name]) != _key(value)
        ):
            new[name] = value
    return new


def _list(mine: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    """Entries that are in both stay as they are written."""
    old, new = [_key(each) for each in before], [_key(each) for each in after]
    result: list[Any] = []
    for tag, i, k, m, n in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            result += mine[i:k]
        elif tag == "replace" and k - i == n - m:
            result += [
                rebased(mine[i + at], before[i + at], after[m + at])
                for at in range(k - i)
            ]
        else:
            result += after[m:n]
    return result


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
