"""Texts that no device publishes, though some publish nearly the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra.cel.advice import words
from dra.cel.advice.comparisons import Given
from dra.cel.advice.looks import Look, Value, searched
from dra.cel.advice.warnings import Warning  # noqa: A004 - the word of the field
from dra.cel.likeness import difference, likeness
from dra.cel.reads import Read

_SHORTEST: Final = 3
"""Characters of a text that is looked for inside of others."""
_DRIVER: Final = 0.75

_DIFFERS: Final = {
    "case": "which differs only in case",
    "spaces": "which differs only in spaces",
    "typo": "which differs in a letter or two",
}
_FINDS: Final = {
    "startsWith": "that starts with",
    "endsWith": "that ends with",
    "contains": "that contains",
    "matches": "that matches",
}


def check(looks: Sequence[Look]) -> Iterator[Warning]:
    written: dict[Read, set[str]] = {}
    for look in looks:
        values = [given.value for given in look.comparison.given]
        written.setdefault(look.read, set()).update(filter(_is_text, values))
    for look in looks:
        found = look.comparison
        texts = [given for given in found.given if _is_text(given.value)]
        published = [value for value in look.values if _is_text(value.plain)]
        if not texts or not published:
            continue
        if found.operator in _FINDS:
            if not look.satisfied():
                yield _not_found(look, texts[0], published)
        elif found.symbol in ("==", "!=", "in"):
            yield from _not_published(look, texts, published, written[look.read])


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _not_published(
    look: Look, texts: Sequence[Given], values: Sequence[Value], written: set[str]
) -> Iterator[Warning]:
    """``written`` is all that the expression compares the same thing with."""
    published = {value.plain for value in values}
    unknown = [given for given in texts if given.value not in published]
    others = [value for value in values if value.plain not in written]
    slips = [_slip(look, given, others) for given in unknown] if others else []
    yield from (slip for slip in slips if slip is not None)
    if len(unknown) == len(look.comparison.given) and not any(slips):
        if look.comparison.symbol != "!=":
            yield _never(look, values)
        return
    for given in texts:
        if given.value in published:
            yield from _case_variants(look, given, values)


def _slip(look: Look, given: Given, values: Sequence[Value]) -> Warning | None:
    """Nobody publishes ``given``, but nearly so."""
    found = _like(look, given.value, values)
    if found is None:
        return None
    meant, how = found
    return look.warning(
        "near-miss",
        f"{_nobody(look, words.literal(given.value))}; {look.who(meant)}, {how}.",
        meant,
        at=given.text,
        suggestion=words.literal(meant[0].plain) if len(meant) == 1 else "",
    )


def _like(
    look: Look, wanted: str, values: Sequence[Value]
) -> tuple[Sequence[Value], str] | None:
    """The values that were probably meant, and in what they differ."""
    if look.read.kind == "driver":
        best = max(values, key=lambda value: likeness(wanted, value.plain))
        if likeness(wanted, best.plain) < _DRIVER:
            return None
        return [best], "which is probably meant"
    by_difference: dict[str, list[Value]] = {}
    for value in values:
        found = difference(wanted, value.plain)
        if found is not None:
            by_difference.setdefault(found, []).append(value)
    for kind, how in _DIFFERS.items():
        if kind in by_difference:
            return by_difference[kind], how
    short = wanted.casefold().strip()
    if len(short) < _SHORTEST:
        return None
    around = [value for value in values if short in value.plain.casefold()]
    if not around:
        return None
    if len(around) == 1:
        return around, "which contains it: write all of it, or use contains()"
    return around, "which contain it: write all of one, or use contains()"


def _never(look: Look, values: Sequence[Value]) -> Warning:
    found = look.comparison
    if found.symbol == "in":
        wanted = "in this list"
    else:
        wanted = words.literal(found.given[0].value)
    return look.warning(
        "unknown-value",
        f"{_nobody(look, wanted)}; {_there_are(look, values)}.",
        values,
    )


def _nobody(look: Look, wanted: str) -> str:
    if look.read.kind == "driver":
        return f"{look.asked.no_device} is of the driver {wanted}"
    return f"{look.asked.no_device} has {look.name} {wanted}"


def _there_are(look: Look, values: Sequence[Value]) -> str:
    shown = [f"{look.text(v)} ({words.devices(v.devices)})" for v in values]
    return f"there {'is' if len(shown) == 1 else 'are'} {words.some(shown, most=4)}"


def _not_found(look: Look, given: Given, values: Sequence[Value]) -> Warning:
    """No published text starts with, ends with, contains or matches ``given``."""
    function, part = look.comparison.operator, given.value
    shown = words.literal(part)
    near = [
        value
        for value in values
        if (
            searched("matches", value.plain, f"(?i){part}")
            if function == "matches"
            else searched(function, value.plain.casefold(), part.casefold())
        )
    ]
    start = f"{look.asked.no_device} has {look.name} {_FINDS[function]} {shown}"
    if not near:
        return look.warning(
            "unknown-value", f"{start}; {_there_are(look, values)}.", values
        )
    return look.warning(
        "near-miss",
        f"{start}; {look.who(near)}, where only the case differs.",
        near,
        at=given.text,
        suggestion=_cased(function, part, near),
    )


def _cased(function: str, part: str, near: Sequence[Value]) -> str:
    """The literal with the case that devices publish, if that is one."""
    if function == "matches":
        return words.literal(f"(?i){part}")
    spelled: set[str] = set()
    for value in near:
        text = value.plain
        if len(text.casefold()) != len(text):
            return ""
        at = {
            "startsWith": 0,
            "endsWith": len(text) - len(part),
            "contains": text.casefold().find(part.casefold()),
        }[function]
        spelled.add(text[at : at + len(part)])
    return words.literal(spelled.pop()) if len(spelled) == 1 else ""


def _case_variants(
    look: Look, given: Given, values: Sequence[Value]
) -> Iterator[Warning]:
    """Devices whose text differs from ``given`` only in case are treated otherwise."""
    asked_for = {g.value for g in look.comparison.given}
    folded = given.value.casefold()
    others = [
        value
        for value in values
        if value.plain not in asked_for and value.plain.casefold() == folded
    ]
    if not others:
        return
    count = sum(value.devices for value in others)
    yield look.warning(
        "case-variants",
        f"{look.who(others)} as {look.name}, which differs from "
        f"{words.literal(given.value)} only in case and does not count as equal. "
        f"To take {'it' if count == 1 else 'them'} as well, compare lowerAscii() with "
        f"{words.literal(given.value.lower())}.",
        others,
        at=given.text,
    )
