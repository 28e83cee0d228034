"""Admin access where the namespace does not allow it: what the editor offers."""

from __future__ import annotations

import html
from collections.abc import Callable

import pytest
from django.test import Client

from tests.claims.views.editor.test_page import Editor, words
from tests.mirrored import mirror_demo

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: watch
  namespace: team-a
spec:
  devices:
    requests:
    - name: all  # for the exporter
      exactly:
        deviceClassName: gpu.nvidia.com
        allocationMode: All
        adminAccess: true
"""
TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: watch, namespace: team-a}
spec:
  spec:
    devices:
      requests:
      - name: all
        exactly: {deviceClassName: gpu.nvidia.com, allocationMode: All, adminAccess: true}
"""


@pytest.fixture
def viewer(db: None, client_of: Callable[..., Client]) -> Client:
    mirror_demo()
    return client_of("viewer")


@pytest.mark.parametrize("text", [CLAIM, TEMPLATE])
def test_what_helps_is_offered_at_the_field(viewer: Client, text: str) -> None:
    page = html.unescape(Editor(viewer, text).post())
    assert "Take admin access out" in page
    assert 'value="set metadata.namespace "monitoring""' in page
    line = "kubectl label namespace team-a resource.kubernetes.io/admin-access=true"
    assert f'data-copy="{line}"' in page
    assert page.count("requires the `resource.kubernetes.io/admin-access") == 3
    field = "f-spec-devices-requests-0-exactly-adminAccess-said"
    if text == TEMPLATE:
        field = field.replace("f-spec", "f-spec-spec")
    assert f'id="{field}"' in page


def test_taking_it_out_leaves_the_rest_as_it_was(viewer: Client) -> None:
    editor = Editor(viewer, CLAIM)
    page = editor.post(step="set spec.devices.requests[0].exactly.adminAccess null")
    assert editor.text == CLAIM.replace("        adminAccess: true\n", "")
    assert "The API server would accept it." in words(page)


def test_a_namespace_that_allows_it_is_one_press_away(viewer: Client) -> None:
    editor = Editor(viewer, CLAIM)
    page = editor.post(step='set metadata.namespace "monitoring"')
    assert editor.text == CLAIM.replace("team-a", "monitoring")
    assert "The API server would accept it." in words(page)
    assert "Take admin access out" not in page


def test_a_namespace_that_is_not_there_has_no_command(viewer: Client) -> None:
    page = Editor(viewer, CLAIM.replace("team-a", "nowhere")).post()
    assert "kubectl label namespace" not in page
