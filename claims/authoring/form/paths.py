"""Field paths as the API server writes them, and values at them.

``spec.devices.requests[0].name``; keys of maps stand in brackets too:
``exactly.capacity.requests[memory]``, ``metadata.labels[a/b.c]``.
"""

from __future__ import annotations

import re
from typing import Any, Final

type Step = str | int
type Path = tuple[Step, ...]

_PART: Final = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")
MOST: Final = 512
"""Characters of a path that anybody needs."""


class PathError(ValueError):
    """The text is no path, or the value has no such place."""


def parse(text: str) -> Path:
    """The steps of a path; a number in brackets is an index. Raises PathError."""
    if len(text) > MOST:
        raise PathError("the path is too long")
    steps: list[Step] = []
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None:
            raise PathError(f"not a field path: {text!r}")
        name, bracket = found.groups()
        if name is not None:
            steps.append(name)
        else:
            steps.append(int(bracket) if _is_index(bracket) else bracket)
        at = found.end()
    if not steps:
        raise PathError("an empty path")
    return tuple(steps)


def text_of(path: Path) -> str:
    """The path as the API server writes it; keys with dots or slashes in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int) or re.search(r"[./\[]", step):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def get(value: Any, path: Path) -> Any:
    """The value at a path, None where there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def put(value: Any, path: Path, new: Any) -> None:
    """Set the value at a path; maps on the way are made.

    Lists are not: an entry that is not there (any more) raises PathError, so that a
    field of a form that is older than the text cannot bring it back.
    """
    for at, step in enumerate(path[:-1]):
        value = _within(value, step, path, path[at + 1])
    last = path[-1]
    if isinstance(value, dict) and (isinstance(last, str) or str(last) in value):
        value[str(last)] = new
    elif isinstance(value, list) and isinstance(last, int) and last < len(value):
        value[last] = new
    else:
        raise PathError(f"there is no {text_of(path)}")


def drop(value: Any, path: Path, *, keep: int = 0) -> None:
    """Take the value at a path away, and maps and lists that it leaves empty.

    The first ``keep`` steps stay even where they become empty.
    """
    for length in range(len(path), 0, -1):
        holder = get(value, path[: length - 1]) if length > 1 else value
        last = path[length - 1]
        if isinstance(holder, dict):
            holder.pop(str(last), None)
        elif isinstance(holder, list) and isinstance(last, int):
            if last < len(holder):
                del holder[last]
        else:
            return
        if holder or length - 1 <= keep:
            return


def list_at(value: Any, path: Path) -> list[Any]:
    """The list at a path; a new one is put there where nothing is."""
    found = get(value, path)
    if found is None:
        found = []
        put(value, path, found)
    if not isinstance(found, list):
        raise PathError(f"{text_of(path)} is not a list")
    return found


def _within(value: Any, step: Step, path: Path, after: Step) -> Any:
    if isinstance(value, dict):
        inner = value.get(str(step))
        if inner is None and not isinstance(after, int):
            inner = value[str(step)] = {}
        if inner is not None:
            return inner
    elif isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    raise PathError(f"there is no {text_of(path)}")


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 6
