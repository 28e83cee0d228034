"""Roles: who may what, and what a person without one is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client, RequestFactory

from web.doors import Role, RoleMissing, check, requires, role_of

People = Callable[..., User]


def test_a_role_holds_all_lower_ones() -> None:
    assert Role.VIEWER < Role.OPERATOR < Role.ADMIN
    assert Role.ADMIN.includes(Role.VIEWER)
    assert not Role.VIEWER.includes(Role.OPERATOR)
    assert max([Role.OPERATOR, Role.VIEWER]) is Role.OPERATOR


def test_nobody_has_a_role_by_accident(person: People) -> None:
    assert role_of(AnonymousUser()) is None
    assert role_of(None) is None
    assert role_of(person(None)) is None


def test_the_highest_group_counts(person: People) -> None:
    user = person("viewer")
    user.groups.add(*person("operator").groups.all())
    assert role_of(user) is Role.OPERATOR


@pytest.mark.parametrize(
    ("command", "options"), [("migrate", {}), ("flush", {"reset_sequences": False})]
)
@pytest.mark.django_db(transaction=True)
def test_the_groups_of_roles_come_back(command: str, options: dict[str, Any]) -> None:
    Group.objects.filter(name=Role.VIEWER).delete()
    call_command(command, interactive=False, verbosity=0, **options)
    assert {*Group.objects.values_list("name", flat=True)} == {*Role}


def test_a_superuser_is_admin_and_an_inactive_user_nothing(person: People) -> None:
    user = person("viewer")
    user.is_superuser = True
    assert role_of(user) is Role.ADMIN
    user.is_active = False
    assert role_of(user) is None


def test_the_refusal_says_what_to_ask_for(person: People) -> None:
    with pytest.raises(RoleMissing, match="for the role “viewer”"):
        check(person(None), Role.VIEWER)
    with pytest.raises(RoleMissing, match="needs the role “operator” and yours is"):
        check(person("viewer"), Role.OPERATOR)


def test_the_decorator_sends_strangers_to_the_login(rf: RequestFactory) -> None:
    request = rf.get("/runs/?state=done")
    request.user = AnonymousUser()

    @requires(Role.VIEWER)
    def view(_request: object) -> HttpResponse:
        raise AssertionError("not reached")

    response = view(request)
    assert response.status_code == 302
    assert response["Location"] == "/login/?next=/runs/%3Fstate%3Ddone"


def test_a_user_without_a_role_sees_a_page_that_helps(
    client_of: Callable[..., Client],
) -> None:
    response = client_of(None).get("/tokens/")
    assert response.status_code == 403
    assert "Ask an administrator of this portal for the role" in response.text


def test_the_admin_site_uses_the_throttled_login(client: Client, db: None) -> None:
    response = client.get("/admin/login/?next=/admin/")
    assert response.status_code == 302
    assert response["Location"] == "/login/?next=%2Fadmin%2F"


def test_the_admin_site_refuses_who_is_no_staff_without_a_loop(
    client_of: Callable[..., Client],
) -> None:
    response = client_of("viewer").get("/admin/", follow=True)
    assert response.status_code == 403
    assert "for staff users" in response.text
