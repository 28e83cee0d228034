"""Advice on small clusters."""

from __future__ import annotations

from dra.snapshot import Snapshot
from dra.validation.advice import Advice, advise
from tests.dra.validation.objects import Json


def advice(sent: Json, *objects: Json) -> tuple[Advice, ...]:
    return advise(sent, Snapshot.build(objects))


def codes(sent: Json, *objects: Json) -> list[tuple[str, str]]:
    return [(found.code, found.field) for found in advice(sent, *objects)]


def only(sent: Json, *objects: Json) -> Advice:
    """The one piece of advice there is."""
    (found,) = advice(sent, *objects)
    return found
