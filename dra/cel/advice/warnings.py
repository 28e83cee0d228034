"""What a warning is, and which ones matter most."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from dra.names import DeviceID

MOST: Final = 20
"""Warnings that are given at most."""


class Warning(msgspec.Struct, frozen=True):  # noqa: A001 - the word for it
    """One thing about an expression that somebody should know.

    ``code`` is one of :data:`CODES` and is for programs; ``message`` is for people
    and says what to do. ``start`` and ``end`` are the code points of the expression
    that it is about. ``devices`` of ``total`` asked devices are concerned, in the
    sense of the code; both are 0 for what is wrong on any device. ``example`` is one
    of them. Where ``suggestion`` is not empty, putting it in the place of ``start``
    to ``end`` is the likely repair.
    """

    code: str
    message: str
    start: int
    end: int
    devices: int = 0
    total: int = 0
    example: DeviceID | None = None
    suggestion: str = ""


CODES: Final = {
    "does-not-compile": "how to repair what the compiler refuses",
    "too-costly": "over the cost that the API server accepts",
    "refused-when-new": "accepted only because it is stored already",
    "missing": "devices that lack what is read, where the scheduler aborts",
    "fails": "devices on which the expression fails for another reason",
    "split-domain": "a domain written with dots, without quotes and brackets",
    "unknown-domain": "devices with the domain: none",
    "unknown-name": "devices with the attribute or capacity: none",
    "broken-device": "devices on which every expression fails",
    "near-miss": "devices that nearly have the value asked for; none has it",
    "version-as-text": "devices whose version is compared with a text",
    "type-mismatch": "devices whose value has another type than it is compared with",
    "unknown-value": "devices that have any value where none has the one asked for",
    "matches-nothing": "devices that match: none",
    "case-variants": "devices whose value differs from the one asked for only in case",
    "always-there": "a test for a domain that is true on any device",
    "rare-name": "the few devices that have the attribute or capacity",
    "mixed-types": "devices that publish a value of another type than most",
    "always-true": "devices on which a term is true: all",
    "always-false": "devices on which a term is true: none",
    "matches-everything": "devices that match: all",
    "costly": "near the cost that the API server accepts",
}
"""Every code and what its ``devices`` count or what it tells, most important first."""

_RANK: Final = {code: rank for rank, code in enumerate(CODES)}


def ranked(found: Iterable[Warning]) -> tuple[Warning, ...]:
    """The most important warnings, each said once, at the first place it is about."""
    ordered = sorted(found, key=lambda w: (_RANK[w.code], -w.devices, w.start, w.end))
    said: dict[tuple[str, str, int], Warning] = {}
    for warning in ordered:
        # Failures at two places are of different devices, even if as many.
        place = warning.start if warning.code in ("missing", "fails") else 0
        said.setdefault((warning.code, warning.message, place), warning)
    return tuple(said.values())[:MOST]
