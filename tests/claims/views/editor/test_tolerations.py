"""Which taints the form offers to tolerate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster
from tests.claims.views.editor.test_page import ASK, Editor
from tests.inventory.views.conftest import named, slice_
from tests.mirrored import mirror

NEW = "/c/lab/claims/new/"
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: default}
spec:
  devices:
    requests:
    - name: r
      exactly:
        deviceClassName: any
"""


class LabEditor(Editor):
    new = NEW


@pytest.fixture
def lab(db: None) -> Cluster:
    def tainted(name: str, value: str) -> dict[str, Any]:
        taint = {"key": "x.example/use", "value": value, "effect": "NoSchedule"}
        return {"name": name, "taints": [taint]}

    return mirror(
        [
            named("Node", "n1", {}),
            slice_("s1", [tainted("d0", "a"), tainted("d1", "b")]),
            named("DeviceClass", "any", {}),
        ],
        name="lab",
    )


def test_another_value_of_a_tolerated_key_is_offered_still(
    lab: Cluster, client_of: Callable[..., Client]
) -> None:
    editor = LabEditor(client_of("viewer"), CLAIM)
    a, b = "x.example/use=a:NoSchedule", "x.example/use=b:NoSchedule"
    page = editor.post()
    assert (a in page, b in page) == (True, True)
    page = editor.post(
        step=f'add {ASK}.tolerations {{"key": "x.example/use", "operator": "Equal", '
        '"value": "a", "effect": "NoSchedule"}'
    )
    assert (a in page, b in page) == (False, True)
    page = editor.post(
        step=f'add {ASK}.tolerations {{"key": "x.example/use", "operator": "Exists"}}'
    )
    assert (a in page, b in page) == (False, False)
