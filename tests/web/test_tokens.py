"""API tokens: made once, never readable again, never stronger than their owner."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from web import tokens
from web.doors import Role
from web.models import ApiToken

People = Callable[..., User]


def test_the_secret_opens_and_is_not_stored(person: People) -> None:
    token, secret = tokens.create(
        user=person("operator"), name="ci", role=Role.OPERATOR
    )
    assert tokens.verify(secret) == token
    stored = ApiToken.objects.values().get()
    assert secret not in {str(value) for value in stored.values()}
    assert len(secret) > 50


@pytest.mark.parametrize(
    "wrong", ["", "drap_", "Bearer x", "drap_0123456789ab_" + "A" * 43, "ü" * 61]
)
def test_anything_else_opens_nothing(person: People, wrong: str) -> None:
    tokens.create(user=person("viewer"), name="ci", role=Role.VIEWER)
    assert tokens.verify(wrong) is None


def test_a_secret_with_the_right_prefix_alone_opens_nothing(person: People) -> None:
    token, _ = tokens.create(user=person("viewer"), name="ci", role=Role.VIEWER)
    assert tokens.verify(f"drap_{token.prefix}_{'A' * 43}") is None


def test_a_token_ends_by_revoking_by_time_and_with_its_user(person: People) -> None:
    user = person("viewer")
    token, secret = tokens.create(user=user, name="a", role=Role.VIEWER)
    assert tokens.revoke(token=token)
    assert not tokens.revoke(token=token)
    assert tokens.verify(secret) is None

    soon = timezone.now() + timedelta(hours=1)
    token, secret = tokens.create(
        user=user, name="b", role=Role.VIEWER, expires_at=soon
    )
    assert tokens.verify(secret)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())
    assert tokens.verify(secret) is None

    _, secret = tokens.create(user=user, name="c", role=Role.VIEWER)
    user.is_active = False
    user.save()
    assert tokens.verify(secret) is None


def test_nobody_gives_away_more_than_they_have(person: People) -> None:
    with pytest.raises(tokens.TokenError, match="you lack it"):
        tokens.create(user=person("viewer"), name="ci", role=Role.OPERATOR)
    with pytest.raises(tokens.TokenError, match="you lack it"):
        tokens.create(user=person(None), name="ci", role=Role.VIEWER)


def test_a_token_shrinks_with_its_user(person: People) -> None:
    user = person("operator")
    _, secret = tokens.create(user=user, name="ci", role=Role.OPERATOR)
    user.groups.set([Group.objects.get(name="viewer")])
    found = tokens.verify(secret)
    assert found is not None
    assert tokens.role_with(found) is Role.VIEWER
    user.groups.clear()
    found = tokens.verify(secret)
    assert found is not None
    assert tokens.role_with(found) is None


@pytest.mark.parametrize(
    ("name", "days", "sentence"),
    [("", 1, "Give the token a name"), ("x", -1, "has to be in the future")],
)
def test_a_useless_token_is_refused(
    person: People, name: str, days: int, sentence: str
) -> None:
    with pytest.raises(tokens.TokenError, match=sentence):
        tokens.create(
            user=person("viewer"),
            name=name,
            role=Role.VIEWER,
            expires_at=timezone.now() + timedelta(days=days),
        )


def test_nobody_makes_tokens_without_end(person: People) -> None:
    user = person("viewer")
    ApiToken.objects.bulk_create(
        ApiToken(user=user, name="x", prefix=f"{n:012x}", digest="")
        for n in range(tokens.TOKENS_PER_USER)
    )
    with pytest.raises(tokens.TokenError, match="Revoke one"):
        tokens.create(user=user, name="more", role=Role.VIEWER)


def test_a_busy_tool_writes_its_use_once_a_minute(person: People) -> None:
    _, secret = tokens.create(user=person("viewer"), name="ci", role=Role.VIEWER)
    tokens.verify(secret)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    tokens.verify(secret)
    assert ApiToken.objects.get().last_used_at == first


def test_the_page_shows_the_secret_once(client_of: Callable[..., Client]) -> None:
    client = client_of("operator")
    page = client.post("/tokens/", {"name": "ci", "role": "operator", "days": "30"})
    found = re.search(r"drap_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", page.text)
    assert found
    assert tokens.verify(found[0])
    assert "no-store" in page["Cache-Control"]
    again = client.get("/tokens/")
    assert found[0] not in again.text
    assert "ci" in again.text


def test_the_page_offers_only_own_roles(client_of: Callable[..., Client]) -> None:
    client = client_of("viewer")
    assert 'value="operator"' not in client.get("/tokens/").text
    client.post("/tokens/", {"name": "ci", "role": "admin", "days": "30"})
    assert not ApiToken.objects.exists()


def test_one_revokes_only_ones_own(
    client_of: Callable[..., Client], person: People
) -> None:
    token, secret = tokens.create(
        user=person("operator"), name="theirs", role=Role.VIEWER
    )
    address = f"/tokens/{token.pk}/revoke/"
    assert client_of("viewer").post(address).status_code == 404
    assert tokens.verify(secret)
    assert client_of("admin").post(address).status_code == 302
    assert tokens.verify(secret) is None


def test_the_admin_site_revokes_and_does_nothing_else(person: People) -> None:
    token, secret = tokens.create(user=person("viewer"), name="x", role=Role.VIEWER)
    root = User.objects.create_superuser("root", password="pw")
    client = Client()
    client.force_login(root)
    assert client.get("/admin/web/apitoken/add/").status_code == 403
    page = client.get(f"/admin/web/apitoken/{token.pk}/change/")
    assert token.digest not in page.text
    chosen = {"action": "revoke", "_selected_action": [token.pk]}
    done = client.post("/admin/web/apitoken/", chosen, follow=True)
    assert "1 revoked." in done.text
    assert tokens.verify(secret) is None
