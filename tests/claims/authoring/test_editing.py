"""One round of editing: whatever a browser sends, the text stays one that can be read."""

from __future__ import annotations

import pytest

from claims.authoring.editing import edit

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: train  # the big one
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.example.com
"""
COUNT = "spec.devices.requests[0].exactly.count"


@pytest.mark.parametrize(
    "step",
    [
        r'set metadata.name "\ud800"',
        r'add spec.devices.constraints "\ud800"',
        f"set {COUNT} NaN",
        f"set {COUNT} {'[' * 900}{']' * 900}",
    ],
    ids=["half a character", "half of one in an entry", "no number", "too deep"],
)
def test_what_no_yaml_can_say_changes_nothing_and_is_said(step: str) -> None:
    found = edit(CLAIM, step=step)
    assert found.text == CLAIM
    assert found.problem.startswith("This cannot be written as YAML")


def test_fields_deeper_than_a_text_may_be_change_nothing() -> None:
    found = edit(CLAIM, fields={".".join("a" * 120): ["x"]})
    assert found.text == CLAIM
    assert found.problem.startswith("This cannot be written as YAML")


@pytest.mark.parametrize(
    "step",
    ["move spec.devices.requests[0] 1e400", f"set {COUNT} {'[' * 9_000}"],
    ids=["a place beyond all measure", "more brackets than a reader takes"],
)
def test_a_step_beyond_all_measure_is_refused(step: str) -> None:
    found = edit(CLAIM, step=step)
    assert found.text == CLAIM
    assert found.problem.startswith("The draft has changed meanwhile")


def test_a_step_that_can_be_done_keeps_the_comments() -> None:
    found = edit(CLAIM, fields={"metadata.name": ["serve"]}, step=f"set {COUNT} 2")
    assert "name: serve  # the big one" in found.text
    assert found.value["spec"]["devices"]["requests"][0]["exactly"]["count"] == 2
    assert found.problem == ""


def test_a_number_in_the_place_of_true_is_a_change() -> None:
    """To Python ``True`` and ``1`` are equal; the API server takes one of them."""
    text = CLAIM + "        count: true\n"
    found = edit(text, fields={COUNT: ["1"]})
    assert found.text == CLAIM + "        count: 1\n"
