"""Tools sign in with a token that never does more than its role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from web import tokens
from web.doors import Role


def bearer(secret: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {secret}"}}


def test_a_token_reads(person: Callable[..., User], client: Client) -> None:
    _, secret = tokens.create(user=person("viewer"), name="ci", role=Role.VIEWER)
    assert client.get("/api/v1/clusters/", **bearer(secret)).status_code == 200


@pytest.mark.parametrize("secret", ["nonsense", "drap_000000000000_x", "é"])
def test_an_unknown_token_is_refused_with_401(
    secret: str, client: Client, db: None
) -> None:
    answer = client.get("/api/v1/clusters/", **bearer(secret))
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


def test_a_revoked_token_is_refused(
    person: Callable[..., User], client: Client
) -> None:
    token, secret = tokens.create(user=person("viewer"), name="ci", role=Role.VIEWER)
    tokens.revoke(token=token)
    assert client.get("/api/v1/clusters/", **bearer(secret)).status_code == 401


def test_a_viewer_token_of_an_admin_starts_no_run(
    person: Callable[..., User], client: Client
) -> None:
    _, secret = tokens.create(user=person("admin"), name="ci", role=Role.VIEWER)
    answer = client.post(
        "/api/v1/runs/", {}, content_type="application/json", **bearer(secret)
    )
    assert answer.status_code == 403
    assert "operator" in answer.json()["detail"]


def test_a_token_needs_no_csrf_but_a_session_does(person: Callable[..., User]) -> None:
    strict = Client(enforce_csrf_checks=True)
    user = person("operator")
    _, secret = tokens.create(user=user, name="ci", role=Role.OPERATOR)
    by_token = strict.post(
        "/api/v1/runs/", {}, content_type="application/json", **bearer(secret)
    )
    assert by_token.status_code == 400
    strict.force_login(user)
    by_session = strict.post("/api/v1/runs/", {}, content_type="application/json")
    assert by_session.status_code == 403
    assert "CSRF" in by_session.json()["detail"]
