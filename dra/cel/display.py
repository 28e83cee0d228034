"""Values as people read them: ``"h100"``, ``81559Mi``, ``[1, 2]``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from dra.cel.addresses import CIDR, IP
from dra.cel.devices import clean
from dra.cel.formats import NamedFormat
from dra.cel.functions.conversions import double_to_string
from dra.cel.functions.times import duration_text, timestamp_text
from dra.cel.urls import URL
from dra.cel.values import (
    Duration,
    Optional,
    QuantityPointer,
    QuantityValue,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    key_value,
)
from dra.semver import Version

_quoted: Final = json.JSONEncoder(ensure_ascii=False).encode

MAX_SHOWN: Final = 200
"""Characters of a shown value."""


def display(value: Value) -> str:
    """``value`` as text, at most :data:`MAX_SHOWN` characters.

    Strings are quoted, a double always shows that it is none of the whole numbers,
    an unsigned number ends in ``u``.
    """
    writer = _Writer()
    writer.write(value)
    return shortened("".join(writer.out))


def shortened(text: str) -> str:
    """``text``, with its end cut off where it is too long to show."""
    text = clean(text)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


class _Writer:
    """Collects text until there is enough of it: values can be huge."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self._room = MAX_SHOWN + 1

    def put(self, text: str) -> None:
        self.out.append(text)
        self._room -= len(text)

    def write(self, value: Value) -> None:
        kind = type(value)
        if kind is list:
            self._items(value)
        elif isinstance(value, dict):
            self._entries(value)
        elif kind is Optional:
            self._optional(value)
        elif kind is str:
            self.put(_quoted(value[: max(self._room, 0)]))
        elif kind is bytes:
            self.put(repr(value[: max(self._room, 0)]))
        else:
            self.put(_PLAIN[kind](value))

    def _items(self, items: list[Value]) -> None:
        self.put("[")
        for index, item in enumerate(items):
            if self._room <= 0:
                return
            if index:
                self.put(", ")
            self.write(item)
        self.put("]")

    def _entries(self, entries: dict[Value, Value]) -> None:
        self.put("{")
        for index, (key, item) in enumerate(entries.items()):
            if self._room <= 0:
                return
            if index:
                self.put(", ")
            self.write(key_value(key))
            self.put(": ")
            self.write(item)
        self.put("}")

    def _optional(self, value: Optional) -> None:
        if not value.present:
            self.put("optional.none()")
            return
        self.put("optional.of(")
        self.write(value.value)
        self.put(")")


def _double(value: float) -> str:
    text = double_to_string(value)
    return f"{text}.0" if text.lstrip("-").isdigit() else text


def _quantity(value: QuantityValue) -> str:
    return str(value.quantity)


_PLAIN: Final[dict[type, Callable[[Value], str]]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    UInt: lambda value: f"{int(value)}u",
    float: _double,
    type(None): lambda _: "null",
    Duration: duration_text,
    Timestamp: timestamp_text,
    TypeValue: lambda value: value.name,
    QuantityValue: _quantity,
    QuantityPointer: _quantity,
    Version: str,
    IP: str,
    CIDR: str,
    URL: str,
    NamedFormat: lambda value: value.name,
}
