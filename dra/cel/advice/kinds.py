"""Values compared with a literal of another type, and values of several types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra import semver
from dra.cel.advice import words
from dra.cel.advice.asked import Asked
from dra.cel.advice.comparisons import Given, kind_of
from dra.cel.advice.looks import MOST_VALUES, Look, Value
from dra.cel.advice.warnings import Warning  # noqa: A004 - the word of the field
from dra.cel.ast import Literal
from dra.cel.catalog import type_of
from dra.cel.reads import Read
from dra.errors import SemverError

_SILENT = frozenset({"_==_", "_!=_", "@in"})
"""Comparisons of different types that do not fail."""


_NO_NULL = " A device that does not have it makes the expression fail: ask with has(…)."


def check(asked: Asked, looks: Sequence[Look]) -> Iterator[Warning]:
    told: set[Read] = set()
    for look in looks:
        warning = _mismatch(look)
        if warning is not None:
            told.add(look.read)
            yield warning
    seen: set[Read] = set()
    for site in asked.sites:
        read = site.read
        if read.kind != "attributes" or site.form not in ("get", "optional"):
            continue
        if not read.identifier or read in seen | told:
            continue
        seen.add(read)
        warning = _mixed(asked, read, site.node.start, site.node.end)
        if warning is not None:
            yield warning


def _mismatch(look: Look) -> Warning | None:
    """Devices whose value can never equal the literal, because of its type.

    Where the comparison fails instead, the failure is told of elsewhere.
    """
    found = look.comparison
    if found.function not in _SILENT:
        return None
    kinds = {kind_of(given.value) for given in found.given}
    others = [
        v for v in look.values if kind_of(v.plain) not in kinds | {"list", "other"}
    ]
    if not others or len(kinds) > 1:
        return None
    given = found.given[0]
    versions = [v for v in others if kind_of(v.plain) == "version"]
    fails = found.symbol == "in" or (found.symbol == "==" and not found.mirrored)
    if fails and kinds != {"null"}:
        others = [v for v in others if kind_of(v.plain) != "version"]
        versions = []
    if not others:
        return None
    always = "true" if found.symbol == "!=" else "false"
    if kinds == {"string"} and len(versions) == len(others):
        code, how = "version-as-text", "a version"
        hint = " Compare it with semver(…)."
    else:
        code, how = "type-mismatch", types_of(look, others)
        hint = _NO_NULL if kinds == {"null"} else ""
    count = sum(v.devices for v in others)
    message = (
        f"{look.name} is {how} on {words.devices(count)} "
        f"({look.asked.drivers(look.mask(others))}), and {given_kind(given)} is "
        f"written: {look.comparison.symbol} is always {always} there.{hint}"
    )
    suggestion = as_type(look, given, others) if len(found.given) == 1 else ""
    return look.warning(
        code,
        message,
        others,
        at=given.text if suggestion else None,
        suggestion=suggestion,
    )


def types_of(look: Look, values: Sequence[Value]) -> str:
    """``a string or an int``"""
    names = dict.fromkeys(type_of(look.raw(value)) for value in values)
    return words.either(map(with_article, names))


def with_article(name: str) -> str:
    if name in ("nothing", "null"):
        return name
    if name in ("ints", "bools", "strings", "versions"):
        return f"a list of {name}"
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def given_kind(given: Given) -> str:
    return with_article(kind_of(given.value))


def as_type(look: Look, given: Given, values: Sequence[Value]) -> str:
    """The literal as the type that ``values`` have, if that is one type.

    It replaces the literal itself.
    """
    types = {type_of(look.raw(value)) for value in values}
    if len(types) != 1 or not isinstance(given.text, Literal):
        return ""
    value = given.value
    match types.pop(), value:
        case "string", bool() | int():
            return words.literal(look.asked.source(given.node))
        case "int", str() if value.strip().lstrip("-").isdecimal():
            return str(int(value))
        case "bool", str() if value.casefold() in ("true", "false"):
            return value.casefold()
        case "bool", int() if value in (0, 1) and not isinstance(value, bool):
            return "true" if value else "false"
        case "version", str():
            return as_version(value)
    return ""


def as_version(text: str) -> str:
    """``semver("…")`` of a text, made a full version where it is not; or empty."""
    try:
        version = semver.parse(text.strip(), normalise=True)
    except SemverError:
        return ""
    return f"semver({words.literal(str(version))})"


def _mixed(asked: Asked, read: Read, start: int, end: int) -> Warning | None:
    """Different devices publish it with different types."""
    if read not in asked.catalog or len(asked.catalog[read].types) < 2:
        return None
    published = asked.published(read)
    if published is None or (published.counts > 0).sum() > MOST_VALUES:
        return None
    by_type: dict[str, list[int]] = {}
    for code in published.codes:
        by_type.setdefault(type_of(published.column.raws[code]), []).append(code)
    if len(by_type) < 2:
        return None
    counted = {
        name: int(published.counts[codes].sum()) for name, codes in by_type.items()
    }
    ordered = sorted(counted, key=lambda name: -counted[name])
    masks = {
        name: asked.of_codes(published.column, codes) & asked.rows
        for name, codes in by_type.items()
    }
    parts = [
        f"{with_article(name)} on {words.devices(counted[name])} "
        f"({asked.drivers(masks[name])})"
        for name in ordered
    ]
    fewer = ordered[1:]
    few = masks[fewer[0]].copy()
    for name in fewer[1:]:
        few |= masks[name]
    return Warning(
        "mixed-types",
        f"The {words.named(read)} is {words.joined(parts)}: a comparison fits only "
        "some of them.",
        start,
        end,
        devices=sum(counted[name] for name in fewer),
        total=asked.total,
        example=asked.example(few),
    )
