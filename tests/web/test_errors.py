"""What is not there, and what fails: pages for people, problem details for tools."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client, RequestFactory

from web.errors import server_error


@pytest.mark.parametrize("path", ["/api/v1/", "/api/v1/nope/", "/api/v1/claims/A B/"])
def test_an_address_of_the_api_that_is_none_is_a_problem(
    path: str, client: Client, db: None
) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"
    told: dict[str, Any] = answer.json()
    assert (told["title"], told["status"]) == ("Not found", 404)


def test_elsewhere_it_is_a_page(client: Client, db: None) -> None:
    answer = client.get("/nope/")
    assert (answer.status_code, answer["Content-Type"]) == (
        404,
        "text/html; charset=utf-8",
    )


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/api/v1/runs/", "application/problem+json"), ("/runs/", "text/html")],
)
def test_a_fault_of_ours_is_told_in_the_same_two_ways(path: str, kind: str) -> None:
    request: HttpRequest = RequestFactory().get(path)
    answer = server_error(request)
    assert answer.status_code == 500
    assert answer["Content-Type"].startswith(kind)
    assert b"not yours" in answer.content
