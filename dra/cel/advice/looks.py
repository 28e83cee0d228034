"""A comparison before the values that the asked devices publish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from dra.cel.advice import words
from dra.cel.advice.asked import Asked, Mask, Published
from dra.cel.advice.comparisons import (
    Comparison,
    Given,
    Subject,
    changed,
    comparisons,
    kind_of,
    sign,
)
from dra.cel.advice.warnings import Warning  # noqa: A004 - the word of the field
from dra.cel.ast import Literal, Node
from dra.cel.catalog import value_text
from dra.cel.columns import Column
from dra.cel.errors import EvaluationError
from dra.cel.functions.regex import matches
from dra.cel.reads import Read
from dra.quantity import Format, Quantity

MOST_COMPARISONS: Final = 60
MOST_VALUES: Final = 2_000
"""A column with more different values holds names of single devices."""


class Value(NamedTuple):
    """One published value: its code, what the comparison sees of it, the devices."""

    code: int
    plain: Any
    devices: int


class Look:
    """``values`` are what the asked devices publish of ``read``, most common first."""

    def __init__(
        self,
        asked: Asked,
        comparison: Comparison,
        column: Column,
        values: Sequence[Value],
    ) -> None:
        self.asked = asked
        self.comparison = comparison
        self.column = column
        self.values = values

    @property
    def read(self) -> Read:
        return self.comparison.subject.site.read

    @property
    def name(self) -> str:
        return self.read.identifier or self.read.kind

    def comparable(self, given: Given) -> list[Value]:
        kind = kind_of(given.value)
        return [value for value in self.values if kind_of(value.plain) == kind]

    def satisfied(self) -> list[Value]:
        return list(filter(self.satisfies, self.values))

    def satisfies(self, value: Value) -> bool:
        """Whether the comparison is true of ``value``; where it fails it is not."""
        found = self.comparison
        if found.operator == "in":
            return any(sign(value.plain, g.value) == 0 for g in found.given)
        (given,) = found.given
        if found.operator == "order":
            return sign(value.plain, given.value) in found.signs
        return searched(found.operator, value.plain, given.value)

    def raw(self, value: Value) -> object:
        return self.column.raws[value.code]

    @property
    def _in_binary(self) -> bool:
        """Whether the expression counts in Ki, Mi, Gi."""
        return any(
            isinstance(given.value, Quantity) and given.value.format is Format.BINARY
            for given in self.comparison.given
        )

    def text(self, value: Value) -> str:
        """A published value for a sentence."""
        text = value_text(self.raw(value))
        if isinstance(value.plain, str):
            return words.literal(text)
        if isinstance(value.plain, Quantity):
            return words.size(text, value.plain, binary=self._in_binary)
        return text

    def source(self, given: Given) -> str:
        """A value that was written, for a sentence: of ``quantity("1Gi")`` only 1Gi."""
        if given.text is not given.node and isinstance(given.text, Literal):
            return str(given.text.value)
        return self.asked.source(given.node)

    def mask(self, values: Sequence[Value]) -> Mask:
        return self.asked.of_codes(self.column, [value.code for value in values])

    def who(self, values: Sequence[Value]) -> str:
        """``40 devices publish 81559Mi (79.6Gi)``"""
        count = sum(value.devices for value in values)
        texts = list(dict.fromkeys(map(self.text, values)))
        verb = words.publish(count)
        if self.read.kind == "driver":
            verb = "is of" if count == 1 else "are of"
        return f"{words.devices(count)} {verb} {words.some(texts)}"

    def warning(
        self,
        code: str,
        message: str,
        concerned: Sequence[Value],
        *,
        at: Node | None = None,
        suggestion: str = "",
    ) -> Warning:
        """A warning that counts the devices with the values ``concerned``."""
        node = self.comparison.node if at is None else at
        return Warning(
            code,
            message,
            node.start,
            node.end,
            devices=sum(value.devices for value in concerned),
            total=self.asked.total,
            example=self.asked.example(self.mask(concerned)),
            suggestion=suggestion,
        )


def searched(function: str, text: Any, part: Any) -> bool:
    """``text.startsWith(part)`` and the like; False where that would fail."""
    if not isinstance(text, str) or not isinstance(part, str):
        return False
    match function:
        case "startsWith":
            return text.startswith(part)
        case "endsWith":
            return text.endswith(part)
        case "contains":
            return part in text
    try:
        return matches(text, part)
    except EvaluationError:
        return False


def looks(asked: Asked) -> Iterator[Look]:
    """Every comparison with something that asked devices publish.

    Left out are columns of over :data:`MOST_VALUES` different values, and
    comparisons after the first :data:`MOST_COMPARISONS`.
    """
    known: dict[tuple[Read, str], tuple[Column, Sequence[Value]] | None] = {}
    found = comparisons(asked.program.root, asked.site_at)
    for comparison in islice(found, MOST_COMPARISONS):
        subject = comparison.subject
        key = (subject.site.read, subject.change)
        if key not in known:
            known[key] = _published(asked, subject)
        pair = known[key]
        if pair is not None:
            yield Look(asked, comparison, *pair)


def _published(asked: Asked, subject: Subject) -> tuple[Column, Sequence[Value]] | None:
    published = asked.published(subject.site.read)
    if published is None or np.count_nonzero(published.counts) > MOST_VALUES:
        return None
    return published.column, values_of(published, subject)


def values_of(published: Published, subject: Subject) -> list[Value]:
    column = published.column
    return [
        Value(code, changed(subject, column.values[code]), int(published.counts[code]))
        for code in published.codes
    ]
