"""What a kind's description is made of: rules for fields, lists, maps and texts.

A rule gets a decoded value (None where the field is not set), its field path and
the scope, and gives the causes in the order in which the API server reports them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dra.validation.causes import (
    Cause,
    Causes,
    all_invalid,
    duplicate,
    not_supported,
    required,
    too_long,
    too_many,
)
from dra.validation.gates import Gates


@dataclass(frozen=True, slots=True)
class Scope:
    """What rules may need to know beyond the value itself.

    ``request_names``: names of requests, each with those of its subrequests.
    ``stored``: the part is unchanged from what is stored, so what was good enough
    once is good enough still. ``old_devices``: the stored devices of a slice by
    name. ``per_device``: the slice says nodes per device.
    """

    gates: Gates
    request_names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stored: bool = False
    old_devices: Mapping[str, Any] = field(default_factory=dict)
    per_device: bool = False
    allocated: frozenset[Hashable] = frozenset()


type Rule = Callable[[Any, str, Scope], Iterable[Cause]]
type Format = Callable[[str], Iterator[str]]
type Check = Callable[[str, str], Causes]


def fields(rules: Mapping[str, Rule]) -> Rule:
    """A rule for each field, in this order."""
    listed = tuple(rules.items())

    def check(value: Any, path: str, scope: Scope) -> Causes:
        value = value or {}
        for name, rule in listed:
            yield from rule(value.get(name), f"{path}.{name}", scope)

    return check


def all_of(*rules: Rule) -> Rule:
    """Several rules for one value."""

    def check(value: Any, path: str, scope: Scope) -> Causes:
        for rule in rules:
            yield from rule(value, path, scope)

    return check


def given(rule: Rule) -> Rule:
    """Checked only where the field is set."""

    def check(value: Any, path: str, scope: Scope) -> Iterable[Cause]:
        return () if value is None else rule(value, path, scope)

    return check


def each(
    item: Rule,
    *,
    at_most: int | None = None,
    key: Callable[[Any], Hashable] | None = None,
    shown_key: Callable[[Any], object] | None = None,
) -> Rule:
    """Every entry of a list; no two with the same ``key``.

    Too many entries hide everything else that is wrong with the list.
    """

    def check(value: Any, path: str, scope: Scope) -> Causes:
        if not value:
            return
        if at_most is not None and len(value) > at_most:
            yield too_many(path, len(value), at_most)
            return
        for index, entry in enumerate(value):
            yield from item(entry, f"{path}[{index}]", scope)
        if key is None:
            return
        seen: set[Hashable] = set()
        for index, entry in enumerate(value):
            found = key(entry)
            if found in seen:
                shown = found if shown_key is None else shown_key(entry)
                yield duplicate(f"{path}[{index}]", shown)
            seen.add(found)

    return check


def entries(
    of_key: Rule,
    of_value: Rule,
    *,
    at_most: int | None = None,
    key_length: int,
) -> Rule:
    """Every entry of a map. Bad keys are reported on the map, bad values at ``[key]``."""

    def check(value: Any, path: str, scope: Scope) -> Causes:
        if not value:
            return
        if at_most is not None and len(value) > at_most:
            yield too_many(path, len(value), at_most)
            return
        for name, entry in value.items():
            yield from of_key(name, path, scope)
            yield from of_value(entry, f"{path}[{_short(name, key_length)}]", scope)

    return check


def _short(key: str, length: int) -> str:
    """``key`` with its middle left out where it is over ``length`` bytes."""
    data = key.encode()
    if len(data) <= length:
        return key
    left = length - len("...")
    kept = data[: (left + 1) // 2] + b"..." + data[len(data) - left // 2 :]
    return kept.decode(errors="replace")


def text(form: Format) -> Rule:
    """A text of this format; not set is the empty text."""

    def check(value: Any, path: str, _scope: Scope) -> Causes:
        found = value or ""
        return all_invalid(path, found, form(found))

    return check


def checked(form: Check) -> Rule:
    """A text with a format of its own kinds of causes; not set is the empty text."""

    def check(value: Any, path: str, _scope: Scope) -> Causes:
        return form(value or "", path)

    return check


def needed(rule: Rule, detail: str = "") -> Rule:
    """Not empty, and then what ``rule`` says."""

    def check(value: Any, path: str, scope: Scope) -> Iterable[Cause]:
        return rule(value, path, scope) if value else (required(path, detail),)

    return check


def if_any(rule: Rule) -> Rule:
    """Checked only where the value is not empty."""

    def check(value: Any, path: str, scope: Scope) -> Iterable[Cause]:
        return rule(value, path, scope) if value else ()

    return check


def one_of(*supported: str, listed: tuple[str, ...] = ()) -> Rule:
    """One of these words; ``listed`` is the order of the message where it differs."""

    def check(value: Any, path: str, _scope: Scope) -> Iterable[Cause]:
        found = value or ""
        if found in supported:
            return ()
        return (not_supported(path, found, listed or supported),)

    return check


def at_most_bytes(limit: int) -> Rule:
    """A text or nothing, up to ``limit`` bytes of UTF-8."""

    def check(value: Any, path: str, _scope: Scope) -> Iterable[Cause]:
        return (too_long(path, limit),) if value and len(value.encode()) > limit else ()

    return check


def itself(value: Hashable) -> Hashable:
    """The key of a list whose entries are their own keys."""
    return value


def nothing(_value: Any, _path: str, _scope: Scope) -> Iterable[Cause]:
    """Whatever could be read is fine."""
    return ()
