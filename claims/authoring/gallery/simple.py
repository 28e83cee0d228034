"""Recipes with one request: one device, several, all of a node, chosen ones, alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from claims.authoring.choices.published import Published, Test
from claims.authoring.choices.words import counted
from claims.authoring.gallery import documents
from claims.authoring.gallery.documents import devices, request, selectors, slug
from claims.authoring.gallery.examples import Draft, Json
from claims.authoring.gallery.scene import Scene, Seen
from dra import quantity
from dra.familiar_names import meaning

COUNTS = (8, 4, 2)
"""Numbers of devices that people ask for together, the largest first."""
MOST_RESULTS = 32
"""Devices that one claim can hold."""
_ROLES = frozenset({"type", "profile"})
"""Attributes that tell sorts of a device apart, not products."""


def claim_draft(
    code: str,
    title: str,
    sentence: str,
    name: str,
    wanted: Json,
    seen: Seen,
    *tags: str,
) -> Draft:
    """An example that is one claim for devices of one class."""
    return Draft(
        code=code,
        title=title,
        sentence=sentence,
        documents=(documents.claim(slug(name), wanted),),
        needs=(wanted,),
        tags=tags,
        drivers=seen.drivers,
    )


def label_of(seen: Seen) -> str:
    return documents.labels([seen.name])[0]


def one_device(scene: Scene) -> Iterator[Draft]:
    for seen in scene.classes:
        wanted = devices(request(label_of(seen), seen.name))
        sentence = (
            f"Any one of the {counted(seen.number)} of the class {seen.name}."
            if seen.number > 1
            else f"The only device of the class {seen.name}."
        )
        if seen.configured:
            sentence += " It is set up with the configuration of the class."
        yield claim_draft(
            f"one:{seen.name}",
            f"One device of {seen.name}",
            sentence,
            f"one-{seen.name}",
            wanted,
            seen,
            "simple",
        )


def several_near(scene: Scene) -> Iterator[Draft]:
    """As many as share a standard attribute on one node, or else one of the driver's."""
    for seen in scene.classes:
        if scene.are_parts(seen):
            continue
        for attribute, column in chain(scene.standard, scene.grouping(seen)):
            alike = scene.most_alike(seen, column)
            count = next((number for number in COUNTS if number <= alike), 0)
            if not count or not scene.places(column, [seen.ask(count)]).varied:
                continue
            short = attribute.rpartition("/")[2]
            wanted = devices(
                request(label_of(seen), seen.name, count=count),
                constraints=[{"matchAttribute": attribute}],
            )
            yield claim_draft(
                f"near:{seen.name}",
                f"{count} devices of {seen.name} on one {short}",
                f"{count} devices of one node with the same {short}. "
                f"{meaning(attribute)}".strip(),
                f"{count}-{label_of(seen)}-near",
                wanted,
                seen,
                "several devices",
                "constraint",
            )
            break


def all_of_a_node(scene: Scene) -> Iterator[Draft]:
    for seen in scene.classes:
        if not 1 < seen.most <= MOST_RESULTS:
            continue
        wanted = devices(request(label_of(seen), seen.name, allocationMode="All"))
        yield claim_draft(
            f"all:{seen.name}",
            f"All devices of {seen.name} of a node",
            f"A whole node: every device of the class {seen.name} that it has, up to "
            f"{seen.most:,} here. All of them must be free.",
            f"all-{seen.name}",
            wanted,
            seen,
            "several devices",
            "all devices",
        )


# --- chosen by what they are ---------------------------------------------------


def by_product(scene: Scene) -> Iterator[Draft]:
    """The most common product of each driver."""
    done: set[tuple[str, ...]] = set()
    for seen in scene.classes:
        published = product_of(scene, seen)
        if published is None or seen.drivers in done:
            continue
        done.add(seen.drivers)
        for text, number in published.common(1):
            test = published.test(text, number)
            if test is not None:
                yield _chosen(
                    seen, f"product:{seen.name}", "of one product", test, text
                )


def by_size(scene: Scene) -> Iterator[Draft]:
    """Devices of the largest size, of classes whose devices differ in size first."""
    found: list[tuple[bool, Draft]] = []
    done: set[tuple[str, ...]] = set()
    for seen in scene.classes:
        for published in scene.familiar(seen, "quantity")[:1]:
            sizes = published.sizes
            if not sizes or seen.drivers in done:
                continue
            done.add(seen.drivers)
            text, _, number = sizes[0]
            test = published.test(text, number)
            if test is not None:
                draft = _chosen(
                    seen, f"size:{seen.name}", "that are large enough", test, text
                )
                found.append((len(sizes) < 2, draft))
    yield from (draft for _, draft in sorted(found, key=lambda pair: pair[0]))


