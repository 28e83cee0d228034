"""Changes after which a text would fit, for a claim and for the pods of a manifest."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from django.test import Client

from tests.claims.views.editor.test_page import DEPLOYMENT, HTMX, Editor, words
from tests.mirrored import mirror_demo

TEMPLATES = """\
---
# the cards, for the big job
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu, namespace: team-a}
spec:
  spec:
    devices:
      requests:
      - name: gpu  # all of a node
        exactly:
          deviceClassName: gpu.nvidia.com
          count: 31  # too many
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-nic, namespace: team-a}
spec:
  spec:
    devices:
      requests:
      - name: nic
        exactly: {deviceClassName: rdma.dra.net}
"""


@pytest.fixture
def viewer(db: None, client_of: Callable[..., Client]) -> Client:
    mirror_demo()
    return client_of("viewer")


def changes(editor: Editor, pod: str = "") -> str:
    answer = editor.client.post(
        f"{editor.address}changes/{pod}",
        {"text": editor.text, "doc": editor.index, "revision": editor.revision},
        headers=HTMX,
    )
    assert answer.status_code == 200
    return str(answer.content.decode())


def steps(page: str) -> list[str]:
    return [html.unescape(step) for step in re.findall(r'value="([^"]*)">Apply', page)]


def test_the_pods_of_a_text_offer_changes_of_the_document_that_says_it(
    viewer: Client,
) -> None:
    editor = Editor(viewer, DEPLOYMENT + TEMPLATES)
    page = editor.post(step="select 0")
    assert 'id="pod-changes0"' in page
    assert 'id="draft-changes"' not in page
    found = changes(editor, "?pod=0")
    assert "in template one-gpu" in words(found)
    step = next(s for s in steps(found) if s.startswith("in 1 sets spec"))
    page = editor.post(step=step)
    assert editor.index == 0, "what is shown stays shown"
    assert "Fits now on" in words(page)
    before, after = (DEPLOYMENT + TEMPLATES).splitlines(), editor.text.splitlines()
    differing = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    ((old, new),) = differing
    assert old == "          count: 31  # too many"
    assert re.fullmatch(r"          count: \d+  # too many", new)


def test_the_document_that_is_shown_changes_without_its_number(viewer: Client) -> None:
    editor = Editor(viewer, DEPLOYMENT + TEMPLATES)
    assert editor.index == 1
    found = changes(editor, "?pod=0")
    assert any(step.startswith("sets spec") for step in steps(found))
    assert "in template one-gpu" not in words(found)


def test_what_was_typed_in_another_document_is_kept(viewer: Client) -> None:
    editor = Editor(viewer, DEPLOYMENT + TEMPLATES)
    editor.post(step="select 2")
    editor.post(
        step="in 1 set spec.spec.devices.requests[0].exactly.count 2",
        fields={"metadata.name": "one-port"},
    )
    assert "count: 2  # too many" in editor.text
    assert "one-port" in editor.text
    assert editor.index == 2


def test_a_step_elsewhere_is_only_one_of_the_form(viewer: Client) -> None:
    editor = Editor(viewer, DEPLOYMENT + TEMPLATES)
    for step in ("in 1", "in 1 discard", "in 7 in 1 x", "in x set a 1", "in 1 set a.b"):
        editor.post(step=step)
    page = editor.post(step="in 99 set metadata.name null")
    assert "The document that this was about is gone" in words(page)
    assert editor.text == DEPLOYMENT + TEMPLATES


def test_pods_that_are_not_in_the_text_have_no_changes(viewer: Client) -> None:
    editor = Editor(viewer, DEPLOYMENT + TEMPLATES)
    for pod in ("?pod=5", "?pod=x", "?pod=99999"):
        assert "Apply" not in changes(editor, pod)
