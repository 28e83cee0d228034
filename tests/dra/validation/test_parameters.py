"""Opaque parameters: a JSON object, and what the API server can read as one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dra.validation.objects import device_class
from tests.dra.validation.writes import create, faults

FIELD = "spec.config[0].opaque.parameters"


def _faults(parameters: Any) -> list[tuple[str, str]]:
    opaque = {"driver": "gpu.example.com", "parameters": parameters}
    return faults(create(device_class("gpu", config=[{"opaque": opaque}])))


@pytest.mark.parametrize(
    "parameters", [{}, {"a": [1, 2.5, None, True, {}]}, {"a": 9**99}]
)
def test_parameters_are_any_json_object(parameters):
    assert _faults(parameters) == []


@pytest.mark.parametrize("parameters", [[], "text", 1, False])
def test_parameters_of_another_kind_are_told(parameters):
    assert _faults(parameters) == [(FIELD, "FieldValueInvalid")]


def test_parameters_are_required():
    assert _faults(None) == [(FIELD, "FieldValueRequired")]


@pytest.mark.parametrize("number", [10**400, -(10**400), float("inf")])
def test_a_number_beyond_floating_point_is_told(number):
    assert _faults({"deep": [{"n": number}]}) == [(FIELD, "FieldValueInvalid")]
