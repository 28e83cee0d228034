"""A result as a page of text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra.whatif.result import (
    AmountChange,
    CountChange,
    DeviceCounts,
    ItemResult,
    Placement,
    Result,
    Stranded,
)
from dra.whatif.run import MOVED
from dra.whatif.scenario import POLICIES

_SHOWN: Final = 20
_COLUMNS: Final = (
    ("devices", "devices"),
    ("free", "free"),
    ("in_use", "in use"),
    ("shared", "shared"),
    ("tainted", "tainted"),
    ("blocked", "blocked"),
    ("unusable", "unusable"),
    ("errors", "errors"),
)


def as_text(found: Result) -> str:
    """Lines without a newline at the end."""
    return "\n".join(_lines(found))


def _lines(found: Result) -> Iterator[str]:
    yield found.sentence
    if found.edits:
        yield ""
        yield from found.edits
    for item in found.items:
        yield ""
        yield f"{item.sentence} {item.placed:,} of {item.copies:,} fit."
        if item.reason:
            yield f"  {item.reason}"
        if item.hint:
            yield f"  {item.hint}"
        yield from _changes(item)
        placed = [p for p in found.placements if p.item == item.item]
        yield from _some(map(_placement, placed), len(placed))
    if found.items:
        yield ""
        yield POLICIES[found.policy]
    if found.losses:
        yield ""
        yield "Claims that lose their devices:"
        yield from _some((loss.sentence for loss in found.losses), len(found.losses))
    for one in found.stranded:
        yield from _helping(one)
    moved = [p for p in found.placements if p.item == MOVED]
    if moved:
        yield ""
        yield "Where they go:"
        yield from _some(map(_placement, moved), len(moved))
    if found.pools:
        yield ""
        yield "Pools:"
        pools = (f"{p.driver}/{p.pool}: {p.before} → {p.after}" for p in found.pools)
        yield from _some(pools, len(found.pools))
    yield from _counts("Classes", found.difference.classes)
    yield from _counts("Nodes", found.difference.nodes)
    held = found.difference.namespaces
    if held:
        yield ""
        yield "Namespaces, devices held before → after:"
        told = (
            f"{n.name}: {n.before:,} → {n.after:,} ({n.difference:+,})" for n in held
        )
        yield from _some(told, len(held))
    yield from _amounts("Capacity and counters", _by_driver(found))
    yield from _amounts("Counter sets", found.difference.counter_sets)
    for note in found.notes:
        yield ""
        yield note


def _helping(one: Stranded) -> Iterator[str]:
    if one.explanation is None or not one.explanation.relaxations:
        return
    yield ""
    more = f", and {one.others:,} that ask the same," if one.others else ""
    of = f"Pod {one.namespace}/{one.pod}" if one.pod else f"Claim {one.claims[0]}"
    yield f"{of}{more} would find a place after any one of these changes:"
    yield from _relaxations(one)


def _changes(item: ItemResult) -> Iterator[str]:
    if item.explanation is not None and item.explanation.relaxations:
        yield "  The next would fit after any one of these changes:"
        yield from _relaxations(item)


def _relaxations(of_what: ItemResult | Stranded) -> Iterator[str]:
    asked, explanation = of_what.asked, of_what.explanation
    for one in explanation.relaxations if explanation else ():
        parts = [f"request {one.request}"] if one.request else []
        if len(asked) > 1 and one.spec is not None:
            parts.append(f"claim {asked[one.claim].name}")
        of = f" ({', '.join(parts)})" if parts else ""
        yield f"  - {one.sentence}{of} Then on node {one.node}."


def _by_driver(found: Result) -> tuple[AmountChange, ...]:
    return (*found.difference.capacities, *found.difference.counters)


def _amounts(title: str, changes: tuple[AmountChange, ...]) -> Iterator[str]:
    if not changes:
        return
    yield ""
    yield f"{title}, taken of published before → after:"
    told = (
        f"{f'{a.driver}/{a.pool} {a.counter_set}' if a.pool else a.driver} {a.name}: "
        f"{a.taken_before} of {a.total_before} → {a.taken_after} of {a.total_after} "
        f"({_signed(a.taken_difference)} of {_signed(a.total_difference)})"
        for a in changes
    )
    yield from _some(told, len(changes))


def _signed(amount: str) -> str:
    return amount if amount.startswith("-") or amount == "0" else f"+{amount}"


def _placement(placement: Placement) -> str:
    devices = [
        f"{device.pool}/{device.device}"
        for claim in placement.claims
        for device in claim.devices
    ]
    shown = ", ".join(devices[:8]) + (", …" if len(devices) > 8 else "")
    return f"{placement.name} → {placement.node}{f': {shown}' if devices else ''}"


def _counts(title: str, changes: tuple[CountChange, ...]) -> Iterator[str]:
    changed = [change for change in changes if change.before != change.after]
    if not changed:
        return
    yield ""
    yield f"{title}, before → after:"
    told = (f"{c.name or '(no node)'}: {_change(c)}" for c in changed)
    yield from _some(told, len(changed))


def _change(change: CountChange) -> str:
    before, after = change.before or DeviceCounts(), change.after or DeviceCounts()
    parts = [
        f"{words} {getattr(before, field):,} → {getattr(after, field):,} "
        f"({getattr(change.difference, field):+,})"
        for field, words in _COLUMNS
        if getattr(change.difference, field)
    ]
    if change.after is None:
        parts.append("gone")
    return ", ".join(parts) or "new"


def _some(lines: Iterator[str] | map[str], count: int) -> Iterator[str]:
    for _, line in zip(range(_SHOWN), lines, strict=False):
        yield f"  {line}"
    if count > _SHOWN:
        yield f"  … and {count - _SHOWN:,} more"
