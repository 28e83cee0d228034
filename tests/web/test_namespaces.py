"""Where authors may write: what is given to them, to their groups, and to nobody."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.test import Client

from web.doors import Role, role_of
from web.models import NamespaceGrant
from web.namespaces import (
    NamespaceMissing,
    check_namespace,
    check_pattern,
    may_write_in,
)

People = Callable[..., User]


def may(user: User, namespace: str, cluster: str = "lab") -> bool:
    return may_write_in(user, role_of(user), cluster, namespace)


def test_an_author_stands_between_viewers_and_operators() -> None:
    assert Role.VIEWER < Role.AUTHOR < Role.OPERATOR


def test_without_an_entry_an_author_writes_nowhere(person: People) -> None:
    author = person("author")
    assert not may(author, "default")
    with pytest.raises(NamespaceMissing, match="no namespace of the cluster lab is"):
        check_namespace(author, role_of(author), "lab", "default")


def test_operators_write_everywhere_and_viewers_nowhere(person: People) -> None:
    viewer = person("viewer")
    NamespaceGrant.objects.create(user=viewer, namespaces="*")
    assert not may(viewer, "team-a")
    assert may(person("operator"), "team-a")


def test_names_and_patterns_of_the_user_and_of_groups_count(person: People) -> None:
    author = person("author")
    team = Group.objects.create(name="team a")
    author.groups.add(team)
    NamespaceGrant.objects.create(user=author, namespaces="lab")
    NamespaceGrant.objects.create(group=team, namespaces="team-*")
    NamespaceGrant.objects.create(user=person("viewer"), namespaces="secret")
    assert may(author, "lab")
    assert may(author, "team-a")
    assert not may(author, "team")
    assert not may(author, "lab-2")
    assert not may(author, "secret")
    with pytest.raises(NamespaceMissing, match="may write in lab, team-\\*, not in x"):
        check_namespace(author, role_of(author), "lab", "x")


def test_a_grant_may_be_for_some_clusters_only(person: People) -> None:
    author = person("author")
    NamespaceGrant.objects.create(user=author, namespaces="*", clusters="dev-?")
    assert may(author, "lab", "dev-1")
    assert not may(author, "lab", "prod")


def test_the_role_with_which_somebody_acts_decides(person: People) -> None:
    """An operator's token with the role author writes where its user is given to."""
    operator = person("operator")
    assert not may_write_in(operator, Role.AUTHOR, "lab", "team-a")
    NamespaceGrant.objects.create(user=operator, namespaces="team-a")
    fresh = User.objects.get(pk=operator.pk)
    assert may_write_in(fresh, Role.AUTHOR, "lab", "team-a")
    assert not may_write_in(fresh, Role.AUTHOR, "lab", "team-b")


@pytest.mark.parametrize("text", ["", "Team", "a b", "[a]", "a/b", "x" * 64])
def test_patterns_that_no_namespace_can_match_are_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        check_pattern(text)


def test_a_grant_is_for_a_user_or_a_group(person: People) -> None:
    with pytest.raises(IntegrityError):
        NamespaceGrant.objects.create(namespaces="*")


@pytest.fixture
def admin(person: People) -> Client:
    person("admin", "root")
    User.objects.filter(username="root").update(is_superuser=True, is_staff=True)
    client = Client()
    client.force_login(User.objects.get(username="root"))
    return client


def test_administrators_give_namespaces_in_the_admin_site(
    admin: Client, person: People
) -> None:
    author = person("author")
    new = "/admin/web/namespacegrant/add/"
    assert admin.get(new).status_code == 200
    given = {"user": author.pk, "group": "", "namespaces": " team-* ", "clusters": "*"}
    assert admin.post(new, given).status_code == 302
    assert may(author, "team-b")
    assert "team-*" in admin.get("/admin/web/namespacegrant/").text
    refused = admin.post(new, given | {"namespaces": "Team A"})
    assert "Use lower case letters" in refused.text
    both = admin.post(new, given | {"group": author.groups.get().pk})
    assert "Choose a user or a group, one of the two." in both.text
    assert NamespaceGrant.objects.count() == 1
