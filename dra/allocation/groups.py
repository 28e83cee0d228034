"""Nodes that are the same to one question, so that one search answers for all.

What a search sees of a node is written down as a signature: the pools in order,
and a number per device that says everything the search may ask about it. Nodes
with equal signatures have equal answers, device by device in the same places,
whatever the devices are called. Outcomes are remembered by signature for the next
snapshot too.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
from numpy.typing import NDArray

from dra.allocation.constraints import find_attribute, scalar
from dra.allocation.derived import derived_values
from dra.allocation.features import Features
from dra.allocation.layout import NodeView
from dra.allocation.matching import Trouble, Verdict, chain_verdicts, verdicts
from dra.allocation.quirks import Quirk
from dra.allocation.request import Ask, Plan
from dra.allocation.traits import Kind, kinds, rule_taints, uses_of
from dra.allocation.views import view_of
from dra.cel.columns import Codes, Column, Dictionary
from dra.cel.listing import Listing
from dra.cel.reads import Read
from dra.cel.selection import Part, combinations
from dra.cel.table import DeviceTable
from dra.objects import DeviceAttribute
from dra.snapshot import Snapshot

type Signature = Hashable

MAX_QUESTIONS: Final = 64
MAX_ANSWERS: Final = 20_000


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A device that was picked, by where it stands: request and alternative of the
    claim, slice among the view's pieces, device in it."""

    claim: int
    request: int
    alternative: int
    piece: int
    device: int


@dataclasses.dataclass(frozen=True, slots=True)
class Pattern:
    """A solution without names; ``chosen`` has the alternative of each request."""

    places: tuple[Place, ...]
    chosen: tuple[tuple[int, ...], ...]


class Known:
    """Outcomes of one question by signature: a pattern, or None for no fit.

    ``anchors`` are the dictionaries that give the codes their meaning.
    """

    def __init__(self, anchors: Sequence[object]) -> None:
        self.anchors = anchors
        self.outcomes: dict[Signature, Pattern | None] = {}
        self._codes: dict[Hashable, int] = {}
        self._numbers = itertools.count()

    def is_anchored(self, anchors: Sequence[object]) -> bool:
        return len(anchors) == len(self.anchors) and all(
            a is b for a, b in zip(anchors, self.anchors, strict=True)
        )

    def code(self, meaning: Hashable) -> int:
        """A number that no other meaning has, whoever else asks at the same time."""
        found = self._codes.get(meaning)
        if found is None:
            found = self._codes.setdefault(meaning, next(self._numbers))
        return found

    def remember(self, signature: Signature, pattern: Pattern | None) -> None:
        if len(self.outcomes) >= MAX_ANSWERS:
            self.outcomes.clear()
        self.outcomes[signature] = pattern


