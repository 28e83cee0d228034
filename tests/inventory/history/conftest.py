"""A cluster and a clock for its samples."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import pytest
from django.utils import timezone

from inventory.choices import Source, UsageKind
from inventory.history import storing
from inventory.history.numbers import WHOLE, Key, Numbers
from inventory.models import Cluster

NODE: Final = Key(UsageKind.NODE, "n1")
TEAM: Final = Key(UsageKind.NAMESPACE, "team")


@pytest.fixture
def cluster(db: None) -> Cluster:
    return Cluster.objects.create(name="lab", source=Source.KUBECONFIG)


@pytest.fixture
def midnight() -> datetime:
    """The one with which the day before yesterday began."""
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=2)


@pytest.fixture
def look(cluster: Cluster) -> Callable[..., int | None]:
    """``look(at, in_use)``: a sample of ten devices of one node and one namespace."""

    def keep(at: datetime, in_use: int) -> int | None:
        numbers = Numbers(free=10 - in_use, in_use=in_use)
        counts = {WHOLE: numbers, NODE: numbers}
        if in_use:
            counts[TEAM] = Numbers(in_use=in_use)
        return storing.keep(cluster, counts, at)

    return keep
