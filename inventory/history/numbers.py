"""What one sample says about one class, driver, node or namespace."""

from __future__ import annotations

from typing import Any, NamedTuple

from inventory.choices import UsageKind


class Numbers(NamedTuple):
    """Devices by state; see :class:`inventory.models_history.UsageNumbers`."""

    free: int = 0
    in_use: int = 0
    shared: int = 0
    blocked: int = 0
    tainted: int = 0
    incomplete: int = 0
    invalid: int = 0
    pending: int = 0

    def times(self, seconds: int) -> Numbers:
        return Numbers(*(value * seconds for value in self))

    def plus(self, other: Numbers) -> Numbers:
        return Numbers(*map(int.__add__, self, other))

    @classmethod
    def of(cls, row: Any) -> Numbers:
        """Of a row that has the columns."""
        return cls(*(getattr(row, name) for name in cls._fields))


NOTHING = Numbers()
FIELDS = Numbers._fields


class Key(NamedTuple):
    """Whose numbers they are: a :class:`UsageKind`, and a name; the cluster has none."""

    kind: str
    name: str = ""


WHOLE = Key(UsageKind.CLUSTER)
