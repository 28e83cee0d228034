"""An example of the gallery, before and after the engine has said that it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dra.names import DeviceID

type Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Draft:
    """An example that nobody has tried yet.

    ``code`` names it for ever: a recipe and what it was made of. ``needs`` are the
    ``spec.devices`` of the claims that one node must satisfy at the same time.
    ``node_names`` are the nodes that count, None: all that take pods.
    """

    code: str
    title: str
    sentence: str
    documents: tuple[Json, ...]
    needs: tuple[Json, ...]
    tags: tuple[str, ...]
    drivers: tuple[str, ...] = ()
    node_names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """That it fits: were nothing in use, on ``node`` (among others) with ``devices``.

    ``fits_now``: on ``now_node``, with what is in use; None where the engine gave up. ``sentence`` says both.
    """

    node: str
    devices: tuple[DeviceID, ...]
    fits_now: bool | None
    now_node: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Example:
    """One example for this cluster.

    ``documents`` are objects as JSON, to be written as YAML in this order; ``kinds``
    are theirs, each once. Those without a namespace go wherever the user likes.
    """

    code: str
    title: str
    sentence: str
    kinds: tuple[str, ...]
    documents: tuple[Json, ...]
    tags: tuple[str, ...]
    drivers: tuple[str, ...]
    proof: Proof


def kinds_of(documents: tuple[Mapping[str, Any], ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(document["kind"]) for document in documents))