class Grouping:
    """The signatures of the nodes of one snapshot under one question.

    A device that no selector wants is the same as any other such device; with
    ``closely`` it counts all the same what it is and who holds it. Raises
    NotSupportedError for an expression that cannot be asked.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        plan: Plan,
        features: Features,
        quirks: Collection[Quirk],
        *,
        closely: bool = False,
    ) -> None:
        self.table = snapshot.devices(lists=features.list_type_attributes)
        self.plan = plan
        self.asks = plan.asks
        facts = _Facts(snapshot, self.table, self.asks, plan, features, closely)
        key = (_shape(plan), features, frozenset(quirks), closely)
        self.known = _known_answers(key, facts.anchors)
        self._codes = facts.codes(self.known)
        self._verdicts = facts.verdicts
        self._places = self.table.listing.places

    def tell(self, view: NodeView) -> None:
        """Let a search of this node know what the selectors said already."""
        for chain, (codes, said) in self._verdicts.items():
            for piece in view.pieces:
                start = self._places.get(id(piece))
                found = verdicts(chain, view_of(piece), lists=self.table.lists)
                if start is not None and None in found:
                    stop = start + len(found)
                    found[:] = [said[code] for code in codes[start:stop].tolist()]

    def signature(self, view: NodeView) -> Signature | None:
        """None for a node that is like no other."""
        if view.fixed is None:
            return None
        codes, places = self._codes, self._places
        parts: list[bytes] = []
        for piece in (*view.pieces, *view.elsewhere):
            start = places.get(id(piece))
            if start is None:
                return None
            stop = start + len(piece.spec.devices or ())
            parts.append(codes[start:stop].tobytes())
        return (view.fixed, b"".join(parts))


class _Facts:
    """Everything a search may ask about each device, column by column."""

    def __init__(
        self,
        snapshot: Snapshot,
        table: DeviceTable,
        asks: Sequence[Ask],
        plan: Plan,
        features: Features,
        closely: bool,
    ) -> None:
        self.table = table
        self.parts: list[Codes] = []
        self.sizes: list[int] = []
        self.meanings: list[Sequence[Hashable] | None] = []
        self.anchors: list[object] = []
        self.relevant: NDArray[np.bool_] = np.full(len(table), closely)
        self.verdicts: dict[tuple[str, ...], tuple[Codes, list[Verdict]]] = {}
        for chain in dict.fromkeys(ask.chain for ask in asks):
            codes, values = self.verdicts[chain] = chain_verdicts(chain, table)
            said = [v.text if isinstance(v, Trouble) else v for v in values]
            self.relevant |= ~np.isin(
                codes, [c for c, v in enumerate(said) if v is False]
            )
            self._add(codes, len(values), said)
        self._add_device_facts(snapshot, features)
        homes = homes_of(table) if any(c.constraints for c in plan.claims) else None
        for name in _attributes(plan):
            assert homes is not None
            derived = dict.fromkeys(a.derived[name] for a in asks if name in a.derived)
            self._add_attribute(
                name,
                homes,
                lists=features.list_type_attributes,
                derived=bool(derived),
            )
            for expression in derived:
                codes, meanings = derived_values(expression, table)
                codes = np.where(self.relevant, codes, 0)
                self._add(codes, len(meanings), meanings)

    def _add(
        self, codes: Codes, size: int, meanings: Sequence[Hashable] | None
    ) -> None:
        self.parts.append(codes)
        self.sizes.append(size)
        self.meanings.append(meanings)

    def _add_device_facts(self, snapshot: Snapshot, features: Features) -> None:
        kind = self.table.made_by(kinds)
        uses = uses_of(snapshot, self.table)
        self.anchors.append(kind.dictionary)
        # Who draws on counters counts for the others, wanted or not.
        draws = [isinstance(raw, Kind) and raw.draws for raw in kind.raws]
        counted = (uses.codes != 0) & np.array(draws, np.bool_)[kind.codes]
        seen = self.relevant | counted
        self._add(np.where(seen, kind.codes, 0), kind.size, None)
        self._add(np.where(seen, uses.codes, 0), len(uses.known), uses.known)
        if features.device_taints:
            taints = rule_taints(snapshot, self.table)
            if taints is not None:
                codes = np.where(self.relevant, taints.codes, 0)
                self._add(codes, len(taints.meanings), taints.meanings)

    def _add_attribute(
        self, name: str, homes: Codes, *, lists: bool, derived: bool
    ) -> None:
        """The values of an attribute that a constraint compares.

        Only which of a node's devices have the same value matters, so values are
        numbered node by node; where devices of several nodes, lists or derived
        values take part the values themselves are compared.
        """
        column = constraint_column(self.table, name)
        codes = np.where(self.relevant, column.codes, 0)
        used = np.flatnonzero(np.bincount(codes, minlength=column.size)).tolist()
        values = {c: cast("DeviceAttribute", column.raws[c]) for c in used if c}
        listed = lists and any(map(_is_list, values.values()))
        if derived or listed or bool(np.any((homes < 0) & (codes > 0))):
            self.anchors.append(column.dictionary)
            self._add(codes, column.size, None)
            return
        labels = _numbered(codes, homes, column.size)
        # A value that no other equals: a list without the gate, or nothing at all.
        labels[np.isin(codes, [c for c, v in values.items() if scalar(v) is None])] = 1
        self._add(labels, int(labels.max(initial=0)) + 1, None)

    def codes(self, known: Known) -> Codes:
        """One number per device; equal numbers mean the same for ever."""
        parts = [Part(c, s) for c, s in zip(self.parts, self.sizes, strict=True)]
        first, which = combinations(parts, len(self.table))
        columns = [
            picked if meaning is None else [meaning[code] for code in picked]
            for picked, meaning in zip(
                (codes[first].tolist() for codes in self.parts),
                self.meanings,
                strict=True,
            )
        ]
        rows = zip(*columns, strict=True)
        stable = np.array([known.code(row) for row in rows], np.int32)
        return stable[which]


def _is_list(attribute: DeviceAttribute) -> bool:
    lists = (attribute.ints, attribute.bools, attribute.strings, attribute.versions)
    return any(items is not None for items in lists)


def _numbered(codes: Codes, homes: Codes, size: int) -> Codes:
    """Codes numbered anew from 2 on within each home; 0 stays 0."""
    labels = np.zeros(len(codes), np.int32)
    rows = np.flatnonzero(codes)
    pairs = homes[rows].astype(np.int64) * size + codes[rows]
    distinct, first, which = np.unique(pairs, return_index=True, return_inverse=True)
    home = distinct // size
    order = np.lexsort((first, home))
    starts = np.searchsorted(home[order], home[order], side="left")
    number = np.zeros(len(distinct), np.int32)
    number[order] = np.arange(len(distinct)) - starts + 2
    labels[rows] = number[which]
    return labels


_kept_homes: WeakKeyDictionary[DeviceTable, Codes] = WeakKeyDictionary()
_lock: Final = threading.Lock()


def homes_of(table: DeviceTable) -> Codes:
    """The node that alone has each device, as a number; -1 where there is none."""
    with _lock:
        found = _kept_homes.get(table)
    if found is None:
        found = _homes(table)
        with _lock:
            _kept_homes[table] = found
    return found


def _homes(table: DeviceTable) -> Codes:
    numbers: dict[str, int] = {}
    homes = np.full(len(table), -1, np.int32)
    for piece, _, start, stop in table.listing.blocks:
        name = piece.spec.node_name if piece is not None else None
        if name:
            homes[start:stop] = numbers.setdefault(name, len(numbers))
    return homes


def constraint_column(table: DeviceTable, name: str) -> Column:
    """The values of an attribute as constraints look them up.

    That is as CEL does, but for a device that publishes both spellings of the name:
    then the one with the domain counts (:func:`find_attribute`).
    """
    domain, slash, identifier = name.partition("/")
    if not slash or _spelled_twice(table, name, domain, identifier):
        return table.made_by(_lookup(name))
    read = Read("attributes", domain, identifier)
    column = table.columns.get(read)
    return table.made_by(_lookup(name)) if column is None else column


def _spelled_twice(table: DeviceTable, name: str, domain: str, identifier: str) -> bool:
    return any(
        shape.driver == domain and name in shape.names and identifier in shape.names
        for shape in table.shapes("attributes")
    )


@functools.lru_cache(maxsize=256)
def _lookup(name: str) -> Callable[[Listing], Column]:
    def make(listing: Listing) -> Column:
        found = [
            find_attribute(device, driver, name)
            for device, driver in zip(listing.devices, listing.drivers, strict=True)
        ]
        dictionary = Dictionary(lambda raw: raw)
        codes = np.zeros(len(found), np.int32)
        rows = [row for row, attribute in enumerate(found) if attribute is not None]
        codes[rows] = dictionary.encode([found[row] for row in rows])
        return Column(Read("attributes", name), codes, dictionary)

    return make


def _attributes(plan: Plan) -> list[str]:
    names = {
        constraint.match_attribute or constraint.distinct_attribute or ""
        for claim in plan.claims
        for constraint in claim.constraints
    }
    return sorted(names)


# --- outcomes of earlier questions ---


_questions: OrderedDict[Hashable, Known] = OrderedDict()


def forget_answers() -> None:
    """Drop what this process remembers of earlier questions."""
    _questions.clear()


def _known_answers(key: Hashable, anchors: Sequence[object]) -> Known:
    """What is known of a question, whichever claim asks it."""
    known = _questions.pop(key, None)
    if known is None or not known.is_anchored(anchors):
        known = Known(anchors)
    _questions[key] = known
    while len(_questions) > MAX_QUESTIONS:
        _questions.popitem(last=False)
    return known


def _shape(plan: Plan) -> bytes:
    """The plan without names that the search does not look at."""
    shape: list[Any] = []
    for claim in plan.claims:
        requests = [
            [
                request.optional,
                [
                    (ask.parent, ask.result_name, ask.terms)
                    for ask in request.alternatives
                ],
            ]
            for request in claim.requests
        ]
        shape.append((requests, claim.constraints))
    return msgspec.msgpack.encode(shape)
