"""JSON in and out as Go's typed decoding does it: types, null, zero values, what is written.

A decoded object is made of dicts that hold only what is set: null counts as not
set, and so does a zero value where the field is no pointer. An empty list stays,
because the API server tells it from none in a few places.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, override

LONGEST_NUMBER: Final = 4000
"""Bits of a number that is still written out."""


class Mismatch(Exception):  # noqa: N818 - it does not leave the package
    """A value that cannot be decoded. ``path`` has indices and keys in it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


@dataclass(slots=True)
class Reading:
    """One pass over one object. ``now`` is the time that defaults take."""

    now: str
    unknown: list[str] = field(default_factory=list)


class Shape(ABC):
    """A type of the API. ``go`` is its name in messages."""

    go: str
    keeps_zero = False
    """Whether an empty value is kept apart from one that is not set."""

    @abstractmethod
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> Any:
        """The decoded value of ``raw``, which is not None. Raises :class:`Mismatch`."""

    @abstractmethod
    def zero(self) -> Any:
        """What an unset field means."""

    def null(self, _reading: Reading) -> Any:
        """What null means inside a list or a map: nothing set, defaults apply all the same."""
        return self.zero()

    def write(self, value: Any) -> Any:
        """The value as the API server sends it."""
        return value

    def same(self, a: Any, b: Any) -> bool:
        """Whether two decoded values mean the same; an empty list or map is none."""
        return bool(a == b)

    def _wrong(self, raw: Any, path: str, owner: str) -> Mismatch:
        target = f"{owner}.{_without_indices(path)}" if owner else path
        into = f"Go struct field {target}" if owner else "Go value"
        return Mismatch(
            path, f"json: cannot unmarshal {kind_of(raw)} into {into} of type {self.go}"
        )


class ListOf(Shape):
    keeps_zero = True

    def __init__(self, item: Shape) -> None:
        self.item = item
        self.go = f"[]{item.go}"

    @override
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> list[Any]:
        if not isinstance(raw, list):
            raise self._wrong(raw, path, owner)
        item = self.item
        return [
            item.null(reading) if entry is None
            else item.read(entry, f"{path}[{index}]", owner, reading)
            for index, entry in enumerate(raw)
        ]  # fmt: skip

    @override
    def zero(self) -> Any:
        return None

    @override
    def write(self, value: Any) -> Any:
        return [self.item.write(entry) for entry in value] if value else None

    @override
    def same(self, a: Any, b: Any) -> bool:
        a, b = a or [], b or []
        return len(a) == len(b) and all(map(self.item.same, a, b))


class MapOf(Shape):
    keeps_zero = True

    def __init__(self, value: Shape, key: str = "string") -> None:
        self.value = value
        self.go = f"map[{key}]{value.go}"

    @override
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> dict[str, Any]:
        if not isinstance(raw, dict):
            raise self._wrong(raw, path, owner)
        shape = self.value
        found: dict[str, Any] = {}
        for key, entry in raw.items():
            name, known = clean(str(key)), len(reading.unknown)
            at = f"{path}[{name}]"
            found[name] = (
                shape.null(reading) if entry is None
                else shape.read(entry, at, owner, reading)
            )  # fmt: skip
            if len(reading.unknown) > known:
                # Warnings have a dot before keys of maps, too.
                reading.unknown[known:] = [
                    f"{path}.{name}{unknown.removeprefix(at)}"
                    for unknown in reading.unknown[known:]
                ]
        return found

    @override
    def zero(self) -> Any:
        return None

    @override
    def write(self, value: Any) -> Any:
        if not value:
            return None
        return {key: self.value.write(entry) for key, entry in value.items()}

    @override
    def same(self, a: Any, b: Any) -> bool:
        a, b = a or {}, b or {}
        return a.keys() == b.keys() and all(
            self.value.same(entry, b[key]) for key, entry in a.items()
        )


