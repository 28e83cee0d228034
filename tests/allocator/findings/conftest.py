"""A cluster in which nothing is wrong, mirrored, to plant faults in."""

from __future__ import annotations

import copy
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from allocator.findings import passing
from claims.mirror import store_for
from cluster.resources import RESOURCES
from tests.dra.audits.world import clean
from tests.mirrored import mirror

Json = dict[str, Any]


class World:
    """A mirrored cluster whose whole content is given at once, as after a list."""

    def __init__(self, name: str = "lab") -> None:
        self.cluster = mirror(_versioned(clean()), name=name)
        self._lists = 1000

    def show(self, objects: list[Json]) -> None:
        by_kind: dict[str, list[Json]] = {r.kind: [] for r in RESOURCES}
        for obj in _versioned(objects):
            by_kind[obj["kind"]].append(obj)
        self._lists += 1
        for kind, of_kind in by_kind.items():
            store_for(kind, self.cluster.pk).replace(of_kind, str(self._lists))
        self.cluster.refresh_from_db()

    def look(self) -> int:
        """One look by the worker."""
        return passing.update_findings(self.cluster.pk)


def _versioned(objects: list[Json]) -> list[Json]:
    """Copies whose resourceVersion changes with what they say."""
    found = copy.deepcopy(objects)
    for obj in found:
        text = json.dumps(obj, sort_keys=True).encode()
        obj["metadata"]["resourceVersion"] = str(zlib.crc32(text))
    return found


@pytest.fixture(autouse=True)
def _fresh_auditors(settings: Any) -> Iterator[None]:
    """What has to settle is shown at once; a test that is about it says so."""
    settings.FINDINGS_SETTLE_SECONDS = 0
    passing.forget()
    yield
    passing.forget()


@pytest.fixture
def world(db: None) -> World:
    return World()


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


@pytest.fixture
def operator(client_of: Callable[..., Client]) -> Client:
    return client_of("operator")