def _chosen(seen: Seen, code: str, words: str, test: Test, value: str) -> Draft:
    wanted = devices(
        request(label_of(seen), seen.name, selectors=selectors(test.expression))
    )
    return claim_draft(
        code,
        f"One device of {seen.name}: {test.label}",
        f"A selector in CEL takes only devices {words}: {test.devices:,} of "
        f"{counted(seen.number)} of the class.",
        f"{label_of(seen)}-{value}",
        wanted,
        seen,
        "selector",
    )


def product_of(scene: Scene, seen: Seen) -> Published | None:
    """What tells products of a class apart; None where nobody says."""
    for published in scene.familiar(seen, "string"):
        if published.read.identifier not in _ROLES:
            return published
    return None


# --- alternatives ----------------------------------------------------------------


def alternatives(scene: Scene) -> Iterator[Draft]:
    """The better product, else the other; two devices, else one; one class, else another."""
    if not scene.features.prioritized_list:
        return
    yield from _products(scene)
    yield from _classes(scene)
    yield from _numbers(scene)


def _products(scene: Scene) -> Iterator[Draft]:
    for seen in scene.classes:
        published = product_of(scene, seen)
        if published is None or published.distinct < 2:
            continue
        ranked = sorted(
            published.common(8),
            key=lambda pair: (
                -_size_of(scene, seen, published, pair[0]),
                pair[1],
                pair[0],
            ),
        )
        best, other = ranked[:2]
        tests = [published.test(text, number) for text, number in (best, other)]
        if not all(tests):
            continue
        subrequests = [
            _sub(name, seen.name, selectors=selectors(test.expression))
            for name, test in zip(("best", "otherwise"), tests, strict=True)
            if test is not None
        ]
        yield _prioritized(
            seen,
            subrequests,
            f"{best[0]}, else {other[0]}",
            f"The scheduler tries {best[0]} first and takes {other[0]} on a node that "
            "has none free.",
        )


def _size_of(scene: Scene, seen: Seen, published: Published, text: str) -> int:
    """The size of the devices with a product, in nano units; 0 where they say none."""
    rows = seen.devices.rows
    mine = rows[scene.having(published.read, text, rows)]
    for size in scene.familiar(seen, "quantity")[:1]:
        column = scene.table.columns[size.read]
        for found, _, _ in Published(scene.table, column, mine).sizes[:1]:
            return quantity.nanos(found)
    return 0


def _classes(scene: Scene) -> Iterator[Draft]:
    for place, seen in enumerate(scene.classes):
        for other in scene.classes[place + 1 :]:
            if other.drivers == seen.drivers and _differ(seen, other):
                yield _prioritized(
                    seen,
                    [_sub("best", seen.name), _sub("otherwise", other.name)],
                    f"A device of {seen.name}, else of {other.name}",
                    f"The scheduler tries the class {seen.name} first and {other.name} "
                    "on a node that has none of it free.",
                )
                break


def _differ(one: Seen, other: Seen) -> bool:
    a, b = one.devices.rows, other.devices.rows
    return len(a) != len(b) or bool((a != b).any())


def _numbers(scene: Scene) -> Iterator[Draft]:
    for seen in scene.classes:
        if seen.most < 2:
            continue
        yield _prioritized(
            seen,
            [_sub("best", seen.name, count=2), _sub("otherwise", seen.name)],
            f"2 devices of {seen.name}, else 1",
            "The scheduler tries to find two devices first and is content with one on a "
            "node that has no more free.",
        )


def _sub(name: str, class_name: str, **fields: object) -> Json:
    return {"name": name, "deviceClassName": class_name, **fields}


def _prioritized(
    seen: Seen, subrequests: list[Json], title: str, sentence: str
) -> Draft:
    wanted = devices({"name": label_of(seen), "firstAvailable": subrequests})
    return claim_draft(
        f"alternatives:{seen.name}",
        title,
        sentence,
        f"{label_of(seen)}-alternatives",
        wanted,
        seen,
        "alternatives",
    )
