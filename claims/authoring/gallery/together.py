"""Recipes about devices that go together: near each other, apart, parts of one device."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import numpy as np

from claims.authoring.choices.published import Published
from claims.authoring.choices.words import counted
from claims.authoring.gallery import documents
from claims.authoring.gallery.documents import devices, request, selectors, slug
from claims.authoring.gallery.examples import Draft
from claims.authoring.gallery.scene import MOST_PARTS, Scene, Seen
from claims.authoring.gallery.simple import claim_draft, label_of
from dra.cel.columns import Column
from dra.cel.writing import literal, path
from dra.familiar_names import meaning

MOST_PAIRS: Final = 12
"""Pairs of classes that are looked at."""
_PROFILES: Final = ("profile", "partitionProfile")
_FEW: Final = 32
"""Different values with which an attribute says what sort of a partition it is."""


def pair(scene: Scene) -> Iterator[Draft]:
    """One device of each of two drivers, near each other."""
    pairs = (
        (one, other)
        for one, other in combinations(scene.classes, 2)
        if not set(one.drivers) & set(other.drivers)
    )
    done: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for _, (one, other) in zip(range(MOST_PAIRS), pairs, strict=False):
        if (one.drivers, other.drivers) in done:
            continue
        draft = _near(scene, one, other)
        if draft is not None:
            done.add((one.drivers, other.drivers))
            yield draft


def _near(scene: Scene, one: Seen, other: Seen) -> Draft | None:
    for attribute, column in scene.standard:
        places = scene.places(column, [one.ask(), other.ask()])
        if not places.match or not places.varied:
            continue
        short = attribute.rpartition("/")[2]
        names = documents.labels([one.name, other.name])
        wanted = devices(
            request(names[0], one.name),
            request(names[1], other.name),
            constraints=[{"requests": names, "matchAttribute": attribute}],
        )
        return Draft(
            code=f"pair:{one.name}+{other.name}",
            title=f"{one.name} and {other.name} on one {short}",
            sentence=f"One device of each class with the same {short}, which "
            f"{counted(places.match, 'node')} can give. {meaning(attribute)}".strip(),
            documents=(documents.claim(slug("-with-".join(names)), wanted),),
            needs=(wanted,),
            tags=("several drivers", "constraint"),
            drivers=(*one.drivers, *other.drivers),
        )
    return None


def apart(scene: Scene) -> Iterator[Draft]:
    """Two devices that differ: on two NUMA nodes, or two different devices at all."""
    if not scene.features.consumable_capacity:
        return
    for seen in sorted(scene.classes, key=lambda c: -c.shareable):
        attribute = None if scene.are_parts(seen) else _apart_in(scene, seen)
        if attribute is None:
            continue
        short = attribute.rpartition("/")[2]
        wanted = devices(
            request(label_of(seen), seen.name, count=2),
            constraints=[{"distinctAttribute": attribute}],
        )
        yield claim_draft(
            f"apart:{seen.name}",
            f"2 devices of {seen.name} that differ in {short}",
            f"Two devices of one node, never with the same {short}.",
            f"2-{label_of(seen)}-apart",
            wanted,
            seen,
            "several devices",
            "constraint",
        )


def _apart_in(scene: Scene, seen: Seen) -> str | None:
    """A standard attribute in which two devices of a node can differ, but need not."""
    for attribute, column in reversed(scene.standard):
        if scene.most_alike(seen, column) < 2 and not seen.shareable:
            continue
        places = scene.places(column, [seen.ask(2)])
        if places.distinct and places.varied:
            return attribute
    return None


# --- partitions ----------------------------------------------------------------


def partition(scene: Scene) -> Iterator[Draft]:
    """One part of a device: of the most common sort, and of one in the middle."""
    for seen in scene.classes:
        profile = _profile(scene, seen)
        if profile is None:
            continue
        sorts = list(profile.common(_FEW))
        for text, number in dict.fromkeys((sorts[0], sorts[len(sorts) // 2])):
            expression = _is(profile, text)
            short = profile.read.identifier
            yield claim_draft(
                f"partition:{seen.name}:{text}",
                f"One partition: {short} {text}",
                f"A part of a device instead of all of it: {number:,} places for it are "
                "published. The rest of the device stays free for others.",
                f"{label_of(seen)}-{text}",
                devices(
                    request(label_of(seen), seen.name, selectors=selectors(expression))
                ),
                seen,
                "partition",
                "selector",
            )


def partitions(scene: Scene) -> Iterator[Draft]:
    """Two parts of one and the same device."""
    for seen in scene.classes:
        profile, parent = _profile(scene, seen), _parent(scene, seen)
        if profile is None or parent is None:
            continue
        for text, _ in profile.common(_FEW):
            short = parent.rpartition("/")[2]
            wanted = devices(
                request(
                    label_of(seen),
                    seen.name,
                    selectors=selectors(_is(profile, text)),
                    count=2,
                ),
                constraints=[{"matchAttribute": parent}],
            )
            yield claim_draft(
                f"partitions:{seen.name}",
                f"2 partitions of one device: {profile.read.identifier} {text}",
                f"Two parts with the same {short}: they are cut out of one device.",
                f"2-{label_of(seen)}-{text}",
                wanted,
                seen,
                "partition",
                "several devices",
                "constraint",
            )


def _is(published: Published, text: str) -> str:
    return f"{path(published.read)} == {literal(text)}"


def _profile(scene: Scene, seen: Seen) -> Published | None:
    """What says of which sort a partition is; None where devices are no partitions."""
    if not scene.are_parts(seen):
        return None
    for read, column in scene.table.columns.items():
        if read.kind != "attributes" or read.identifier not in _PROFILES:
            continue
        published = scene.published(seen, column)
        if (
            published.type == "string"
            and not published.missing
            and 0 < published.distinct <= _FEW
        ):
            return published
    return None


def _parent(scene: Scene, seen: Seen) -> str | None:
    """An attribute whose values each mean one device that is cut into parts."""
    candidates = []
    for read, column in scene.table.columns.items():
        if read.kind != "attributes" or not column.present:
            continue
        named = read.identifier.lower().startswith("parent")
        candidates.append((not named, f"{read.domain}/{read.identifier}", column))
    for _, name, column in sorted(candidates, key=lambda c: c[:2]):
        if scene.most_alike(seen, column) > 1 and _means_a_device(scene, seen, column):
            return name
    return None


def _means_a_device(scene: Scene, seen: Seen, column: Column) -> bool:
    """Whether parts with one value draw on one counter set, and others on another."""
    rows = seen.devices.rows[:MOST_PARTS]
    codes = column.codes[rows]
    if not codes.all():
        return False
    found: dict[tuple[str, int], str] = {}
    table = scene.table
    for row, code in zip(rows.tolist(), codes.tolist(), strict=True):
        sets = [
            c.counter_set for c in table.listing.devices[row].consumes_counters or ()
        ]
        key = (table.ids[row].pool, code)
        if len(sets) != 1 or found.setdefault(key, sets[0]) != sets[0]:
            return False
    pools = {pool for pool, _ in found}
    by_set = {(pool, name) for (pool, _), name in found.items()}
    return len(by_set) == len(found) > len(pools)


# --- lists -------------------------------------------------------------------------


def with_lists(scene: Scene) -> Iterator[Draft]:
    """Devices with several values of an attribute: one of them is asked for."""
    if not scene.features.list_type_attributes:
        return
    for seen in scene.classes:
        for read, column in sorted(scene.table.columns.items()):
            if read.kind != "attributes" or not column.present:
                continue
            published = scene.published(seen, column)
            if published.missing or published.type not in ("strings", "ints"):
                continue
            member = _member(column, seen)
            if member is None:
                continue
            said = literal(member) if isinstance(member, str) else str(member)
            expression = f"{said} in {path(read)}"
            yield claim_draft(
                f"lists:{seen.name}",
                f"One device of {seen.name} with {member} among its {read.identifier}",
                f"{read.identifier} is a list: the selector takes devices that have "
                f"{member} in it, whatever else is there.",
                f"{label_of(seen)}-{read.identifier}",
                devices(
                    request(label_of(seen), seen.name, selectors=selectors(expression))
                ),
                seen,
                "selector",
                "lists",
            )
            break


def _member(column: Column, seen: Seen) -> str | int | None:
    """The first value of the most common list."""
    counts = np.bincount(column.codes[seen.devices.rows], minlength=column.size)
    counts[0] = 0
    raw = column.raws[int(counts.argmax())]
    values = getattr(raw, "strings", None) or getattr(raw, "ints", None)
    return values[0] if values else None
