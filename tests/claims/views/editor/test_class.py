"""A class in the editor: what it matches, selector by selector, and for whom it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster
from tests.claims.views.editor.test_page import Editor, words
from tests.mirrored import mirror_demo

CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata:
  name: gpu.nvidia.com
spec:
  selectors:
  - cel:
      expression: device.driver == "gpu.nvidia.com"
  - cel:
      expression: device.attributes["gpu.nvidia.com"].type == "gpu"
"""


@pytest.fixture
def editor(db: None, client_of: Callable[..., Client]) -> Editor:
    mirror_demo()
    return Editor(client_of("admin"), CLASS)


def test_each_selector_shows_what_it_matches_and_the_answer_all_of_them(
    editor: Editor,
) -> None:
    page = editor.post()
    assert 'id="f-spec-selectors-0-cel-expression-counts"' in page
    assert 'id="f-spec-selectors-1-cel-expression-counts"' in page
    said = words(page)
    assert "It would match" in said
    assert "match it," in said
    assert "use this class. It would match the same devices as now." in said


def test_a_narrower_selector_says_which_held_devices_it_leaves_out(
    editor: Editor,
) -> None:
    page = editor.post(
        fields={"spec.selectors[1].cel.expression": "device.driver.size() == 0"}
    )
    said = words(page)
    assert "would no longer match. What is held stays so until it is released." in said
    assert "Held devices that would no longer match" in said
    assert "held by" in said


def test_a_selector_that_is_being_written_leaves_the_others_counted(
    editor: Editor,
) -> None:
    page = editor.post(fields={"spec.selectors[1].cel.expression": "device."})
    assert "What it matches is not known: 1 selector cannot be asked." in words(page)
    assert "match it," in words(page)


def test_the_number_of_queries_does_not_grow_with_the_selectors(
    editor: Editor, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for _ in range(4):
        editor.post(step="add spec.selectors")
    with django_assert_max_num_queries(14):
        editor.post(fields={"metadata.name": "x"})


def test_a_cluster_without_devices_says_so(
    lab: Cluster, client_of: Callable[..., Client]
) -> None:
    class LabEditor(Editor):
        new = f"/c/{lab.name}/claims/new/"

    page = LabEditor(client_of("admin"), CLASS).post()
    assert "There is no device in this cluster that it could match." in words(page)


@pytest.fixture
def lab(db: None) -> Cluster:
    return Cluster.objects.create(name="empty", version="v1.36.2")
