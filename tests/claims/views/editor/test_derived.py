"""Attributes that a request makes itself, in a cluster where the gate is on."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from django.test import Client

from inventory.models import Cluster
from tests.claims.views.editor.test_page import Editor, words
from tests.mirrored import mirror_demo

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: near, namespace: team-a}
spec:
  devices:
    requests:
    - name: gpus
      exactly:
        deviceClassName: gpu.nvidia.com
        count: 2
        derivedAttributes:
        - name: example.com/model  # what is sold
          expression: device.attributes["gpu.nvidia.com"].productName
"""
NAME = "f-spec-devices-requests-0-exactly-derivedAttributes-0-name"


@pytest.fixture
def cluster(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def editor(cluster: Cluster, client_of: Callable[..., Client]) -> Editor:
    cluster.feature_gates = {"DRADerivedAttributes": True}
    cluster.save()
    return Editor(client_of("viewer"), CLAIM)


def test_the_constraint_that_is_missing_is_one_press_away(editor: Editor) -> None:
    page = editor.post()
    assert "must be referenced by at least one matchAttribute" in words(page)
    said = re.search(rf'id="{NAME}-said".*?value="(sets spec [^"]*)"', page, re.DOTALL)
    assert said
    page = editor.post(step=html.unescape(said[1]))
    assert editor.value["spec"]["devices"]["constraints"] == [
        {"requests": ["gpus"], "matchAttribute": "example.com/model"}
    ]
    assert "# what is sold" in editor.text
    assert "Fits now on" in words(page)
    assert "The API server would accept it." in words(page)
    assert "can never be met" not in words(page)
    assert "It is made by the request gpus." in words(page)


def test_an_expression_that_is_none_is_told_at_its_field(editor: Editor) -> None:
    at = "spec.devices.requests[0].exactly.derivedAttributes[0].expression"
    page = editor.post(fields={at: "device."})
    field = NAME.replace("name", "expression")
    said = re.search(rf'id="{field}-said"[^>]*>(.*?)</div>', page, re.DOTALL)
    assert said
    assert "Invalid value" in said[1]


def test_the_names_are_proposed_for_constraints(editor: Editor) -> None:
    page = editor.post(step="add spec.devices.constraints")
    assert '<option value="example.com/model">made by the request gpus</option>' in page


def test_without_the_gate_the_field_is_said_to_be_left_out(
    cluster: Cluster, client_of: Callable[..., Client]
) -> None:
    page = words(Editor(client_of("viewer"), CLAIM).post())
    assert "would leave this out: the feature is off" in page
