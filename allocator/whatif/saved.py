"""Scenarios that people keep: one's own, and those that others share.

A scenario of somebody else that is not shared is as good as none.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from allocator.models import SavedScenario
from dra.whatif import Scenario, read_scenario, write_scenario
from inventory.models import Cluster

MOST: Final = 200
"""Per user and cluster."""
_NAME: Final = 200


class ScenarioRefused(Exception):  # noqa: N818 (an answer to the user, named so in the API)
    """Not saved; ``field`` is empty where it is about no single field."""

    def __init__(self, reason: str, field: str = "") -> None:
        self.field = field
        super().__init__(reason)


class ScenarioChanged(ScenarioRefused):
    """It was saved from elsewhere since it was read; nothing was overwritten."""

    def __init__(self) -> None:
        super().__init__(
            "This scenario was changed elsewhere after it was opened here. Nothing was "
            "overwritten: save yours under another name, or open it again."
        )


def scenarios_for(
    user: User, cluster: Cluster | None = None
) -> QuerySet[SavedScenario]:
    """What the user may read, by name."""
    found = SavedScenario.objects.filter(Q(user=user) | Q(shared=True))
    if cluster is not None:
        found = found.filter(cluster=cluster)
    return found.select_related("cluster", "user").order_by("name", "pk")


def scenario_for(user: User, scenario_id: UUID | str) -> SavedScenario | None:
    """One that the user may read."""
    return scenarios_for(user).filter(pk=scenario_id).first()


def keep_scenario(
    *, cluster: Cluster, user: User, name: str, scenario: Scenario, shared: bool = False
) -> SavedScenario:
    """Save a new one. Raises :class:`ScenarioRefused`."""
    own = SavedScenario.objects.filter(user=user, cluster=cluster).count()
    if own >= MOST:
        raise ScenarioRefused(
            f"You keep {own} scenarios in the cluster {cluster.name}, more are not kept. "
            "Delete one that you no longer need first."
        )
    return SavedScenario.objects.create(
        cluster=cluster,
        user=user,
        name=_line(name),
        document=write_scenario(scenario),
        shared=shared,
        updated_at=timezone.now(),
    )


def change_scenario(
    *,
    saved: SavedScenario,
    user: User,
    revision: int,
    name: str | None = None,
    scenario: Scenario | None = None,
    shared: bool | None = None,
) -> SavedScenario:
    """Save over ``revision``; None leaves a part as it is.

    Raises :class:`ScenarioRefused`, and :class:`ScenarioChanged` where it is newer.
    """
    _must_own(saved, user)
    changes: dict[str, object] = {}
    if name is not None:
        changes["name"] = _line(name)
    if scenario is not None:
        changes["document"] = write_scenario(scenario)
    if shared is not None:
        changes["shared"] = shared
    here = SavedScenario.objects.filter(pk=saved.pk, revision=revision)
    if not here.update(
        **changes, revision=F("revision") + 1, updated_at=timezone.now()
    ):
        raise ScenarioChanged
    saved.refresh_from_db()
    return saved


def copy_scenario(*, saved: SavedScenario, user: User) -> SavedScenario:
    """The same as the user's own, not shared."""
    return keep_scenario(
        cluster=saved.cluster,
        user=user,
        name=f"{saved.name[: _NAME - 7]} (copy)",
        scenario=read_scenario(saved.document),
    )


def discard_scenario(*, saved: SavedScenario, user: User) -> None:
    """Its runs stay. Raises :class:`ScenarioRefused`."""
    _must_own(saved, user)
    saved.delete()


def _must_own(saved: SavedScenario, user: User) -> None:
    if saved.user_id != user.pk:
        raise ScenarioRefused(
            f"This scenario belongs to {saved.user.get_username()}: copy it, then change "
            "your copy."
        )


def _line(text: str) -> str:
    """One line that a column can hold."""
    printable = text.encode(errors="replace").decode().replace("\0", " ")
    line = " ".join(printable.split())[:_NAME]
    if not line:
        raise ScenarioRefused("Give the scenario a name.", "name")
    return line
