"""Lists and maps that are written out, as closures over those of their parts."""

from __future__ import annotations

from dra.cel.calls import insert
from dra.cel.errors import EvaluationError
from dra.cel.operators import type_name
from dra.cel.plan import Frame, Step
from dra.cel.values import Optional, Value, WrittenMap, map_key


def list_of(steps: list[Step], optional: frozenset[int]) -> Step:
    """``[a, ?b]``: ``optional`` are the positions with a question mark."""

    def fixed(frame: Frame) -> Value:
        return [step(frame) for step in steps]

    def with_optional(frame: Frame) -> Value:
        items: list[Value] = []
        for index, step in enumerate(steps):
            value = step(frame)
            if index in optional:
                value = _optional_part(value, "list element")
                if not value.present:
                    continue
                value = value.value
            items.append(value)
        return items

    return with_optional if optional else fixed


def map_of(entries: list[tuple[Step, Step, bool]]) -> Step:
    """``{a: b, ?c: d}``: key, value, and whether there is a question mark."""

    def run(frame: Frame) -> Value:
        found = WrittenMap()
        for key_step, value_step, optional in entries:
            key = map_key(key_step(frame))
            value = value_step(frame)
            if optional:
                value = _optional_part(value, "entry")
                if not value.present:
                    found.pop(key, None)
                    continue
                value = value.value
            insert(found, key, value)
        return found

    return run


def _optional_part(value: Value, what: str) -> Optional:
    if isinstance(value, Optional):
        return value
    raise EvaluationError(
        f"cannot initialize optional {what} from non-optional value "
        f"of type {type_name(value)}"
    )
