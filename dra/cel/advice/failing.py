"""Devices on which the expression fails, other than for a missing name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

import numpy as np

from dra.cel.advice import kinds, missing, words
from dra.cel.advice.asked import Asked, Published
from dra.cel.advice.comparisons import Comparison, comparison, kind_of
from dra.cel.advice.looks import Look, values_of
from dra.cel.advice.origins import Failure
from dra.cel.advice.sites import Site
from dra.cel.advice.warnings import Warning  # noqa: A004 - the word of the field
from dra.cel.ast import Call, Literal, Node, Select, chained
from dra.cel.catalog import type_of
from dra.cel.functions.quantities import is_quantity

_MOST: Final = 6
"""Kinds of failures that are told of."""
_BROKEN: Final = 3
_LOGIC: Final = frozenset({"_&&_", "_||_", "!_", "_?_:_"})
_WRITTEN_AS: Final = frozenset({"string", "int", "bool", "version", "value"})
"""What a value is wrapped in inside of a ResourceSlice, but not in CEL."""


def check(asked: Asked) -> Iterator[Warning]:
    yield from _broken(asked)
    others = [f for f in asked.failures if not missing.explained(asked, f)]
    for failure in others[:_MOST]:
        yield _explained(asked, failure)


def _broken(asked: Asked) -> Iterator[Warning]:
    """Devices for which no expression has an answer."""
    found = sorted(
        (str(problem), row)
        for row, problem in asked.table.problems.items()
        if asked.asked[row]
    )
    groups = [
        (message, [row for _, row in group])
        for message, group in groupby(found, key=lambda pair: pair[0])
    ]
    groups.sort(key=lambda group: -len(group[1]))
    for message, rows in groups[:_BROKEN]:
        count = len(rows)
        it = "it" if count == 1 else "one of them"
        yield Warning(
            "broken-device",
            f"Every expression fails on {words.devices(count)} ({message}): the "
            f"scheduler stops with an error when it looks at {it}, whatever is asked "
            "for. The driver has to publish something else.",
            0,
            len(asked.text),
            devices=count,
            total=asked.total,
            example=asked.table.ids[rows[0]],
        )


def _explained(asked: Asked, failure: Failure) -> Warning:
    found = comparison(failure.node, asked.site_at)
    if found is not None:
        look = _look(asked, found, failure)
        if look is not None:
            return _of_types(look, failure)
    site, wrapped = _wrapped(asked, failure)
    if site is not None:
        text = asked.source(site.node)
        return _warning(
            asked,
            failure,
            f"A value is written without .{wrapped} in CEL: {text} is the value.",
            at=failure.node,
            suggestion=text,
        )
    site = _not_bool(asked, failure)
    if site is not None:
        published = asked.published(site.read, _mask(asked, failure))
        name = "no truth value" if published is None else _types(published)
        return _warning(
            asked,
            failure,
            f"The {words.named(site.read)} is {name}, neither true nor false: compare "
            "it with something.",
            at=site.node,
            code="type-mismatch",
        )
    return _literal(asked, failure) or _warning(
        asked,
        failure,
        f"Fails with “{failure.message}”.",
        at=failure.node,
    )


def _warning(
    asked: Asked,
    failure: Failure,
    message: str,
    *,
    at: Node,
    suggestion: str = "",
    code: str = "fails",
) -> Warning:
    count = len(failure.rows)
    whose = asked.drivers(_mask(asked, failure))
    return Warning(
        code,
        f"{message} The scheduler stops with an error on {count:,} of "
        f"{words.devices(asked.total)} ({whose}).",
        at.start,
        at.end,
        devices=count,
        total=asked.total,
        example=asked.table.ids[int(failure.rows[0])],
        suggestion=suggestion,
    )


def _mask(asked: Asked, failure: Failure) -> np.ndarray:
    mask = np.zeros(len(asked.table), np.bool_)
    mask[failure.rows] = True
    return mask


# --- a comparison of types that cannot be compared ---


def _look(asked: Asked, found: Comparison, failure: Failure) -> Look | None:
    """The comparison before the values on which it fails."""
    published = asked.published(found.subject.site.read, _mask(asked, failure))
    if published is None:
        return None
    return Look(asked, found, published.column, values_of(published, found.subject))


def _of_types(look: Look, failure: Failure) -> Warning:
    found, asked = look.comparison, look.asked
    given = found.given[0]
    how = kinds.types_of(look, look.values)
    message = f"{look.name} is {how}"
    all_versions = all(kind_of(value.plain) == "version" for value in look.values)
    if all_versions and kind_of(given.value) == "string":
        return _version_as_text(look, failure)
    if kind_of(given.value) == kind_of(look.values[0].plain):
        message = f"Fails with “{failure.message}”."
        return _warning(asked, failure, message, at=failure.node)
    message += (
        f" and cannot be compared with {kinds.given_kind(given)} by {_function(found)}."
    )
    return _warning(
        asked,
        failure,
        message,
        at=given.node if len(found.given) == 1 else failure.node,
        suggestion=_retyped(look) if len(found.given) == 1 else "",
        code="type-mismatch",
    )


def _function(found: Comparison) -> str:
    return found.symbol if found.function.startswith(("_", "@")) else found.function


def _retyped(look: Look) -> str:
    """The literal in the type of the value; it replaces all of what was written."""
    found = look.comparison
    if found.function not in ("_==_", "_<_", "_<=_", "_>_", "_>=_"):
        return ""
    return kinds.as_type(look, found.given[0], look.values)


def _version_as_text(look: Look, failure: Failure) -> Warning:
    found, asked = look.comparison, look.asked
    node = failure.node
    message = f"{look.name} is a version, which is no text. "
    versions = [kinds.as_version(str(given.value)) for given in found.given]
    subject = _subject_source(asked, node)
    suggestion = ""
    if found.operator == "in":
        message += "Write each version of the list as semver(…)."
        if all(versions):
            suggestion = f"{subject} in [{', '.join(versions)}]"
    elif found.operator == "order":
        message += "Compare versions with compareTo, and write them as semver(…)."
        if versions[0] and found.symbol == "==":
            suggestion = f"{subject} == {versions[0]}"
        elif versions[0]:
            suggestion = f"{subject}.compareTo({versions[0]}) {found.symbol} 0"
    else:
        message += "It has major(), minor(), patch() and compareTo(semver(…))."
    return _warning(
        asked,
        failure,
        message,
        at=node,
        suggestion=suggestion,
        code="version-as-text",
    )


def _subject_source(asked: Asked, node: Node) -> str:
    """The text of the side of a comparison that reads the device."""
    assert isinstance(node, Call)
    parts = node.args if node.target is None else (node.target, *node.args)
    for part in parts:
        if not isinstance(part, Literal) and not _is_written(part):
            return asked.source(part)
    return asked.source(parts[0])


def _is_written(node: Node) -> bool:
    return isinstance(node, Call) and node.function in ("semver", "quantity")


# --- other reasons ---


def _wrapped(asked: Asked, failure: Failure) -> tuple[Site | None, str]:
    """``device.attributes["d"].x.string``, as a ResourceSlice writes it."""
    node = failure.node
    if not isinstance(node, Select) or node.field not in _WRITTEN_AS:
        return None, ""
    site = asked.site_at.get(node.operand.id)
    return (
        (site, node.field) if site is not None and site.read.identifier else (None, "")
    )


def _not_bool(asked: Asked, failure: Failure) -> Site | None:
    """The value of the device that stands where a truth value has to be."""
    node = failure.node
    terms: list[Node] = [node]
    if isinstance(node, Call) and node.function in _LOGIC:
        terms = list(node.args[:1])
        if node.function in ("_&&_", "_||_"):
            terms = chained(node)
    row = int(failure.rows[0])
    for term in terms:
        site = asked.site_at.get(term.id)
        if site is None or site.form != "get":
            continue
        column = asked.table.columns.get(site.read)
        if column is None or not column.codes[row]:
            continue
        if type_of(column.raws[column.codes[row]]) != "bool":
            return site
    return None


def _types(published: Published) -> str:
    names = dict.fromkeys(type_of(published.column.raws[c]) for c in published.codes)
    return words.either(map(kinds.with_article, names))


def _literal(asked: Asked, failure: Failure) -> Warning | None:
    """``quantity("80GB")`` or ``semver("580.105.08")``: no quantity, no version."""
    match failure.node:
        case Call(
            function="quantity" | "semver" as function,
            args=(Literal(value=str() as text) as at, *_),
        ):
            pass
        case _:
            return None
    if function == "semver":
        version = kinds.as_version(text).removeprefix("semver(").removesuffix(")")
        hint = (
            f"{words.literal(text)} is no version: it needs three numbers without "
            "leading zeros."
        )
        return _warning(asked, failure, hint, at=at, suggestion=version)
    stripped = text.strip().removesuffix("ytes").rstrip("Bb").replace(" ", "")
    hint = (
        f"{words.literal(text)} is no quantity: a number with k, M, G, Ki, Mi, Gi and "
        "so on, or with nothing."
    )
    fixed = words.literal(stripped) if is_quantity(stripped) else ""
    return _warning(asked, failure, hint, at=at, suggestion=fixed)
