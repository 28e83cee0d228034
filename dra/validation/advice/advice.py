"""What advice is."""

from __future__ import annotations

from typing import Any, Final

import msgspec


class Advice(msgspec.Struct, frozen=True):
    """One thing that the API server lets pass and that somebody should know.

    ``code`` is one of :data:`CODES` and is for programs; ``field`` is a path as in
    causes; ``message`` is for people. ``start`` and ``end`` are the code points of
    the expression at ``field`` that it is about, both 0 where it is about all of it.
    Putting ``suggestion`` in the place of that part, or of the value of the field,
    is the likely repair; empty where none is known. ``replacement`` is the whole
    object put right, for what no single value repairs.
    """

    code: str
    field: str
    message: str
    suggestion: str = ""
    start: int = 0
    end: int = 0
    replacement: Any = None


CODES: Final = {
    "version-not-served": "the cluster does not serve the version of the object",
    "old-layout": "fields of v1beta1 under a v1 header: they would be dropped",
    "class-missing": "the class does not exist",
    "class-empty": "no device here is of the class",
    "class-everything": "the class has no selector: every device is of it",
    "resource-name-taken": "another class has the same extended resource name",
    "selector": "what dra.cel.advice says of an expression, its code after a colon",
    "selector-matches-none": "no device of the class matches the selectors",
    "selector-fails": "the selectors fail on devices of the class",
    "capacity-unknown": "no device that matches has the capacity",
    "capacity-too-big": "no device that matches has that much",
    "too-many-devices": "over what one claim can hold",
    "never-fits-node": "no node has that many devices that match, in use or not",
    "constraint-attribute-missing": "devices that match lack the attribute",
    "constraint-attribute-partly": "some of the devices that match lack the attribute",
    "constraint-types-differ": "drivers publish the attribute with different types",
    "constraint-never-met": "no devices of one node can meet the constraint",
    "constraint-unknown-value": "a value that usually means that nothing is known",
    "distinct-ignored": "matchAttribute is set too, so distinctAttribute has no effect",
    "admin-access": "the namespace lacks the label that admin access needs",
    "name-unchecked": "a name that is accepted by accident",
    "name-twice": "one attribute or capacity under two spellings",
}
"""Every code and what it tells."""


def counted(devices: int) -> str:
    """So many devices, in words."""
    return "1 device" if devices == 1 else f"{devices:,} devices"
