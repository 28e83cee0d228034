"""Two results beside each other: what is different, in sentences and in rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

type Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One item of work in both; None where a scenario does not have it."""

    sentence: str
    first: int | None
    second: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """``sentence`` first. Losses are those of one result alone, as its sentences."""

    sentence: str
    same: bool
    items: tuple[Item, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    free: tuple[tuple[str, int, int], ...]
    """(class, free afterwards in the first, in the second) where they differ."""


def compare(first: Json, second: Json) -> Comparison:
    """Of two results in the form of :func:`allocator.whatif.results.stored`."""
    items = tuple(_items(first, second))
    lost = [_losses(result) for result in (first, second)]
    only = [
        tuple(text for key, text in lost[a].items() if lost[b].get(key) != text)
        for a, b in ((0, 1), (1, 0))
    ]
    free = tuple(_free(first, second))
    parts = list(_parts(items, len(lost[0]), len(lost[1]), free))
    if first["fits"] != second["fits"]:
        parts.insert(
            0,
            "everything fits in the second, not in the first"
            if second["fits"]
            else "everything fits in the first, not in the second",
        )
    if not parts and (only[0] or only[1]):
        parts.append("claims that lose their devices end up elsewhere")
    same = not parts
    text = "; ".join(parts) or "both come to the same"
    sentence = f"{text[:1].upper()}{text[1:]}."
    return Comparison(sentence, same, items, only[0], only[1], free)


def _items(first: Json, second: Json) -> Iterator[Item]:
    """By sentence and order among equal ones: other items may stand between them."""
    known = [dict(_numbered(result["items"])) for result in (first, second)]
    for key in dict.fromkeys([*known[0], *known[1]]):
        a, b = known[0].get(key), known[1].get(key)
        yield Item(key[0], a and a["placed"], b and b["placed"])


def _numbered(items: Iterable[Json]) -> Iterator[tuple[tuple[str, int], Any]]:
    seen: dict[str, int] = {}
    for item in items:
        text = item["sentence"]
        seen[text] = seen.get(text, 0) + 1
        yield (text, seen[text]), item


def _losses(result: Json) -> dict[tuple[str, str], str]:
    return {
        (loss["namespace"], loss["claim"]): loss["sentence"]
        for loss in result["losses"]
    }


def _free(first: Json, second: Json) -> Iterator[tuple[str, int, int]]:
    known = [
        {
            row["name"]: (row["after"] or {}).get("free", 0)
            for row in result["difference"]["classes"]
        }
        for result in (first, second)
    ]
    for name in sorted(known[0].keys() | known[1].keys()):
        a, b = known[0].get(name, 0), known[1].get(name, 0)
        if a != b:
            yield name, a, b


def _parts(
    items: Iterable[Item], lost: int, lost_then: int, free: tuple[Any, ...]
) -> Iterator[str]:
    placed = [(item.first, item.second) for item in items]
    a = sum(one or 0 for one, _ in placed)
    b = sum(one or 0 for _, one in placed)
    if a != b:
        yield f"{a:,} of the copies fit in the first, {b:,} in the second"
    elif any(one != other for one, other in placed):
        yield "other items fit"
    if lost != lost_then:
        yield (
            f"{lost:,} claims lose their devices in the first, {lost_then:,} in the second"
        )
    if free:
        name, left, right = free[0]
        more = f" (and {len(free) - 1} more classes differ)" if len(free) > 1 else ""
        yield f"{left:,} devices of {name} are free afterwards, then {right:,}{more}"
