"""The cluster and the reader of the CEL pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from inventory.models import Cluster
from tests.claims.cel_lab import BIG, device
from tests.inventory.views.conftest import named, slice_
from tests.mirrored import mirror


@pytest.fixture
def lab(db: None) -> Cluster:
    """Five devices: two of model B with 80Gi, one B and one A with 16Gi, one without a model."""
    devices = [
        device("b80-0", "80Gi", model="B"),
        device("b80-1", "80Gi", model="B"),
        device("b16", "16Gi", model="B"),
        device("a16", "16Gi", model="A"),
        device("bare"),
    ]
    bare = {"selectors": [{"cel": {"expression": "device.driver == 'd.example'"}}]}
    big = {
        "selectors": [
            {"cel": {"expression": f"has({BIG.split('.compareTo')[0]}) && {BIG}"}}
        ]
    }
    return mirror(
        [
            named("Node", "n1", {}),
            slice_("s1", devices),
            named("DeviceClass", "any.example", bare),
            named("DeviceClass", "big.example", big),
        ],
        name="lab",
    )


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")
