"""Where an expression compares something of the device with something written in it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from dra import quantity, semver
from dra.cel.advice.sites import Site, descendants
from dra.cel.ast import Call, ListLiteral, Literal, Node
from dra.cel.operators import compare
from dra.cel.values import QuantityValue, TypeValue, UInt, Value
from dra.errors import QuantityError, SemverError
from dra.quantity import Quantity
from dra.semver import Version

type Signs = frozenset[int]
"""Which of -1, 0 and 1, the order of value and literal, make a comparison true."""

_ORDER: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "_==_": operator.eq,
    "_!=_": operator.ne,
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}
FLIPPED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""What a sign becomes when both sides change places."""
_THAN: Final = {"isGreaterThan": 1, "isLessThan": -1}
_SEARCHES: Final = frozenset({"startsWith", "endsWith", "contains", "matches"})
_TEXTS: Final[Mapping[str, Callable[[str], str]]] = {
    "lowerAscii": lambda text: "".join(c.lower() if c.isascii() else c for c in text),
    "upperAscii": lambda text: "".join(c.upper() if c.isascii() else c for c in text),
}


NULL: Final = TypeValue("null_type")
"""What stands for null here, where None is what has no value."""


class Given(NamedTuple):
    """A value written in the expression, by ``node``.

    ``text`` is the literal in it: of ``quantity("80Gi")`` the string.
    """

    node: Node
    value: Value
    text: Node


class Subject(NamedTuple):
    """What is compared: a value of the device, perhaps after ``change``."""

    site: Site
    change: str = ""


class Comparison(NamedTuple):
    """``node`` compares ``subject`` with ``given``.

    ``operator`` is "order", then ``signs`` says which order is true, or "in" with
    any number of ``given``, or the name of a search in a text. ``symbol`` is how
    people write it. ``mirrored`` comparisons have the value of the device on the
    right.
    """

    node: Node
    subject: Subject
    operator: str
    given: tuple[Given, ...]
    symbol: str
    signs: Signs = frozenset()
    mirrored: bool = False
    function: str = ""


def comparisons(root: Node, site_at: Mapping[int, Site]) -> Iterator[Comparison]:
    """All comparisons in ``root``."""
    for node in descendants(root):
        found = comparison(node, site_at)
        if found is not None:
            yield found


def comparison(node: Node, site_at: Mapping[int, Site]) -> Comparison | None:
    """What ``node`` compares, if that is one value of the device and one literal."""
    match node:
        case Call(function="@in", args=(element, ListLiteral() as items)):
            subject = _subject(element, site_at)
            given = [_given(item) for item in items.elements]
            if subject is None or not given or None in given:
                return None
            known = tuple(g for g in given if g is not None)
            return Comparison(node, subject, "in", known, "in", function="@in")
        case Call(function=name, args=(left, right)) if name in _ORDER:
            return _order(node, name, left, right, site_at)
        case Call(function=name, target=Node() as target, args=(arg,)) if name in _THAN:
            return _sided(
                node, target, arg, frozenset({_THAN[name]}), site_at, function=name
            )
        case Call(function=name, target=Node() as target, args=(arg,)) if (
            name in _SEARCHES
        ):
            subject, given_text = _subject(target, site_at), _given(arg)
            if subject is None or given_text is None:
                return None
            return Comparison(node, subject, name, (given_text,), name, function=name)
    return None


def _order(
    node: Node, name: str, left: Node, right: Node, site_at: Mapping[int, Site]
) -> Comparison | None:
    holds = _ORDER[name]
    for call, number, turned in ((left, right, False), (right, left, True)):
        match call, number:
            case (
                Call(function="compareTo", target=Node() as target, args=(arg,)),
                Literal(value=int() as wanted),
            ) if not isinstance(wanted, bool):
                signs = frozenset(
                    sign
                    for sign in (-1, 0, 1)
                    if (holds(wanted, sign) if turned else holds(sign, wanted))
                )
                return _sided(node, target, arg, signs, site_at, function="compareTo")
    signs = frozenset(sign for sign in (-1, 0, 1) if holds(sign, 0))
    return _sided(node, left, right, signs, site_at, function=name)


def _sided(
    node: Node,
    left: Node,
    right: Node,
    signs: Signs,
    site_at: Mapping[int, Site],
    *,
    function: str,
) -> Comparison | None:
    """``left`` compared with ``right``, true when their order is one of ``signs``."""
    subject, given, mirrored = _subject(left, site_at), _given(right), False
    if subject is None or given is None:
        subject, given, mirrored = _subject(right, site_at), _given(left), True
        signs = frozenset(-sign for sign in signs)
    if subject is None or given is None:
        return None
    symbol = _SYMBOLS.get(signs)
    if symbol is None:
        return None
    return Comparison(
        node, subject, "order", (given,), symbol, signs, mirrored, function
    )


_SYMBOLS: Final[Mapping[Signs, str]] = {
    frozenset({0}): "==",
    frozenset({-1, 1}): "!=",
    frozenset({-1}): "<",
    frozenset({-1, 0}): "<=",
    frozenset({1}): ">",
    frozenset({0, 1}): ">=",
}


def _subject(node: Node, site_at: Mapping[int, Site]) -> Subject | None:
    site = site_at.get(node.id)
    if site is not None:
        return Subject(site) if site.form == "get" else None
    match node:
        case Call(function="orValue", target=Node() as target, args=(_,)):
            site = site_at.get(target.id)
            return (
                Subject(site) if site is not None and site.form == "optional" else None
            )
        case Call(
            function="lowerAscii" | "upperAscii" | "asInteger" as name,
            target=Node() as target,
            args=(),
        ):
            inner = _subject(target, site_at)
            return inner._replace(change=name) if inner and not inner.change else None
        case Call(function="dyn", args=(arg,)):
            return _subject(arg, site_at)
    return None


def _given(node: Node) -> Given | None:
    match node:
        case Literal(value=None):
            return Given(node, NULL, node)
        case Literal(value=str() | int() | float() as value):
            return Given(node, value, node)
        case Call(function="quantity", args=(Literal(value=str() as text) as at,)):
            try:
                return Given(node, quantity.parse(text), at)
            except QuantityError:
                return None
        case Call(
            function="semver", args=(Literal(value=str() as text) as at, *normalise)
        ):
            lenient = [n.value for n in normalise if isinstance(n, Literal)]
            if len(lenient) != len(normalise):
                return None
            try:
                version = semver.parse(text, normalise=lenient == [True])
            except SemverError:
                return None
            return Given(node, version, at)
    return None


# --- deciding ---


def changed(subject: Subject, value: Value) -> Any:
    """What the comparison sees of ``value``, plain; None where it fails on it."""
    if isinstance(value, QuantityValue):
        found = value.quantity
        if subject.change == "asInteger":
            return found.as_integer() if found.is_integer() else None
        return None if subject.change else found
    if subject.change:
        change = _TEXTS.get(subject.change)
        return change(value) if change and isinstance(value, str) else None
    return value


def kind_of(value: Any) -> str:
    """The type of a plain value; numbers are all one."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float, UInt)):
        return "number"
    if value is NULL:
        return "null"
    names = {str: "string", Version: "version", Quantity: "quantity", list: "list"}
    return names.get(type(value), "other")


def sign(value: Any, given: Any) -> int | None:
    """The order of two plain values; None where they are of different types."""
    kind = kind_of(value)
    if kind != kind_of(given) or kind in ("list", "null", "other"):
        return None
    if kind in ("version", "quantity"):
        return int(value > given) - int(value < given)
    return compare(value, given)
