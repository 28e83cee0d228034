"""A stored result as a page shows it: differences first, maps, tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.urls import reverse
from django.utils.safestring import SafeString

from allocator.whatif.views.helped import Help, Stranded, help_for, stranded
from dra import quantity
from dra.quantity import NANO, Format
from dra.whatif.run import MOVED
from dra.whatif.scenario import POLICIES
from inventory.models import Cluster
from inventory.queries.devices import Placed
from inventory.views.device_map import cells_of
from web.pages.addresses import asking

type Json = Mapping[str, Any]

COUNTS: Final = (
    ("free", "Free"),
    ("inUse", "In use"),
    ("shared", "Shared"),
    ("tainted", "Tainted"),
    ("blocked", "Blocked"),
    ("unusable", "Unusable"),
    ("errors", "Selector fails"),
    ("devices", "Devices"),
)
_SHORT: Final = 6
"""Characters that are read at a glance."""
_SUFFIXES: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
ROWS: Final = 200
"""Of a table; the file has all that is stored."""
TALL_ROWS: Final = 50
"""Of a table with sentences."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A number before and after; None where its owner does not exist."""

    before: int | str | None
    after: int | str | None

    @property
    def changed(self) -> bool:
        return self.before != self.after

    @property
    def delta(self) -> str:
        """``+3``, ``−2``, or nothing where there is none."""
        if isinstance(self.before, str) or isinstance(self.after, str):
            return ""
        number = (self.after or 0) - (self.before or 0)
        if not number:
            return ""
        return f"+{number:,}" if number > 0 else f"−{-number:,}"


@dataclass(frozen=True, slots=True)
class CountRow:
    name: str
    href: str
    state: str
    """``new``, ``gone`` or empty."""
    cells: Sequence[Pair]


@dataclass(frozen=True, slots=True)
class CountTable:
    title: str
    noun: str
    columns: Sequence[str]
    rows: Sequence[CountRow]
    more: int


@dataclass(frozen=True, slots=True)
class Amounts:
    """A quantity before and after, and the difference, as Kubernetes writes them."""

    before: str
    after: str
    difference: str

    @property
    def changed(self) -> bool:
        return self.before != self.after

    @property
    def exactly(self) -> str:
        """What the rounded texts stand for."""
        return f"{self.before} → {self.after}" if self.changed else self.before

    @property
    def shown(self) -> tuple[str, str]:
        return rounded(self.before), rounded(self.after)

    @property
    def delta(self) -> str:
        """``+16Gi`` or ``−16Gi``; empty where there is no difference."""
        if self.difference == "0":
            return ""
        if self.difference.startswith("-"):
            return f"−{rounded(self.difference[1:])}"
        return f"+{rounded(self.difference)}"


@dataclass(frozen=True, slots=True)
class AmountRow:
    """One capacity or counter: ``taken`` of the ``total`` that is published."""

    what: str
    href: str
    name: str
    taken: Amounts
    total: Amounts


def rounded(text: str) -> str:
    """A long binary quantity with the suffix that people would use: ``120.2Ti``."""
    amount = quantity.read(text)
    if len(text) <= _SHORT or amount.format is not Format.BINARY:
        return text
    value, step = amount.nanos / NANO, 0
    while value >= 1024 and step < len(_SUFFIXES) - 1:
        value, step = value / 1024, step + 1
    return f"{value:.1f}".removesuffix(".0") + _SUFFIXES[step]


@dataclass(frozen=True, slots=True)
class Side:
    """One node before or after. ``drivers`` are (driver, cells)."""

    drivers: Sequence[tuple[str, SafeString]]
    free: int
    total: int
    left_out: int
    """Devices that are counted and not drawn."""


@dataclass(frozen=True, slots=True)
class NodeMap:
    node: str
    href: str
    before: Side | None
    after: Side | None
    cordoned: bool
    """It takes no new pods afterwards, however much is free."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of work, and what would make the next of it fit.

    ``is_group``: its pods are placed together, and one of them is what does not fit.
    """

    result: Json
    placements: Sequence[Json]
    more: int
    help: Help
    is_group: bool


@dataclass(frozen=True, slots=True)
class Shown:
    losses: Sequence[Json]
    lost: int
    """How many there are; ``losses`` are the first of them."""
    stranded: Sequence[Stranded]
    items: Sequence[Item]
    moved: Sequence[Json]
    pools: Sequence[Json]
    tables: Sequence[CountTable]
    amounts: Sequence[AmountRow]
    counter_sets: Sequence[AmountRow]
    more_sets: int
    maps: Sequence[NodeMap]
    notes: Sequence[str]
    left_out: str
    policy: str


def shown(cluster: Cluster, result: Json, document: dict[str, Any]) -> Shown:
    """Of a result in the form of :func:`allocator.whatif.results.stored`.

    ``document`` is the scenario in JSON.
    """
    placements = result["placements"]
    difference = result["difference"]
    left_out = result.get("leftOut") or {}
    sets = difference["counterSets"]
    return Shown(
        losses=result["losses"][:TALL_ROWS],
        lost=len(result["losses"]) + left_out.get("losses", 0),
        stranded=list(stranded(cluster, result, document)),
        items=[_item(cluster, i, result, document) for i in result["items"]],
        moved=[p for p in placements if p["item"] == MOVED][:ROWS],
        pools=result["pools"][:ROWS],
        tables=list(_tables(cluster, difference)),
        amounts=_amounts(
            cluster, [*difference["capacities"], *difference["counters"]][:ROWS]
        ),
        counter_sets=_amounts(cluster, sets[:ROWS]),
        more_sets=len(sets) + left_out.get("counterSets", 0) - len(sets[:ROWS]),
        maps=[_map(cluster, one) for one in result.get("maps", ())],
        notes=result["notes"],
        left_out=_left_out(left_out),
        policy=POLICIES.get(result["policy"], ""),
    )


