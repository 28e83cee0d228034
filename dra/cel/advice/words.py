"""How warnings put numbers, names and values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dra.cel.functions.strings import quote
from dra.cel.reads import Read
from dra.quantity import NANO, Format, Quantity

_SUFFIXES: Final = ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki")


def devices(count: int) -> str:
    return "1 device" if count == 1 else f"{count:,} devices"


def have(count: int) -> str:
    return "has" if count == 1 else "have"


def do(count: int) -> str:
    return "does" if count == 1 else "do"


def publish(count: int) -> str:
    return "publishes" if count == 1 else "publish"


def joined(parts: Sequence[str], *, word: str = "and") -> str:
    """``a, b and c``"""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def some(parts: Sequence[str], *, most: int = 3) -> str:
    """The first of ``parts``, and how many more there are."""
    if len(parts) <= most:
        return joined(parts)
    return f"{', '.join(parts[:most])} and {len(parts) - most:,} more"


def literal(text: str) -> str:
    """``text`` as a CEL string literal."""
    return f'"{quote(text)}"'


def noun(read: Read) -> str:
    return "capacity" if read.kind == "capacity" else "attribute"


def named(read: Read) -> str:
    """``attribute type of gpu.nvidia.com``"""
    if read.kind == "driver":
        return "driver"
    return f"{noun(read)} {read.identifier} of {read.domain}"


def path(read: Read) -> str:
    """The expression that reads it."""
    domain = f"device.{read.kind}[{literal(read.domain)}]"
    if not read.identifier:
        return domain
    if is_identifier(read.identifier):
        return f"{domain}.{read.identifier}"
    return f"{domain}[{literal(read.identifier)}]"


_NO_FIELDS: Final = frozenset({"in", "true", "false", "null"})


def is_identifier(name: str) -> bool:
    """Whether ``name`` can stand after a dot."""
    return name.isascii() and name.isidentifier() and name not in _NO_FIELDS


def either(options: Iterable[str]) -> str:
    return joined(list(options), word="or")


def size(text: str, value: Quantity, *, binary: bool = False) -> str:
    """A quantity as published, with a readable one behind where that helps."""
    readable = _readable(value)
    binary = binary or value.format is Format.BINARY
    if not binary or not readable or readable == text:
        return text
    return f"{text} ({readable})"


def _readable(value: Quantity) -> str:
    """In the largest binary unit, cut after one digit; empty below 1Ki."""
    for power, suffix in zip(range(6, 0, -1), _SUFFIXES, strict=True):
        unit = NANO * 1024**power
        if abs(value.nanos) >= unit:
            tenths = abs(value.nanos) * 10 // unit
            sign = "-" if value.nanos < 0 else ""
            whole, rest = divmod(tenths, 10)
            return f"{sign}{whole}.{rest}{suffix}" if rest else f"{sign}{whole}{suffix}"
    return ""
