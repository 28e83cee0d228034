"""Changes that would help what found no place, as a page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from allocator.whatif.trying import MOVED, changed
from claims.views.why.changes import Change, changes
from dra.allocation.explaining import Relaxation
from dra.extended_resources import CLAIM_ANNOTATION
from dra.objects import ResourceClaim, read
from inventory.models import Cluster

type Json = Mapping[str, Any]

KINDS: Final = 50
"""Of what found no place; the file has all that is stored."""


@dataclass(frozen=True, slots=True)
class Help:
    """``changes`` are those with which it would fit, each with what names it in an
    address, empty where the scenario cannot be changed so. ``searched``: they were
    looked for to the end.
    """

    changes: Sequence[tuple[Change, str]]
    searched: bool


@dataclass(frozen=True, slots=True)
class Stranded:
    """What had to move and found no place."""

    result: Json
    help: Help


def stranded(
    cluster: Cluster, result: Json, document: dict[str, Any]
) -> Iterator[Stranded]:
    """The first kinds; results of older releases have none."""
    for place, one in enumerate(result.get("stranded", ())[:KINDS]):
        yield Stranded(
            one, help_for(cluster, one, f"{MOVED}.{place}", result, document)
        )


def help_for(
    cluster: Cluster, entry: Json, name: str, result: Json, document: dict[str, Any]
) -> Help:
    """``name`` is that of ``entry`` in an address, as :func:`changed` reads it."""
    found = list(_changes(cluster, entry, name, result, document))
    explained = entry.get("explanation") or {}
    searched = entry["verdict"] == "does not fit" and bool(explained.get("complete"))
    return Help(found, searched and result["complete"])


def _changes(
    cluster: Cluster, entry: Json, name: str, result: Json, document: dict[str, Any]
) -> Iterator[tuple[Change, str]]:
    raw = (entry.get("explanation") or {}).get("relaxations") or ()
    asked = entry.get("asked") or ()
    if not raw or not asked:
        return
    relaxations = msgspec.convert(raw, tuple[Relaxation, ...])
    for place, change in enumerate(changes(cluster.name, relaxations, _claims(asked))):
        number = f"{name}.{place}"
        is_possible = changed(document, result, number) is not None
        named = replace(change, id=f"wi-change-{number.replace('.', '-')}")
        yield named, number if is_possible else ""


def _claims(asked: Iterable[Json]) -> list[ResourceClaim]:
    found = []
    for one in asked:
        meta: dict[str, Any] = {"namespace": one["namespace"], "name": one["name"]}
        if one.get("made"):
            meta["annotations"] = {CLAIM_ANNOTATION: "true"}
        found.append(read({"metadata": meta, "spec": one["spec"]}, ResourceClaim))
    return found