def _item(cluster: Cluster, item: Json, result: Json, document: dict[str, Any]) -> Item:
    its = [p for p in result["placements"] if p["item"] == item["item"]][:ROWS]
    more = max(item["placed"] - len(its), 0)
    helped = help_for(cluster, item, str(item["item"]), result, document)
    return Item(item, its, more, helped, item["item"] in _groups(document))


def _groups(document: Json) -> set[int]:
    """Places of the items that are groups of pods."""
    work = document.get("workload") or ()
    return {n for n, entry in enumerate(work) if entry.get("place") == "group"}


# --- tables ------------------------------------------------------------------


def _tables(cluster: Cluster, difference: Json) -> Iterable[CountTable]:
    for title, noun, rows, page in (
        ("Classes", "class", difference["classes"], "class"),
        ("Nodes", "node", difference["nodes"], "node"),
    ):
        changed = [row for row in rows if row["before"] != row["after"]]
        if changed:
            yield _counts(cluster, title, noun, changed, page)
    held = difference["namespaces"]
    if held:
        rows = [
            CountRow(
                row["name"],
                asking(reverse("claims", args=[cluster.name]), namespace=row["name"]),
                "",
                (Pair(row["before"], row["after"]),),
            )
            for row in held[:ROWS]
        ]
        more = max(len(held) - ROWS, 0)
        yield CountTable("Namespaces", "namespace", ("Devices held",), rows, more)


def _counts(
    cluster: Cluster, title: str, noun: str, changed: Sequence[Json], page: str
) -> CountTable:
    names = [
        (name, label)
        for name, label in COUNTS
        if any(
            _number(row, "before", name) != _number(row, "after", name)
            for row in changed
        )
    ]
    rows = [
        CountRow(
            name=row["name"] or "on no single node",
            href=reverse(page, args=[cluster.name, row["name"]])
            if row["name"] and row["before"] is not None
            else "",
            state=_presence(row),
            cells=[
                Pair(
                    None if row["before"] is None else row["before"][name],
                    None if row["after"] is None else row["after"][name],
                )
                for name, _ in names
            ],
        )
        for row in changed[:ROWS]
    ]
    labels = [label for _, label in names]
    return CountTable(title, noun, labels, rows, max(len(changed) - ROWS, 0))


def _number(row: Json, side: str, name: str) -> int:
    return int((row[side] or {}).get(name, 0))


def _presence(row: Json) -> str:
    if row["before"] is None:
        return "new"
    return "gone" if row["after"] is None else ""


def _amounts(cluster: Cluster, rows: Iterable[Json]) -> list[AmountRow]:
    return [_amount(cluster, row) for row in rows]


def _amount(cluster: Cluster, row: Json) -> AmountRow:
    what, href = row["driver"], ""
    if row.get("pool"):
        what = f"{row['driver']}/{row['pool']} {row['counterSet']}"
        href = reverse("pool", args=[cluster.name, row["driver"], row["pool"]])
    taken = (row["takenBefore"], row["takenAfter"], row.get("takenDifference", "0"))
    total = (row["totalBefore"], row["totalAfter"], row.get("totalDifference", "0"))
    return AmountRow(what, href, row["name"], Amounts(*taken), Amounts(*total))


# --- maps --------------------------------------------------------------------


def _map(cluster: Cluster, one: Json) -> NodeMap:
    exists = one["before"] is not None
    counts = one.get("counts") or (None, None)  # results of older releases have none
    return NodeMap(
        node=one["node"],
        href=reverse("node", args=[cluster.name, one["node"]]) if exists else "",
        before=_side(cluster, one["before"], counts[0], linked=True),
        after=_side(cluster, one["after"], counts[1], linked=exists),
        cordoned=bool(one.get("cordoned")),
    )


def _side(
    cluster: Cluster,
    cells: Sequence[Sequence[Any]] | None,
    counts: Sequence[int] | None,
    *,
    linked: bool,
) -> Side | None:
    if cells is None:
        return None
    its = [_placed(position, cell) for position, cell in enumerate(cells)]
    drivers = [
        (driver, cells_of(cluster, list(group), {}, linked=linked))
        for driver, group in groupby(its, key=lambda device: device.driver)
    ]
    free, total = counts or (sum(one.state == "free" for one in its), len(its))
    return Side(drivers, free, total, total - len(its))


def _placed(position: int, cell: Sequence[Any]) -> Placed:
    driver, pool, name, state, counter_set, counters = cell
    draws = [{"counterSet": counter_set, "counters": range(counters)}]
    return Placed(
        driver, pool, name, "", state, 0, draws if counter_set else [], position
    )


def _left_out(left: Mapping[str, int]) -> str:
    if not left:
        return ""
    parts = [f"{number:,} {_WORDS.get(name, name)}" for name, number in left.items()]
    return (
        f"The lists are cut: {', '.join(parts)} more. Counts and sentences are of all."
    )


_WORDS: Final = {
    "placements": "placements",
    "losses": "claims that lose devices",
    "stranded": "kinds of what finds no place",
    "counterSets": "changes of counter sets",
    "devices": "changed devices",
}
