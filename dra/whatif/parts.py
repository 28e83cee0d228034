"""What the parts of a scenario have in common: strict reading, names, bounds."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

type Json = dict[str, Any]

MOST_EDITS: Final = 500
MOST_ITEMS: Final = 500
"""Items of work in a scenario, and pods in a group."""
MOST_NAMES: Final = 10_000
MOST_COPIES: Final = 100_000
MOST_NEW_NODES: Final = 10_000
MOST_OBJECTS: Final = 10_000
LONGEST: Final = 20_000
"""Characters of a text: more than an expression may have."""

Text = Annotated[str, Meta(max_length=LONGEST)]
Name = Annotated[str, Meta(min_length=1, max_length=253)]
Names = Annotated[list[Name], Meta(max_length=MOST_NAMES)]
Reference = Annotated[str, Meta(pattern=r"^[^/\s]+/[^/\s]+$", max_length=510)]
"""``namespace/name``."""
References = Annotated[list[Reference], Meta(max_length=MOST_NAMES)]
Copies = Annotated[int, Meta(ge=1, le=MOST_COPIES)]


class Part(
    msgspec.Struct,
    frozen=True,
    rename="camel",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """Immutable, compared by value, camelCase on the outside, unknown fields refused."""


class TaintSpec(Part, frozen=True):
    """A device taint; the scenario has no clock, so it has no time."""

    key: Name
    effect: Name = "NoSchedule"
    value: Text = ""


class DeviceChoice(Part, frozen=True):
    """Devices for which everything that is set holds; something has to be.

    ``node`` means devices of slices of that node, ``cel`` an expression as in a
    selector; a device on which it fails is not chosen.
    """

    node: Text = ""
    driver: Text = ""
    pool: Text = ""
    device: Text = ""
    cel: Text = ""
