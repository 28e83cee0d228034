"""Signing in, and what happens to those who guess."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from web import throttle
from web.models import LoginFailure


def sign_in(client: Client, name: str, password: str, **extra: Any) -> Any:
    return client.post("/login/", {"username": name, "password": password}, **extra)


@pytest.fixture
def somebody(person: Callable[..., User]) -> User:
    return person("viewer", "somebody")


def test_the_right_password_opens_the_door(client: Client, somebody: User) -> None:
    response = sign_in(client, "somebody", "pw")
    assert response.status_code == 302
    assert not LoginFailure.objects.exists()


def test_the_next_address_stays_on_this_site(client: Client, somebody: User) -> None:
    data = {"username": "somebody", "password": "pw", "next": "https://evil.example/"}
    assert client.post("/login/", data)["Location"] == "/"


@pytest.mark.parametrize("name", ["somebody", "nobody"])
def test_known_and_unknown_names_are_answered_alike(
    client: Client, somebody: User, name: str
) -> None:
    pages = [sign_in(client, name, "wrong") for _ in range(6)]
    assert all("Name or password is wrong." in page.text for page in pages[:5])
    assert "Too many failed attempts. Try again in 15 minutes." in pages[5].text


def test_even_the_right_password_has_to_wait(client: Client, somebody: User) -> None:
    for _ in range(5):
        sign_in(client, "somebody", "wrong")
    response = sign_in(client, "somebody", "pw")
    assert response.status_code == 200
    assert "Too many failed attempts" in response.text


def test_waiting_helps(client: Client, somebody: User) -> None:
    for _ in range(5):
        sign_in(client, "somebody", "wrong")
    LoginFailure.objects.update(at=timezone.now() - throttle.WINDOW)
    assert sign_in(client, "somebody", "pw").status_code == 302


def test_others_are_not_locked_out(client: Client, somebody: User) -> None:
    for _ in range(5):
        sign_in(client, "nobody", "wrong")
    assert sign_in(client, "somebody", "pw").status_code == 302


def test_another_address_is_not_locked_out(client: Client, somebody: User) -> None:
    for _ in range(5):
        sign_in(client, "somebody", "wrong", REMOTE_ADDR="192.0.2.1")
    response = sign_in(client, "somebody", "pw", REMOTE_ADDR="192.0.2.2")
    assert response.status_code == 302


def test_one_address_cannot_try_many_names(client: Client, somebody: User) -> None:
    key = "ip:127.0.0.1"
    LoginFailure.objects.bulk_create(
        LoginFailure(key=key) for _ in range(throttle.PER_ADDRESS)
    )
    assert "Too many failed attempts" in sign_in(client, "somebody", "pw").text


def test_success_forgets_the_failures_before(client: Client, somebody: User) -> None:
    for _ in range(4):
        sign_in(client, "somebody", "wrong")
    sign_in(client, "somebody", "pw")
    client.logout()
    for _ in range(4):
        assert "is wrong" in sign_in(client, "somebody", "wrong").text


def test_what_was_typed_as_a_name_is_not_kept(client: Client, db: None) -> None:
    sign_in(client, "my secret password", "x")
    assert not any("secret" in failure.key for failure in LoginFailure.objects.all())


def test_a_tampered_forwarded_header_is_not_believed(
    client: Client, somebody: User
) -> None:
    for number in range(6):
        page = sign_in(
            client, "somebody", "wrong", headers={"X-Forwarded-For": f"10.0.0.{number}"}
        )
    assert "Too many failed attempts" in page.text


def test_behind_the_proxy_the_hop_it_added_counts(
    client: Client, somebody: User, settings: Any
) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    for number in range(5):
        sign_in(
            client,
            "somebody",
            "wrong",
            headers={"X-Forwarded-For": f"10.0.0.{number}, 192.0.2.7"},
        )
    page = sign_in(
        client, "somebody", "pw", headers={"X-Forwarded-For": "10.0.0.9, 192.0.2.7"}
    )
    assert "Too many failed attempts" in page.text


def test_old_failures_are_thrown_away(client: Client, somebody: User) -> None:
    old = LoginFailure.objects.create(key="ip:x")
    LoginFailure.objects.update(at=timezone.now() - timedelta(days=2))
    sign_in(client, "somebody", "wrong")
    assert not LoginFailure.objects.filter(pk=old.pk).exists()


def test_signing_out_needs_a_post(client_of: Callable[..., Client]) -> None:
    client = client_of("viewer")
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/login/"


def test_changing_the_password_keeps_this_browser(
    client_of: Callable[..., Client],
) -> None:
    client = client_of("viewer")
    data = {
        "old_password": "pw",
        "new_password1": "a long new phrase",
        "new_password2": "a long new phrase",
    }
    page = client.post("/password/", data, follow=True)
    assert "The new password works from now on" in page.text


def test_an_expired_form_says_so(db: None) -> None:
    response = Client(enforce_csrf_checks=True).post("/login/", {"username": "x"})
    assert response.status_code == 403
    assert "This form has expired" in response.text
