"""One expression and the devices it is asked about: what every check starts from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dra.cel.advice import words
from dra.cel.advice.origins import Failure, failures
from dra.cel.advice.sites import Site, descendants, sites
from dra.cel.advice.terms import Terms
from dra.cel.ast import Node, children
from dra.cel.catalog import Catalog, catalog
from dra.cel.columns import Column
from dra.cel.devices import clean
from dra.cel.program import Program
from dra.cel.reads import Read
from dra.cel.selection import ERROR, TRUE, Selection, Stop
from dra.cel.table import DeviceTable
from dra.names import DeviceID

MOST_TRIES: Final = 8
_LONG: Final = 2_000

type Mask = NDArray[np.bool_]
"""True for some of the devices of a table."""


class Published(NamedTuple):
    """What some devices publish of one thing: codes of its column, devices of each."""

    column: Column
    counts: NDArray[np.intp]

    @property
    def codes(self) -> list[int]:
        """The codes in use, most common first."""
        used = np.flatnonzero(self.counts).tolist()
        return sorted(used, key=lambda code: -self.counts[code])

    @property
    def devices(self) -> int:
        return int(self.counts.sum())


class Asked:
    """``program`` on the devices of ``table`` that are in ``within``, all if None.

    ``asked`` marks them and ``total`` counts them; ``rows`` marks those of them for
    which any expression can have an answer.
    """

    def __init__(
        self,
        program: Program,
        table: DeviceTable,
        within: Mask | None,
        stop: Stop | None,
    ) -> None:
        self.program = program
        self.table = table
        self.stop = stop
        self.text = clean(program.expression)
        self.tries = MOST_TRIES if len(self.text) < _LONG else 0
        """Suggestions that may still be compiled: a long one takes a while."""
        self.asked: Mask = (
            np.ones(len(table), np.bool_) if within is None else within.copy()
        )
        self.narrowed = within is not None
        self.rows = self.asked.copy()
        self.rows[list(table.problems)] = False
        self._everything = bool(self.rows.all())
        self.total = int(np.count_nonzero(self.asked))
        self.catalog: Catalog = catalog(table)
        self.selection: Selection = table.select(program, stop=stop)
        self.outcomes = self.selection.outcomes
        self._domains: dict[tuple[str, str], Mask] = {}
        self.sites: tuple[Site, ...] = sites(program.checked)

    @cached_property
    def site_at(self) -> Mapping[int, Site]:
        """The sites by the id of their node."""
        return {site.node.id: site for site in self.sites}

    @cached_property
    def parents(self) -> Mapping[int, Node]:
        """By node id, the node around."""
        return {
            child.id: node
            for node in descendants(self.program.root)
            for child in children(node)
        }

    @cached_property
    def matched(self) -> int:
        return self.count(self.outcomes == TRUE)

    @cached_property
    def failures(self) -> list[Failure]:
        failed = np.flatnonzero(self.rows & (self.outcomes == ERROR))
        return failures(self.program, self.table, self.selection, failed)

    @cached_property
    def terms(self) -> Terms:
        """The expression taken apart at ``&&``, ``||``, ``!`` and ``? :``."""
        return Terms(self.program, self.table, self.rows, stop=self.stop)

    @property
    def no_device(self) -> str:
        return (
            f"No device of the {self.total:,} asked" if self.narrowed else "No device"
        )

    def count(self, mask: Mask) -> int:
        """How many of the answerable devices are in ``mask``."""
        return int(np.count_nonzero(mask & self.rows))

    def example(self, mask: Mask) -> DeviceID | None:
        """The first of the answerable devices in ``mask``."""
        found = mask & self.rows
        first = int(found.argmax()) if len(found) else 0
        return self.table.ids[first] if len(found) and found[first] else None

    def has(self, read: Read) -> Mask:
        """Which devices publish it, asked or not."""
        column = self.table.columns.get(read)
        if column is None:
            return np.zeros(len(self.table), np.bool_)
        return np.not_equal(column.codes, 0)

    def has_domain(self, kind: str, domain: str) -> Mask:
        """Which devices publish anything of a domain, asked or not."""
        found = self._domains.get((kind, domain))
        if found is None:
            found = np.zeros(len(self.table), np.bool_)
            for read, column in self.table.columns.items():
                if read.kind == kind and read.domain == domain:
                    found |= column.codes != 0
            self._domains[kind, domain] = found
        return found

    def of_codes(self, column: Column, codes: list[int]) -> Mask:
        """Which devices publish one of the values with these codes, asked or not."""
        picked = np.zeros(column.size, np.bool_)
        picked[codes] = True
        found: Mask = picked[column.codes]
        return found

    def published(self, read: Read, mask: Mask | None = None) -> Published | None:
        """What the answerable devices (in ``mask``) publish; None if nothing."""
        column = self.table.columns.get(read)
        if column is None:
            return None
        rows = self.rows if mask is None else self.rows & mask
        codes = (
            column.codes if self._everything and mask is None else column.codes[rows]
        )
        counts = np.bincount(codes, minlength=column.size)
        counts[0] = 0
        return Published(column, counts) if counts.any() else None

    def drivers(self, mask: Mask) -> str:
        """Whose devices these are: ``dra.net``, or ``32 of dra.net and 8 of dra.cpu``."""
        found = self.published(Read("driver"), mask)
        if found is None:
            return "none"
        if len(found.codes) == 1:
            return str(found.column.raws[found.codes[0]])
        return words.some(
            [
                f"{found.counts[code]:,} of {found.column.raws[code]}"
                for code in found.codes
            ]
        )

    def driver_names(self, mask: Mask) -> list[str]:
        found = self.published(Read("driver"), mask)
        if found is None:
            return []
        return [str(found.column.raws[code]) for code in found.codes]

    def source(self, node: Node) -> str:
        """The text of ``node``."""
        return self.text[node.start : node.end]
