"""Terms that are true, or false, of every device; tests that any device passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra.cel.advice import words
from dra.cel.advice.asked import Asked
from dra.cel.advice.sites import descendants
from dra.cel.advice.warnings import Warning  # noqa: A004 - the word of the field
from dra.cel.ast import Call, Ident, Node
from dra.cel.logic import NO, YES
from dra.cel.reads import Read

_TELLING = frozenset(
    {
        "broken-device",
        "missing",
        "fails",
        "split-domain",
        "unknown-domain",
        "unknown-name",
        "near-miss",
        "version-as-text",
        "type-mismatch",
        "unknown-value",
    }
)
"""Codes that say why a term is never true."""


def always_there(asked: Asked) -> Iterator[Warning]:
    """``has(device.attributes.x)`` and ``[?"x"].hasValue()`` of a domain."""
    for site in asked.sites:
        read, node = site.read, site.node
        if not read.domain or read.identifier or site.form == "in":
            continue
        if site.form == "optional":
            parent = asked.parents.get(node.id)
            if not _asks_for_value(parent, node):
                continue
            node = parent if parent is not None else node
        text = f"{words.literal(read.domain)} in device.{read.kind}"
        count = asked.count(asked.has_domain(read.kind, read.domain))
        meant = () if count else asked.catalog.near(read)
        likely = words.either(words.literal(other.domain) for other in meant)
        yield Warning(
            "always-there",
            "This is true on every device: a domain that a device does not have counts "
            f"as an empty one. Write {text}, which is true on {words.devices(count)} "
            f"of {asked.total:,}." + (f" Did you mean {likely}?" if likely else ""),
            node.start,
            node.end,
            devices=count,
            total=asked.total,
            suggestion=text,
        )


def _asks_for_value(parent: Node | None, node: Node) -> bool:
    return (
        isinstance(parent, Call)
        and parent.function == "hasValue"
        and parent.target is node
    )


def check(asked: Asked, told: Sequence[Warning]) -> Iterator[Warning]:
    """Terms with the same outcome everywhere, unless ``told`` says why."""
    answerable = asked.count(asked.rows)
    if not answerable:
        return
    terms = asked.terms
    leaves = list(terms.leaves())
    if asked.matched == answerable:
        nodes = [terms.conditions[place].node for place in leaves]
        if not nodes or not all(_is_guard(asked, node) for node in nodes):
            yield _everything(asked, answerable)
        return
    explained = [w for w in told if w.code in _TELLING]
    for place in leaves if len(terms.conditions) > 1 else ():
        node = terms.conditions[place].node
        if not _looks_at_device(node):
            continue
        if terms.count(place, YES) == answerable and not _is_guard(asked, node):
            yield _always(asked, node, answerable)
        if terms.count(place, NO) == answerable and not _within(node, explained):
            yield _never(asked, node, answerable)
    if not asked.matched and not explained:
        yield _nothing(asked)


def _everything(asked: Asked, count: int) -> Warning:
    return Warning(
        "matches-everything",
        f"This matches all of the {words.devices(count)} asked: it excludes nothing.",
        0,
        len(asked.text),
        devices=count,
        total=asked.total,
    )


def _always(asked: Asked, node: Node, count: int) -> Warning:
    return Warning(
        "always-true",
        f"This is true on all of the {words.devices(count)} asked: here it excludes "
        "nothing.",
        node.start,
        node.end,
        devices=count,
        total=asked.total,
        example=asked.example(asked.rows),
    )


def _never(asked: Asked, node: Node, count: int) -> Warning:
    return Warning(
        "always-false",
        f"This is false on all of the {words.devices(count)} asked.",
        node.start,
        node.end,
        devices=0,
        total=asked.total,
        example=asked.example(asked.rows),
    )


def _nothing(asked: Asked) -> Warning:
    message = f"{asked.no_device} matches"
    terms = asked.terms
    whole = terms.conditions[0] if terms.conditions else None
    if (
        whole is not None
        and whole.kind == "and"
        and all(terms.count(part, YES) for part in whole.parts)
    ):
        message += ", although each term for itself matches some: no device meets "
        message += "all of them together"
    return Warning(
        "matches-nothing",
        f"{message}.",
        0,
        len(asked.text),
        devices=0,
        total=asked.total,
    )


def _looks_at_device(node: Node) -> bool:
    """Whether a term can differ from device to device; a written true cannot."""
    return any(
        isinstance(part, Ident) and part.name.removeprefix(".") == "device"
        for part in descendants(node)
    )


def _is_guard(asked: Asked, node: Node) -> bool:
    """Whether a term is there to protect others, and may be true of all devices."""
    for part in descendants(node):
        site = asked.site_at.get(part.id)
        if site is not None and (site.form != "get" or site.read == Read("driver")):
            return True
    return False


def _within(node: Node, told: Sequence[Warning]) -> bool:
    return any(node.start <= w.start and w.end <= node.end for w in told)
