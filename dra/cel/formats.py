"""Named formats: ``format.dns1123Label()`` and its relatives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format by its name."""

    name: str
