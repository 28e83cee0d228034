"""What changed in a cluster between two times: counted, and listed in part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Case, Count, Max, QuerySet, Sum, Value, When

from inventory.choices import Happened
from inventory.history.happenings import DEVICE, RULE, between
from inventory.models_history import Happening

LISTED: Final = 50
"""Objects that a section lists, the last to change first."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One question: how many objects of a kind had one of these things happen.

    ``net``: came (1) or went (-1) altogether; one that did both is in neither.
    """

    title: str
    kind: str
    whats: tuple[Happened, ...]
    net: int = 0


TOPICS: Final = (
    Topic("Devices come", DEVICE, (Happened.CREATED,), net=1),
    Topic("Devices gone", DEVICE, (Happened.DELETED,), net=-1),
    Topic("Devices changed", DEVICE, (Happened.CHANGED,)),
    Topic("Devices tainted", DEVICE, (Happened.TAINTED,)),
    Topic("Devices untainted", DEVICE, (Happened.UNTAINTED,)),
    Topic(
        "Taint rules that hit many devices",
        RULE,
        (Happened.TAINTED, Happened.UNTAINTED),
    ),
    Topic(
        "Taint rules come, changed or gone",
        RULE,
        (Happened.CREATED, Happened.CHANGED, Happened.DELETED),
    ),
    Topic("Claims created", "ResourceClaim", (Happened.CREATED,)),
    Topic("Claims allocated", "ResourceClaim", (Happened.ALLOCATED,)),
    Topic(
        "Claims that gave their devices back", "ResourceClaim", (Happened.DEALLOCATED,)
    ),
    Topic("Claims deleted", "ResourceClaim", (Happened.DELETED,)),
    Topic(
        "Classes changed",
        "DeviceClass",
        (Happened.CREATED, Happened.CHANGED, Happened.DELETED),
    ),
    Topic("Nodes joined", "Node", (Happened.CREATED,), net=1),
    Topic("Nodes left", "Node", (Happened.DELETED,), net=-1),
    Topic(
        "Nodes cordoned or uncordoned", "Node", (Happened.CORDONED, Happened.UNCORDONED)
    ),
    Topic("Nodes ready or not", "Node", (Happened.READY, Happened.UNREADY)),
)


@dataclass(frozen=True, slots=True)
class Section:
    """``count`` objects; ``rows`` are what happened last to the newest of them."""

    topic: Topic
    count: int
    rows: Sequence[Happening]


def differences(
    cluster_id: int, since: datetime, until: datetime, *, listed: int = LISTED
) -> list[Section]:
    """Of the topics in which anything happened; at most three queries for each."""
    rows = between(cluster_id, since, until)
    happened = set(rows.exclude(name="").values_list("kind", "what").distinct())
    found = [
        _section(rows, topic, listed)
        for topic in TOPICS
        if any((topic.kind, what) in happened for what in topic.whats)
    ]
    return [section for section in found if section.count]


def counted(cluster_id: int, since: datetime, until: datetime) -> dict[str, int]:
    """The counts alone, by the titles of the topics."""
    return {
        section.topic.title: section.count
        for section in differences(cluster_id, since, until, listed=0)
    }


def _section(rows: QuerySet[Happening], topic: Topic, listed: int) -> Section:
    mine = rows.filter(kind=topic.kind).exclude(name="")
    objects = _net(mine, topic) if topic.net else _each(mine, topic)
    newest = list(objects.order_by("-last")[:listed]) if listed else []
    pks = [found["last"] for found in newest]
    shown = Happening.objects.in_bulk(pks)
    return Section(topic, objects.count(), [shown[pk] for pk in pks if pk in shown])


def _each(rows: QuerySet[Happening], topic: Topic) -> Any:
    return (
        rows.filter(what__in=topic.whats)
        .values("namespace", "name")
        .annotate(last=Max("pk"), times=Count("pk"))
    )


def _net(rows: QuerySet[Happening], topic: Topic) -> Any:
    came_or_went = rows.filter(what__in=(Happened.CREATED, Happened.DELETED))
    sign = Case(When(what=Happened.CREATED, then=Value(1)), default=Value(-1))
    found = came_or_went.values("namespace", "name").annotate(
        net=Sum(sign), last=Max("pk")
    )
    return found.filter(net__gt=0) if topic.net > 0 else found.filter(net__lt=0)