@dataclass(frozen=True, slots=True)
class Field:
    """``always``: written also where nothing is set. ``pointer``: a zero value is a value."""

    shape: Shape
    always: bool = False
    pointer: bool = False

    @property
    def keeps_zero(self) -> bool:
        return self.pointer or self.shape.keeps_zero


type Default = Callable[[dict[str, Any], Reading], None]


class Struct(Shape):
    """An object with known fields; ``default`` fills in what the API server does."""

    keeps_zero = True

    def __init__(
        self,
        go: str,
        fields: Mapping[str, Field],
        default: Default | None = None,
    ) -> None:
        self.go = f"v1.{go}"
        self.name = go
        self.fields = dict(fields)
        self.default = default

    @override
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> dict[str, Any]:
        if not isinstance(raw, dict):
            raise self._wrong(raw, path, owner)
        before = f"{path}." if path else ""
        found: dict[str, Any] = {}
        for name, entry in raw.items():
            of = self.fields.get(name)
            if of is None:
                reading.unknown.append(f"{before}{clean(str(name))}")
                continue
            if entry is None:
                continue
            value = of.shape.read(entry, f"{before}{name}", self.name, reading)
            if of.keeps_zero or value != of.shape.zero():
                found[name] = value
        if self.default is not None:
            self.default(found, reading)
        return found

    @override
    def zero(self) -> dict[str, Any]:
        return {}

    @override
    def null(self, reading: Reading) -> dict[str, Any]:
        return self.read({}, "", "", reading)

    @override
    def write(self, value: Any) -> dict[str, Any]:
        value = value or {}
        written: dict[str, Any] = {}
        for name, of in self.fields.items():
            shape = of.shape
            inline = isinstance(shape, Struct) and not of.pointer
            if name in value:
                entry = shape.write(value[name])
                if of.always or of.pointer or inline or entry is not None:
                    written[name] = entry
            elif inline or (of.always and not of.pointer):
                written[name] = shape.write(shape.zero())
            elif of.always:
                written[name] = None
        return written

    @override
    def same(self, a: Any, b: Any) -> bool:
        a, b = a or {}, b or {}
        return all(self._same(name, of, a, b) for name, of in self.fields.items())

    def _same(self, name: str, of: Field, a: dict[str, Any], b: dict[str, Any]) -> bool:
        x, y = a.get(name), b.get(name)
        if of.pointer and (x is None) != (y is None):
            return False
        if not of.pointer:
            zero = of.shape.zero()
            x, y = zero if x is None else x, zero if y is None else y
        return (x is None and y is None) or of.shape.same(x, y)


def changes(shape: Shape, old: Any, new: Any, path: str) -> list[str]:
    """The paths at which two decoded values differ, as deep as both have the same parts."""
    if shape.same(old, new):
        return []
    if isinstance(shape, Struct) and isinstance(old, dict) and isinstance(new, dict):
        found = [
            change
            for name, of in shape.fields.items()
            for change in changes(
                of.shape, old.get(name), new.get(name), f"{path}.{name}"
            )
        ]
        return found or [path]
    if isinstance(shape, ListOf) and old and new and len(old) == len(new):
        return [
            change
            for index, (a, b) in enumerate(zip(old, new, strict=True))
            for change in changes(shape.item, a, b, f"{path}[{index}]")
        ]
    return [path]


def clean(text: str) -> str:
    """``text`` with half characters (lone surrogates) replaced, as Go's decoder does."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _without_indices(path: str) -> str:
    return re.sub(r"\[[^\]]*\]", "", path)


def kind_of(raw: Any) -> str:
    """What a JSON value is called in decoding errors."""
    if isinstance(raw, bool):
        return "bool"
    if isinstance(raw, str):
        return "string"
    if isinstance(raw, int):
        return f"number {raw}" if raw.bit_length() <= LONGEST_NUMBER else "number"
    if isinstance(raw, float):
        return f"number {raw!r}"
    if isinstance(raw, list):
        return "array"
    return "object" if isinstance(raw, dict) else type(raw).__name__
