"""Terms that are true, or false, of every device; tests that any device passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra.cel.advice import words
from dra.cel.advice.asked import Asked
from dra.cel.advice.sites import descendants
from dra.cel.advice.terms import Term
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
    if not asked.rows.any():
        return
    answerable = asked.count(asked.rows)
    leaves = [term for term in asked.terms if not term.condition.parts]
    if asked.matched == answerable:
        if not leaves or not all(_is_guard(asked, term) for term in leaves):
            yield _everything(asked, answerable)
        return
    explained = [w for w in told if w.code in _TELLING]
    for term in leaves if len(asked.terms) > 1 else ():
        if not _looks_at_device(term):
            continue
        if not asked.count(term.values != YES) and not _is_guard(asked, term):
            yield _always(asked, term, answerable)
        if not asked.count(term.values != NO) and not _within(term, explained):
            yield _never(asked, term, answerable)
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


def _always(asked: Asked, term: Term, count: int) -> Warning:
    return Warning(
        "always-true",
        f"This is true on all of the {words.devices(count)} asked: here it excludes "
        "nothing.",
        term.condition.node.start,
        term.condition.node.end,
        devices=count,
        total=asked.total,
        example=asked.example(term.values == YES),
    )


def _never(asked: Asked, term: Term, count: int) -> Warning:
    return Warning(
        "always-false",
        f"This is false on all of the {words.devices(count)} asked.",
        term.condition.node.start,
        term.condition.node.end,
        devices=0,
        total=asked.total,
        example=asked.example(term.values == NO),
    )


def _nothing(asked: Asked) -> Warning:
    message = f"{asked.no_device} matches"
    if asked.terms and asked.terms[0].condition.kind == "and":
        parts = [asked.terms[place] for place in asked.terms[0].condition.parts]
        if all(asked.count(part.values == YES) for part in parts):
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


def _looks_at_device(term: Term) -> bool:
    """Whether a term can differ from device to device; a written true cannot."""
    return any(
        isinstance(node, Ident) and node.name.removeprefix(".") == "device"
        for node in descendants(term.condition.node)
    )


def _is_guard(asked: Asked, term: Term) -> bool:
    """Whether a term is there to protect others, and may be true of all devices."""
    for part in descendants(term.condition.node):
        site = asked.site_at.get(part.id)
        if site is not None and (site.form != "get" or site.read == Read("driver")):
            return True
    return False


def _within(term: Term, told: Sequence[Warning]) -> bool:
    node = term.condition.node
    return any(node.start <= w.start and w.end <= node.end for w in told)
