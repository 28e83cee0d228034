"""What a recipe is: a way to make examples out of whatever a cluster has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from claims.authoring.gallery.examples import Draft
from claims.authoring.gallery.scene import Scene

TRIES: Final = 8
"""Drafts of one recipe that the engine is asked about at most."""


class Recipe(NamedTuple):
    """``make`` gives drafts, the best ones first; ``most`` of those that fit are shown."""

    make: Callable[[Scene], Iterator[Draft]]
    most: int = 1
