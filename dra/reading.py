"""From JSON to typed values, with null read as Go reads it and exact field paths."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

_AT: Final = re.compile(
    r"^(?P<reason>.*?) - at (?P<key>`key` in )?`\$\.?(?P<path>[^`]*)`$", re.DOTALL
)
_SOME_KEY: Final = "[...]"
_NULL: Final = "got `null`"
_MAPS: Final = frozenset({"attributes", "capacity", "counters"})
_FREE_FORM: Final = frozenset({"parameters"})


def convert[T](raw: Any, cls: type[T]) -> T:
    """``raw`` as ``cls``; null leaves a field at its zero value.

    Raises msgspec.ValidationError.
    """
    try:
        return msgspec.convert(raw, cls)
    except msgspec.ValidationError as error:
        if _NULL not in str(error):
            raise
    return msgspec.convert(_without_nulls(raw), cls)


def _without_nulls(value: Any, field: str = "") -> Any:
    """``value`` as Go reads it: null leaves a field, and an entry of a map, at zero."""
    if isinstance(value, list):
        return [{} if v is None else _without_nulls(v) for v in value]
    if not isinstance(value, dict) or field in _FREE_FORM:
        return value
    if field in _MAPS:
        return {k: _without_nulls({} if v is None else v) for k, v in value.items()}
    return {k: _without_nulls(v, k) for k, v in value.items() if v is not None}


def where(error: msgspec.ValidationError) -> tuple[str, str]:
    """Field path (a key of a map is ``[...]`` there) and reason of ``error``."""
    found = _AT.match(str(error))
    if found is None:
        return "", str(error)
    of_key = " as a key" if found["key"] else ""
    return found["path"], found["reason"] + of_key


def spelled_out(raw: Any, cls: type[Any], path: str) -> str:
    """``path`` with the key where msgspec only says that it is under some key.

    The key is the one that fails when it is the only one in its map.
    """
    before, some_key, after = path.partition(_SOME_KEY)
    if not some_key:
        return path
    steps = re.findall(r"[^.\[\]]+", before)
    for key in _follow(raw, steps):
        try:
            convert(_with_only(raw, steps, key), cls)
        except msgspec.ValidationError as error:
            if where(error)[0] == path:
                return f"{before}[{key}]{after}"
    return path


def _follow(value: Any, steps: list[str]) -> Any:
    for step in steps:
        value = value[int(step) if isinstance(value, list) else step]
    return value


def _with_only(value: Any, steps: list[str], key: str) -> Any:
    """A copy of ``value`` where the map at ``steps`` has no key but ``key``."""
    if not steps:
        return {key: value[key]}
    if isinstance(value, list):
        index = int(steps[0])
        return [*value[:index], _with_only(value[index], steps[1:], key)]
    return value | {steps[0]: _with_only(value[steps[0]], steps[1:], key)}
