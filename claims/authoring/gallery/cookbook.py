"""All recipes in the order in which their examples are shown, and cooking from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from claims.authoring.checking import NAMESPACE
from claims.authoring.gallery import simple, special, together, workloads
from claims.authoring.gallery.examples import Draft
from claims.authoring.gallery.likely import likely_nodes
from claims.authoring.gallery.proving import emptied, placed
from claims.authoring.gallery.recipe import TRIES, Recipe
from claims.authoring.gallery.scene import Scene
from dra.allocation import Fits
from dra.snapshot import Snapshot
from dra.validation import Request, validate
from dra.validation.kinds import RULES

MOST: Final = 32
"""Examples of one cluster."""

RECIPES: Final = (
    Recipe(simple.one_device, 8),
    Recipe(simple.several_near, 2),
    Recipe(together.pair, 2),
    Recipe(simple.alternatives),
    Recipe(simple.all_of_a_node),
    Recipe(simple.by_product, 2),
    Recipe(simple.by_size),
    Recipe(together.apart),
    Recipe(together.partition, 2),
    Recipe(together.partitions),
    Recipe(special.share, 2),
    Recipe(special.config),
    Recipe(special.toleration),
    Recipe(special.admin_access),
    Recipe(together.with_lists),
    Recipe(workloads.pod_with_claim),
    Recipe(workloads.two_pods),
    Recipe(workloads.deployment),
    Recipe(workloads.extended_resource),
)


def cooked(scene: Scene) -> list[tuple[Draft, Fits]]:
    """Examples that the API server accepts and that fit with nothing in use."""
    empty = emptied(scene.snapshot, scene.features)
    found: list[tuple[Draft, Fits]] = []
    for recipe in RECIPES:
        found += islice(_fitting(recipe, scene, empty), recipe.most)
    return found[:MOST]


def _fitting(
    recipe: Recipe, scene: Scene, empty: Snapshot
) -> Iterator[tuple[Draft, Fits]]:
    for draft in islice(recipe.make(scene), TRIES):
        if not _is_accepted(draft, scene):
            continue
        likely = likely_nodes(scene.snapshot, draft, scene.features, free=False)
        fits = placed(empty, draft, scene.features, likely)
        if isinstance(fits, Fits):
            yield draft, fits


def _is_accepted(draft: Draft, scene: Scene) -> bool:
    """Whether the API server would take every document of a kind that is checked here."""
    labels: dict[str, Mapping[str, str]] = {NAMESPACE: {}}
    for name, namespace in scene.snapshot.namespaces.items():
        labels[name] = namespace.metadata.labels or {}
    return all(
        validate(
            Request(
                document["kind"],
                document,
                namespace=document["metadata"].get("namespace", NAMESPACE),
                features=scene.gates,
                namespaces=labels,
            )
        ).accepted
        for document in draft.documents
        if document["kind"] in RULES
    )
