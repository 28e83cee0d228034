"""Calls of functions: which overload runs is decided by the types at run time."""

from __future__ import annotations

from typing import Final

from dra.cel.access import key_text
from dra.cel.declarations import Implementation, Overload
from dra.cel.errors import EvaluationError
from dra.cel.operators import no_such_overload, type_name, unhashable
from dra.cel.plan import Frame, Step
from dra.cel.types import Type
from dra.cel.values import BoolKey, UInt, Value, has_no_hash, key_value, map_key

type Overloads = tuple[Overload, ...]

_EXACT: Final[dict[str, type]] = {
    "bool": bool,
    "bytes": bytes,
    "double": float,
    "int": int,
    "string": str,
    "uint": UInt,
}


def accepts(declared: Type, value: Value) -> bool:
    """Whether ``value`` fits ``declared`` at run time.

    Of lists and maps only the first element or entry is looked at, as the
    reference does it.
    """
    if declared.kind in ("dyn", "any", "param"):
        return True
    exact = _EXACT.get(declared.kind)
    if exact is not None:
        return type(value) is exact
    if type_name(value) != declared.name:
        return False
    if declared.kind == "list":
        return not value or accepts(declared.params[0], value[0])
    if declared.kind == "map" and value:
        key, item = next(iter(value.items()))
        return accepts(declared.params[0], key_value(key)) and accepts(
            declared.params[1], item
        )
    return True


def call(name: str, possible: Overloads, declared: Overloads, args: list[Step]) -> Step:
    """The step of a call.

    With one overload possible by static types that one runs; else the first of
    all the function's overloads that fits the values.
    """
    candidates = possible if len(possible) == 1 else declared
    candidates = tuple(o for o in candidates if len(o.args) == len(args))
    if len(candidates) == 1:
        only = candidates[0]
        exact = [_EXACT.get(t.kind) for t in only.args]
        run = _implementation(name, only)
        if only.guarded and len(args) == 1 and exact[0]:
            return _one_exact(name, run, exact[0], args[0])
        if only.guarded and len(args) == 2 and exact[0] and exact[1]:
            return _two_exact(name, run, (exact[0], exact[1]), args)
    return _dispatch(name, candidates, args)


def _implementation(name: str, overload: Overload) -> Implementation:
    if overload.run is None:
        raise AssertionError(f"{name} ({overload.id}) has no implementation")
    return overload.run


def _one_exact(name: str, run: Implementation, kind: type, arg: Step) -> Step:
    def step(frame: Frame) -> Value:
        value = arg(frame)
        if type(value) is kind:
            return run(value)
        raise no_such_overload(name, value)

    return step


def _two_exact(
    name: str, run: Implementation, kinds: tuple[type, type], args: list[Step]
) -> Step:
    first_kind, second_kind = kinds
    first, second = args

    def step(frame: Frame) -> Value:
        a, b = first(frame), second(frame)
        if type(a) is first_kind and type(b) is second_kind:
            return run(a, b)
        raise no_such_overload(name, a, b)

    return step


def _dispatch(name: str, candidates: Overloads, args: list[Step]) -> Step:
    table = [(o, _implementation(name, o)) for o in candidates]

    def step(frame: Frame) -> Value:
        values = [arg(frame) for arg in args]
        for overload, run in table:
            if not overload.guarded or all(map(accepts, overload.args, values)):
                return run(*values)
        raise no_such_overload(name, *values)

    return step


# --- maps ---


def insert(
    into: dict[Value, Value], key: Value, value: Value, *, once: bool = False
) -> None:
    """Set an entry; ``once`` refuses a key that is there already."""
    if has_no_hash(key):
        raise unhashable(key)
    stored = key if type(key) is BoolKey else map_key(key)
    try:
        if once and stored in into:
            raise EvaluationError(f"insert failed: key {key_text(key)} already exists")
        into[stored] = value
    except TypeError as error:
        raise unhashable(key) from error


# --- membership in constant lists ---

_PRIMITIVE: Final = frozenset({bool, float, int, str, UInt})


def membership(element: Step, items: list[Value]) -> Step | None:
    """``x in [constants]`` as a hash lookup, or None where the reference loops.

    A version or bytes cannot be hashed there, which is an error.
    """
    if any(type(item) not in _PRIMITIVE for item in items):
        return None
    known = {pair for item in items for pair in _hashes(item)}

    def run(frame: Frame) -> Value:
        value = element(frame)
        kind = type(value)
        if kind in _PRIMITIVE:
            return (kind, value) in known
        if has_no_hash(value):
            raise unhashable(value)
        return False

    return run


def _hashes(item: Value) -> set[tuple[type, Value]]:
    """The value, and the equal ones of the other number types."""
    found = {(type(item), item)}
    if isinstance(item, float):
        if item.is_integer():
            if -(2.0**63) <= item < 2.0**63:
                found.add((int, int(item)))
            if 0 <= item < 2.0**64:
                found.add((UInt, int(item)))
    elif type(item) in (int, UInt):
        number = int(item)
        found.add((float, float(number)))
        if number >= 0:
            found.add((UInt, number))
        if number < 2**63:
            found.add((int, number))
    return found
