"""``python -m dra validate``: one object a line, one answer a line."""

from __future__ import annotations

import io
import json

import pytest

from dra.validation.command import answer, run_lines
from tests.dra.validation.objects import claim, request

CLAIM = claim(request("gpu", "gpu", tolerations=[{"operator": "Exists"}]))
CREATE = {"id": "a", "kind": "ResourceClaim", "namespace": "team", "object": CLAIM}


def test_every_line_that_is_not_empty_gets_one():
    out = io.StringIO()
    run_lines([json.dumps(CREATE), "", "  \n", "no JSON"], out)
    first, second = map(json.loads, out.getvalue().splitlines())
    assert (first["id"], first["accepted"], first["code"]) == ("a", True, 200)
    assert second["id"] is None
    assert "not JSON" in second["error"]


def test_new_makes_it_an_update():
    other = claim(request("b", "gpu"))
    said = answer(
        json.dumps(
            {"id": 1, "kind": "ResourceClaim", "namespace": "team", "old": CLAIM}
            | {"new": other}
        )
    )
    assert (said["accepted"], said["reason"]) == (False, "Invalid")
    assert [cause["field"] for cause in said["causes"]] == ["spec"]
    assert said["defaulted"] == {}


def test_a_refusal_has_a_code_and_a_message_and_no_causes():
    said = answer(json.dumps({**CREATE, "namespaces": {}}))
    assert (said["code"], said["reason"], said["causes"]) == (404, "NotFound", [])
    assert said["message"] == 'namespaces "team" not found'


def test_gates_and_labels_can_be_told():
    said = answer(json.dumps({**CREATE, "features": {}, "namespaces": {"team": None}}))
    assert said["accepted"]
    admin = claim(request("gpu", "gpu", adminAccess=True))
    line = {**CREATE, "object": admin}
    assert not answer(json.dumps(line))["accepted"]
    labels = {"resource.kubernetes.io/admin-access": "true"}
    assert answer(json.dumps({**line, "namespaces": {"team": labels}}))["accepted"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ([], "a JSON object is expected"),
        ({"id": 1}, "kind: a string is expected"),
        ({**CREATE, "namespace": 1}, "namespace: a string is expected"),
        ({**CREATE, "sub": 1}, "sub: a string is expected"),
        ({**CREATE, "features": []}, "features: an object is expected"),
        ({**CREATE, "features": {"DRANothing": True}}, "DRANothing"),
        ({**CREATE, "namespaces": []}, "namespaces: an object"),
    ],
)
def test_a_line_that_asks_nothing_is_told_what_is_missing(line, told):
    assert told in answer(json.dumps(line))["error"]
