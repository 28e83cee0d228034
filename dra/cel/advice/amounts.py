"""Numbers, quantities and versions that no device reaches, though some nearly do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dra import quantity
from dra.cel.advice import words
from dra.cel.advice.asked import Asked, Mask
from dra.cel.advice.comparisons import Given, kind_of, sign
from dra.cel.advice.looks import Look, Value, values_of
from dra.cel.advice.warnings import Warning  # noqa: A004 - the word of the field
from dra.cel.catalog import value_text
from dra.errors import QuantityError
from dra.quantity import NANO, Quantity
from dra.semver import Version

NEAR: Final = Fraction(1, 10)
"""A number is near when it differs by at most this part of what was asked for."""
_AMOUNTS: Final = frozenset({"number", "quantity", "version"})
_SUFFIX: Final = re.compile(r"[0-9.]+([A-Za-z]*)")


def check(asked: Asked, looks: Sequence[Look]) -> Iterator[Warning]:
    terms = {} if asked.matched else _leaves(asked)
    for look in looks:
        found = look.comparison
        if found.operator != "order" or found.symbol == "!=":
            continue
        (given,) = found.given
        if kind_of(given.value) not in _AMOUNTS or not look.comparable(given):
            continue
        if not look.satisfied():
            yield _unreached(look, given)
        elif found.node.id in terms:
            decisive = asked.terms.decisive(terms[found.node.id])
            warning = _narrowly(look, given, decisive)
            if warning is not None:
                yield warning


def _leaves(asked: Asked) -> Mapping[int, int]:
    """The terms that are not taken apart: by the id of their node, their place."""
    terms = asked.terms
    return {terms.conditions[place].node.id: place for place in terms.leaves()}


def _unreached(look: Look, given: Given) -> Warning:
    """No asked device satisfies the comparison."""
    signs = look.comparison.signs
    values = look.comparable(given)
    nearest = _nearest(look, given, values)
    near = _is_near(nearest[0].plain, given.value)
    message = f"{look.asked.no_device} has {_wanted(look, given)}; {look.who(nearest)}"
    if len(nearest) < len(values):
        message += (
            ", the most there is"
            if 1 in signs
            else ", the least there is"
            if -1 in signs
            else ", which comes nearest"
        )
    return look.warning(
        "near-miss" if near else "unknown-value",
        f"{message}.",
        nearest,
        at=given.text,
        suggestion=_instead(look, given, nearest[0]) if near else "",
    )


def _narrowly(look: Look, given: Given, decisive: Mask) -> Warning | None:
    """Devices that meet everything else nearly meet this, too."""
    published = look.asked.published(look.read, decisive)
    if published is None or kind_of(given.value) == "version":
        return None
    closer = Look(
        look.asked,
        look.comparison,
        look.column,
        values_of(published, look.comparison.subject),
    )
    values = closer.comparable(given)
    if not values or closer.satisfied():
        return None
    nearest = _nearest(closer, given, values)
    if not _is_near(nearest[0].plain, given.value):
        return None
    return Warning(
        "near-miss",
        f"Of the devices that meet everything else none has {_wanted(look, given)}; "
        f"{closer.who(nearest)}.",
        given.text.start,
        given.text.end,
        devices=sum(value.devices for value in nearest),
        total=look.asked.total,
        example=look.asked.example(closer.mask(nearest) & decisive),
        suggestion=_instead(closer, given, nearest[0]),
    )


def _wanted(look: Look, given: Given) -> str:
    """``memory >= 80Gi``"""
    change = look.comparison.subject.change
    name = f"{look.name}.{change}()" if change else look.name
    return f"{name} {look.comparison.symbol} {look.source(given)}"


def _nearest(look: Look, given: Given, values: Sequence[Value]) -> list[Value]:
    """The values that come nearest to ``given``, all of them equal."""
    signs = look.comparison.signs
    if 1 in signs:
        best = max(value.plain for value in values)
    elif -1 in signs:
        best = min(value.plain for value in values)
    elif isinstance(given.value, Version):
        best = min((v.plain for v in values), key=lambda v: _apart(v, given.value))
    else:
        wanted = _number(given.value)
        best = min((v.plain for v in values), key=lambda v: abs(_number(v) - wanted))
    return [value for value in values if sign(value.plain, best) == 0]


def _apart(version: Version, other: Version) -> tuple[int, int, int]:
    return (
        abs(version.major - other.major),
        abs(version.minor - other.minor),
        abs(version.patch - other.patch),
    )


def _number(value: Any) -> Fraction:
    return (
        Fraction(value.nanos, NANO) if isinstance(value, Quantity) else Fraction(value)
    )


def _is_near(value: Any, wanted: Any) -> bool:
    if isinstance(value, Version):
        return bool(value.major == wanted.major and value.minor == wanted.minor)
    try:
        number, asked = _number(value), _number(wanted)
    except (ValueError, OverflowError):  # not a number, or infinite
        return False
    return asked != 0 and abs(number - asked) <= NEAR * abs(asked)


# --- what to write instead ---


def _instead(look: Look, given: Given, value: Value) -> str:
    """A literal that ``value`` satisfies: a round one of the same unit, else its own."""
    signs = look.comparison.signs
    if not isinstance(given.value, Quantity):
        text = str(value.plain)
        if 0 not in signs:
            return ""
        return words.literal(text) if isinstance(given.value, Version) else text
    text = value_text(look.raw(value))
    options = [text]
    if signs != frozenset({0}):
        options[:0] = _rounded(value.plain, look.source(given), up=-1 in signs)
    for option in options:
        try:
            order = sign(value.plain, quantity.parse(option))
        except QuantityError:
            continue
        if order in signs:
            return words.literal(option)
    return ""


def _rounded(value: Quantity, like: str, *, up: bool) -> list[str]:
    """``value`` as a whole number of the unit of ``like``, not beyond it, and the
    next one."""
    suffix = _SUFFIX.fullmatch(like)
    if suffix is None:
        return []
    try:
        unit = quantity.parse(f"1{suffix[1]}").nanos
    except QuantityError:
        return []
    whole = -(-value.nanos // unit) if up else value.nanos // unit
    return [f"{whole}{suffix[1]}", f"{whole + (1 if up else -1)}{suffix[1]}"]
