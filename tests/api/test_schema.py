"""What openapi.yaml says is what the endpoints answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.test import Client

from inventory.models import Cluster
from tests.mirrored import mirror_demo

DOCUMENT: dict[str, Any] = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "openapi.yaml").read_text("utf-8")
)


def is_asked_plainly(operation: dict[str, Any]) -> bool:
    """Whether it answers without being told what about."""
    return not any(each.get("required") for each in operation.get("parameters", ()))


LISTS = [
    path
    for path, operations in DOCUMENT["paths"].items()
    if "{" not in path
    and "get" in operations
    and "schema" not in path
    and is_asked_plainly(operations["get"])
]


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo(nodes=4)


def test_the_document_has_every_list() -> None:
    assert len(LISTS) == 16


@pytest.mark.parametrize("path", LISTS)
def test_a_list_answers_what_the_document_says(
    path: str, demo: Cluster, client_of: Callable[..., Client]
) -> None:
    answer = client_of("viewer").get(path)
    ok = DOCUMENT["paths"][path]["get"]["responses"]["200"]
    schema = ok["content"]["application/json"]["schema"] | {
        "components": DOCUMENT["components"]
    }
    jsonschema.validate(
        answer.json(),
        schema,
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )


def test_the_swagger_page_loads_nothing_from_elsewhere(
    client_of: Callable[..., Client],
) -> None:
    client = client_of("viewer")
    page = client.get("/api/v1/docs/").content.decode()
    assert "/static/drf_spectacular_sidecar/" in page
    assert "://" not in page.replace("http://testserver", "")
    assert client.get("/api/v1/docs/?script=").status_code == 200


def test_no_choice_is_of_another_type_than_its_values() -> None:
    """A client that is made of the document could not send it."""
    kinds = {"boolean": bool, "integer": int, "string": str}
    for path, operations in DOCUMENT["paths"].items():
        for parameter in operations.get("get", {}).get("parameters", ()):
            schema = parameter["schema"]
            for value in schema.get("enum", ()):
                assert isinstance(value, kinds[schema["type"]]), (path, parameter)
