"""Static types of expressions, and when one may stand for another.

The rules are those of the reference's checker: a type parameter is bound to the
first type it meets and widened from there; ``dyn``, ``any`` and errors fit
everything.
"""

from __future__ import annotations

import operator
from typing import Final

import msgspec

from dra.errors import NotSupportedError

MAX_SIZE: Final = 5_000
"""Types within one type; a map of itself doubles with every level."""
MAX_DEPTH: Final = 300
"""Types below each other; literals nest 250 levels."""


class Type(msgspec.Struct, frozen=True):
    """A type: ``kind`` decides the rules, ``name`` is the name at run time.

    ``params`` are element types: of a list one, of a map key and value, of
    ``type`` and ``optional_type`` one. ``open`` tells that a type parameter is
    inside, ``size`` how many types there are, itself included, ``depth`` how many
    below each other.
    """

    kind: str
    name: str
    params: tuple[Type, ...] = ()
    open: bool = False
    size: int = 1
    depth: int = 1

    def __post_init__(self) -> None:
        if self.params:
            size = 1 + sum(inner.size for inner in self.params)
            depth = 1 + max(inner.depth for inner in self.params)
            if size > MAX_SIZE or depth > MAX_DEPTH:
                raise NotSupportedError("types of this size")
            msgspec.structs.force_setattr(self, "size", size)
            msgspec.structs.force_setattr(self, "depth", depth)
            if any(inner.open for inner in self.params):
                msgspec.structs.force_setattr(self, "open", True)  # noqa: FBT003
        elif self.kind == "param":
            msgspec.structs.force_setattr(self, "open", True)  # noqa: FBT003

    def __str__(self) -> str:
        match self.kind:
            case "param" | "dyn" | "error":
                return {"dyn": "dyn", "error": "!error!"}.get(self.kind, self.name)
            case "any":
                return "any"
            case "null":
                return "null"
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"


ANY: Final = Type("any", "google.protobuf.Any")
BOOL: Final = Type("bool", "bool")
BYTES: Final = Type("bytes", "bytes")
DOUBLE: Final = Type("double", "double")
DURATION: Final = Type("duration", "google.protobuf.Duration")
DYN: Final = Type("dyn", "dyn")
ERROR: Final = Type("error", "error")
INT: Final = Type("int", "int")
NULL: Final = Type("null", "null_type")
STRING: Final = Type("string", "string")
TIMESTAMP: Final = Type("timestamp", "google.protobuf.Timestamp")
UINT: Final = Type("uint", "uint")

DEVICE: Final = Type("struct", "kubernetes.DRADevice")
QUANTITY: Final = Type("struct", "kubernetes.Quantity")
SEMVER: Final = Type("struct", "kubernetes.Semver")
URL: Final = Type("struct", "kubernetes.URL")
FORMAT: Final = Type("struct", "kubernetes.NamedFormat")
IP: Final = Type("opaque", "net.IP")
CIDR: Final = Type("opaque", "net.CIDR")


def list_of(element: Type) -> Type:
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    return Type("type", "type", (value,))


def param(name: str) -> Type:
    return Type("param", name)


def is_dyn(t: Type) -> bool:
    return t.kind in ("dyn", "any")


def is_dyn_or_error(t: Type) -> bool:
    return t.kind in ("dyn", "any", "error")


def unwrap_optional(t: Type) -> tuple[Type, bool]:
    """The type inside an optional, and whether it was one."""
    if t.kind == "opaque" and t.name == "optional_type":
        return t.params[0], True
    return t, False


_NULLABLE: Final = frozenset({"opaque", "struct", "any", "duration", "timestamp"})
_CONTAINERS: Final = frozenset({"opaque", "list", "map"})


_MAX_WORK: Final = 100_000


class Work:
    """How many types were looked at: comparing large ones takes its time."""

    __slots__ = ("_done",)

    def __init__(self) -> None:
        self._done = 0

    def add(self, types: int) -> None:
        """Raises :class:`~dra.errors.NotSupportedError` where it gets too much."""
        self._done += types
        if self._done > _MAX_WORK:
            raise NotSupportedError("types of this size")


