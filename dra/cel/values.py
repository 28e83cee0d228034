"""CEL values as Python values.

====================  ===========================================
CEL                   Python
====================  ===========================================
int, uint             ``int``, :class:`UInt`
double, bool          ``float``, ``bool``
string, bytes         ``str`` (code points), ``bytes``
null                  ``None``
list, map             ``list``, ``dict`` (see :func:`map_key`)
duration, timestamp   :class:`Duration`, :class:`Timestamp`
type                  :class:`TypeValue`
optional              :class:`Optional`
====================  ===========================================

Quantity, Semver, IP, CIDR, URL and named formats are classes of their own.
Nothing may change a value once it exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dra.quantity import Quantity
from dra.semver import Version

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
UINT_MAX: Final = 2**64 - 1

type Value = Any


class UInt(int):
    """An unsigned 64-bit number; its class tells it from an int."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time in nanoseconds, within int64."""

    nanos: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A moment: nanoseconds since 1970-01-01 UTC, years 1 to 9999."""

    nanos: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """The value of ``type(x)`` and of names such as ``int``."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Optional:
    """``optional.of(value)``; the one without value is :data:`NONE`."""

    value: Value
    present: bool = True


NONE: Final = Optional(None, present=False)


@dataclass(frozen=True, slots=True, eq=False)
class QuantityValue:
    """A quantity as CEL sees it."""

    quantity: Quantity


class QuantityPointer(QuantityValue):
    """What ``add`` and ``sub`` return: a quantity that ``==`` treats differently."""

    __slots__ = ()


class DeviceMap(dict[str, Value]):
    """The variable ``device``: at run time a map of its four fields."""

    __slots__ = ()


class DomainMap(dict[str, dict[str, Value]]):
    """``device.attributes`` and ``device.capacity``.

    Looking up an absent domain gives an empty map, and presence tests say yes;
    only ``in`` and iteration see the real domains.
    """

    __slots__ = ()


class WrittenMap(dict["Value", "Value"]):
    """A map that an expression made, not one of the device.

    The reference keeps it in a hash table of any keys, so asking it for a key that
    has no hash there is an error (:func:`has_no_hash`).
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class BoolKey:
    """A bool as the key of a map: Python would take True and 1 for the same."""

    value: bool


_TRUE_KEY: Final = BoolKey(True)  # noqa: FBT003 - the value is the meaning
_FALSE_KEY: Final = BoolKey(False)  # noqa: FBT003


def has_no_hash(key: Value) -> bool:
    """Whether the reference cannot hash ``key``: it holds these two as Go slices."""
    return type(key) in (Version, bytes)


def map_key(value: Value) -> Value:
    """How ``value`` is stored as the key of a ``dict``.

    Numbers of different type that are equal are the same key, as in CEL.
    Raises TypeError for values that cannot be keys.
    """
    if value is True:
        return _TRUE_KEY
    if value is False:
        return _FALSE_KEY
    return value


def key_value(key: Value) -> Value:
    """The value a stored key stands for."""
    return key.value if type(key) is BoolKey else key
