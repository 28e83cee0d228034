"""CEL text that is right for what devices publish: paths, literals, tests of a value."""

from __future__ import annotations

import json
import re
from typing import Final

from dra import quantity, semver
from dra.cel.catalog import Known
from dra.cel.reads import Read
from dra.errors import QuantityError, SemverError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NOT_AFTER_A_DOT: Final = frozenset({"in", "true", "false", "null"})
_DEFAULTS: Final = {
    "string": '""',
    "int": "-1",
    "bool": "false",
    "version": 'semver("0.0.0")',
    "quantity": 'quantity("0")',
}


def literal(value: str) -> str:
    """``value`` as CEL writes a string."""
    return json.dumps(value, ensure_ascii=False)


def path(read: Read) -> str:
    """``device.attributes["d"].name``, as short as it may be written."""
    base = f"device.{read.kind}"
    if not read.identifier:
        return base
    return f"{base}[{literal(read.domain)}]{_member(read.identifier)}"


def _member(name: str, *, optional: bool = False) -> str:
    mark = "?" if optional else ""
    if _NAME.fullmatch(name) and name not in _NOT_AFTER_A_DOT:
        return f".{mark}{name}"
    return f"[{mark}{literal(name)}]"


def condition(known: Known, *, always: bool) -> str:
    """A test for a common value of an attribute or capacity; empty where none is known.

    ``always``: every device that comes to it publishes it. Otherwise the test says
    what counts for those that do not.
    """
    value = telling_value(known)
    return test(known.read, type_of(known), value, always=always) if value else ""


def test(read: Read, kind: str, value: str, *, always: bool) -> str:
    """True for a device that publishes ``value``, of the type ``kind``, or more.

    Empty for types that have no simple test.
    """
    if kind not in _DEFAULTS:
        return ""
    text = path(read)
    if not always:
        member = _member(read.identifier, optional=True)
        base = f"device.{read.kind}[{literal(read.domain)}]{member}"
        text = f"{base}.orValue({_DEFAULTS[kind]})"
    match kind:
        case "bool":
            return text if value == "true" else f"!{text}"
        case "int":
            return f"{text} == {value}"
        case "version":
            return f"{text}.compareTo(semver({literal(value)})) >= 0"
        case "quantity":
            return f"{text}.compareTo(quantity({literal(value)})) >= 0"
    return f"{text} == {literal(value)}"


def telling_value(known: Known) -> str:
    """The most common value; of those that have an order, the highest common one."""
    if not known.examples:
        return ""
    match type_of(known):
        case "quantity":
            return max(
                filter(_is_quantity, known.examples), key=quantity.parse, default=""
            )
        case "version":
            return max(
                filter(_is_version, known.examples), key=semver.parse, default=""
            )
    return known.examples[0]


def _is_quantity(text: str) -> bool:
    try:
        quantity.parse(text)
    except QuantityError:
        return False
    return True


def _is_version(text: str) -> bool:
    try:
        semver.parse(text)
    except SemverError:
        return False
    return True


def type_of(known: Known) -> str:
    """The one type that devices publish it with; empty where there are several."""
    return next(iter(known.types)) if len(known.types) == 1 else ""