class Bindings:
    """What is known about type parameters; a failed attempt leaves no trace."""

    def __init__(self, work: Work) -> None:
        self._bound: dict[Type, Type] = {}
        self._undo: list[tuple[Type, Type | None]] = []
        self._work = work
        # By identity; holds on to the types so that none takes another's place.
        self._resolved: dict[int, tuple[Type, Type]] = {}
        self._closed: dict[int, tuple[Type, Type]] = {}

    def assignable(self, left: Type, right: Type) -> bool:
        """Whether ``left`` may stand for ``right``; learns from it when it may."""
        return self.all_assignable((left,), (right,))

    def all_assignable(self, left: tuple[Type, ...], right: tuple[Type, ...]) -> bool:
        """The same for lists of equal length, all or nothing."""
        fits = self._fit_all(left, right)
        if not fits:
            for parameter, before in reversed(self._undo):
                if before is None:
                    del self._bound[parameter]
                else:
                    self._bound[parameter] = before
        if self._undo:
            self._forget()
            self._undo.clear()
        return fits

    def _forget(self) -> None:
        self._resolved.clear()
        self._closed.clear()

    def _set(self, parameter: Type, t: Type) -> None:
        self._undo.append((parameter, self._bound.get(parameter)))
        self._bound[parameter] = t

    def resolve(self, t: Type, *, open_to_dyn: bool = False) -> Type:
        """``t`` with bound parameters replaced; open ones by ``dyn`` if asked."""
        if not t.open:
            return t
        known = self._closed if open_to_dyn else self._resolved
        found = known.get(id(t))
        if found is not None:
            return found[1]
        self._work.add(1)
        if t.kind == "param":
            bound = self._bound.get(t)
            if bound is not None:
                return self.resolve(bound, open_to_dyn=open_to_dyn)
            return DYN if open_to_dyn else t
        # Lists, unlike generators, cost no stack: types nest as deep as literals.
        params = [self.resolve(p, open_to_dyn=open_to_dyn) for p in t.params]
        result = _with_params(t, params)
        known[id(t)] = (t, result)
        return result

    def _fit_all(self, left: tuple[Type, ...], right: tuple[Type, ...]) -> bool:
        if len(left) != len(right):
            return False
        for a, b in zip(left, right, strict=True):  # noqa: SIM110 - saves stack
            if not self._fit(a, b):
                return False
        return True

    def _fit(self, left: Type, right: Type) -> bool:
        if left is right:
            return True
        self._work.add(1)
        if right.kind == "param":
            valid, bound = self._bind(left, right)
            if valid or bound:
                return valid
        if left.kind == "param":
            return self._bind(right, left)[0]
        if is_dyn_or_error(left) or is_dyn_or_error(right):
            return True
        if left.kind == "null":
            return right.kind == "null" or right.kind in _NULLABLE
        if right.kind == "null":
            return left.kind in _NULLABLE
        if left.kind == "type":
            return right.kind == "type"
        if left.kind in _CONTAINERS:
            return (
                left.kind == right.kind
                and left.name == right.name
                and self._fit_all(left.params, right.params)
            )
        return left.kind == right.kind and left.name == right.name

    def _bind(self, t: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether ``t`` suits ``parameter``, and whether that was bound already."""
        if t == parameter:
            return True, True
        bound = self._bound.get(parameter)
        if bound is not None:
            if t == bound:
                return True, True
            if not self._fit(t, bound):
                return False, True
            wider = more_general(t, bound)
            if self._absent(parameter, wider):
                self._set(parameter, wider)
            return True, True
        if self._absent(parameter, t):
            self._set(parameter, t)
            return True, False
        return False, False

    def _absent(self, parameter: Type, within: Type) -> bool:
        """Whether ``parameter`` does not occur in ``within``."""
        if not within.open:
            return True
        self._work.add(1)
        if parameter == within:
            return False
        if within.kind == "param":
            bound = self._bound.get(within)
            return bound is None or self._absent(parameter, bound)
        for inner in within.params:  # noqa: SIM110 - saves stack
            if not self._absent(parameter, inner):
                return False
        return True


def renamed(t: Type, names: dict[Type, Type]) -> Type:
    """``t`` with other type parameters."""
    if not t.open:
        return t
    if t.kind == "param":
        return names[t]
    return _with_params(t, [renamed(inner, names) for inner in t.params])


def _with_params(t: Type, params: list[Type]) -> Type:
    if all(map(operator.is_, params, t.params)):
        return t
    return Type(t.kind, t.name, tuple(params))


def more_general(left: Type, right: Type) -> Type:
    """The wider of two types that fit each other."""
    return left if _at_most_as_specific(left, right) else right


def _at_most_as_specific(left: Type, right: Type) -> bool:
    if left is right or is_dyn(left) or left.kind == "param":
        return True
    if is_dyn(right) or right.kind == "param":
        return False
    if left.kind != right.kind:
        return False
    if left.kind in _CONTAINERS:
        return (
            left.name == right.name
            and len(left.params) == len(right.params)
            and all(map(_at_most_as_specific, left.params, right.params))
        )
    return left.kind == "type" or left == right
