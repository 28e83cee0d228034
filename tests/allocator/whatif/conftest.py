"""The demo's cluster, small, and scenarios to ask on it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dra.whatif import Scenario, read_scenario
from inventory.models import Cluster, WatchLock
from inventory.queries import freshness
from tests.mirrored import mirror_demo

type Json = dict[str, Any]

ONE_GPU: Json = {
    "metadata": {"name": "one", "namespace": "team-a"},
    "spec": {
        "devices": {
            "requests": [
                {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
            ]
        }
    },
}


def drain(*nodes: str) -> Json:
    return {"edits": [{"edit": "drain", "nodes": list(nodes)}]}


def copies(number: int) -> Json:
    return {"workload": [{"place": "claim", "claim": ONE_GPU, "copies": number}]}


def scenario(raw: Json) -> Scenario:
    return read_scenario(raw)


@pytest.fixture(autouse=True)
def time_enough(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is; tests of long ones take the time away again."""
    monkeypatch.setattr(freshness, "HEARTBEAT_WITHIN", timedelta(minutes=10))
    settings.WHAT_IF_INLINE_SECONDS = 60
    settings.WHAT_IF_SECONDS = 600
    settings.HEADROOM_SECONDS = 60


@pytest.fixture
def demo(db: None) -> Cluster:
    """Mirrored by a watch that has just shown that it lives."""
    found = mirror_demo(nodes=6)
    WatchLock.objects.create(name="watch", owner="here:1", heartbeat=timezone.now())
    return found


@pytest.fixture
def viewer(person: Callable[..., User]) -> User:
    return person("viewer")


@pytest.fixture
def browser(viewer: User) -> Client:
    """The viewer's, signed in."""
    client = Client()
    client.force_login(viewer)
    return client
