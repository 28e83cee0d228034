"""Fields, indexes and presence: how one value is looked up in another."""

from __future__ import annotations

from typing import Final

from dra.cel.errors import EvaluationError
from dra.cel.operators import find
from dra.cel.values import UInt, Value, map_key

_KEYS: Final = frozenset({str, int, UInt, bool, float})


def key_text(key: Value) -> str:
    """A key as messages show it."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def check_key(key: Value) -> None:
    """Refuse what can be no key at all."""
    if type(key) not in _KEYS:
        raise EvaluationError("invalid qualifier type")


def list_index(key: Value) -> int:
    """``key`` as a position. Raises :class:`EvaluationError` for other types."""
    if isinstance(key, float):
        if not key.is_integer():
            raise EvaluationError(f"unsupported index value {key} in list")
        return int(key)
    if isinstance(key, int) and not isinstance(key, bool):
        return int(key)
    raise EvaluationError("unsupported index type in list")


def get(container: Value, key: Value) -> Value:
    """``container[key]`` or ``container.key``."""
    present, value = get_if_present(container, key)
    if present:
        return value
    if isinstance(container, list):
        raise EvaluationError(f"index out of bounds: {key_text(key)}")
    raise EvaluationError(f"no such key: {key_text(key)}")


def get_if_present(container: Value, key: Value) -> tuple[bool, Value]:
    """Whether ``container`` has ``key``, and the value.

    Values that hold nothing have no keys; that is no error here.
    """
    check_key(key)
    if isinstance(container, dict):
        return find(container, map_key(key))
    if isinstance(container, list):
        index = list_index(key)
        if 0 <= index < len(container):
            return True, container[index]
    return False, None
