"""Chains of fields and indexes: ``a.b["c"].?d``, looked up from left to right."""

from __future__ import annotations

from collections.abc import Iterator

from dra.cel import access
from dra.cel.ast import Node
from dra.cel.errors import EvaluationError
from dra.cel.plan import Frame, Pay, Step
from dra.cel.values import NONE, DomainMap, Optional, Value


class Link:
    """One step of a chain: how to get the key, and the key if it is constant.

    ``node`` is the chain up to here.
    """

    __slots__ = ("key", "known", "node", "optional")

    def __init__(self, node: Node, key: Step, known: Value, *, optional: bool) -> None:
        self.node = node
        self.key = key
        self.known = known
        self.optional = optional


def is_optional(links: list[Link]) -> bool:
    return any(link.optional for link in links)


def lookup(base: Step, links: list[Link]) -> Step:
    keys = [link.key for link in links]

    def run(frame: Frame) -> Value:
        value = base(frame)
        if type(value) is Optional:
            return _walk(frame, value, links)
        for key in keys:
            value = access.get(value, key(frame))
        return value

    return run


def optional_lookup(base: Step, links: list[Link], pay: Pay | None = None) -> Step:
    """``pay`` is called for each link that finds something."""

    def run(frame: Frame) -> Value:
        return _walk(frame, base(frame), links, pay)

    return run


def _walk(
    frame: Frame, value: Value, links: list[Link], pay: Pay | None = None
) -> Value:
    """Follow a chain that may be optional from some link on."""
    optional = type(value) is Optional
    if optional:
        if not value.present:
            return value
        value = value.value
    for link in links:
        optional = optional or link.optional
        if optional:
            present, value = access.get_if_present(value, link.key(frame))
            if not present:
                return NONE
        else:
            value = access.get(value, link.key(frame))
        if pay is not None:
            pay(frame)
    return Optional(value) if optional else value


def each(frame: Frame, value: Value, links: list[Link]) -> Iterator[Value]:
    """The value after each link, as the chain that ends there would give it."""
    optional = type(value) is Optional
    present, value = (value.present, value.value) if optional else (True, value)
    for link in links:
        optional = optional or link.optional
        if optional:
            if present:
                present, value = access.get_if_present(value, link.key(frame))
            yield Optional(value) if present else NONE
        else:
            value = access.get(value, link.key(frame))
            yield value


def presence(base: Step, links: list[Link]) -> Step:
    last = links[-1].known
    inner = links[:-1]

    def run(frame: Frame) -> Value:
        return holds(_walk(frame, base(frame), inner), last)

    return run


def holds(value: Value, key: Value) -> bool:
    """``has(value.key)``"""
    if type(value) is Optional:
        if not value.present:
            return False
        value = value.value
    return access.get_if_present(value, key)[0]


def device_field(name: str) -> Step:
    def run(frame: Frame) -> Value:
        return frame[0][name]

    return run


def device_value(kind: str, domain: str, identifier: str) -> Step:
    missing = f"no such key: {identifier}"

    def run(frame: Frame) -> Value:
        try:
            return frame[0][kind][domain][identifier]
        except KeyError:
            raise EvaluationError(missing) from None

    return run


def device_has(kind: str, domain: str, identifier: str) -> Step:
    def run(frame: Frame) -> Value:
        found: DomainMap = frame[0][kind]
        return identifier in found.get(domain, ())

    return run
