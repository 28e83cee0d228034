"""People and clusters that tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from hypothesis import HealthCheck, settings
from kombu.transport.memory import Channel

from allocator import snapshots
from claims.api import authoring
from claims.authoring.previewing import previewed
from claims.explaining.answering import explained
from claims.views.editor import changes, pods, rounds
from web.doors import Role

# A busy machine makes examples slow; that says nothing about a law. And every run looks
# at the same examples: what fails once fails again, with whoever changed something.
# --hypothesis-profile=searching looks at others each time.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "searching", settings.get_profile("steady"), derandomize=False
)
settings.load_profile("steady")


@pytest.fixture
def person(db: None) -> Callable[..., User]:
    """``person("operator")``: a user with that role; ``person(None)``: one without any."""

    def make(role: str | None, username: str = "") -> User:
        user = User.objects.create_user(
            username or f"a-{role or 'stranger'}", password="pw"
        )
        if role is not None:
            user.groups.add(Group.objects.get(name=Role(role).value))
        return user

    return make


@pytest.fixture
def client_of(person: Callable[..., User]) -> Callable[..., Client]:
    """``client_of("viewer")``: a signed-in browser of such a user."""

    def make(role: str | None) -> Client:
        client = Client()
        client.force_login(person(role))
        return client

    return make


@pytest.fixture(autouse=True, scope="session")
def _time_to_think() -> Iterator[None]:
    """As in the settings of the tests, where the time is no setting."""
    with pytest.MonkeyPatch.context() as patch:
        for function in (explained, previewed):
            assert function.__kwdefaults__
            patch.setitem(function.__kwdefaults__, "seconds", 60.0)
        patch.setattr(rounds, "PREVIEW_SECONDS", 60.0)
        patch.setattr(changes, "CHANGES_SECONDS", 60.0)
        patch.setattr(pods, "SECONDS", 60.0)
        patch.setattr(authoring, "SECONDS", 60.0)
        yield


@pytest.fixture(autouse=True)
def _no_snapshot_of_another_test() -> Iterator[None]:
    snapshots.forget()
    yield
    snapshots.forget()


@pytest.fixture(autouse=True)
def _no_message_of_another_test() -> Iterator[None]:
    yield
    Channel.queues.clear()
