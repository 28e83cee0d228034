"""Real objects with random damage: nothing raises, the undamaged ones do not notice."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from allocator import snapshots
from claims.mirror.columns import has_claims
from cluster.standin.generator import generate
from dra.snapshot import Snapshot
from inventory.mirror import key_of
from inventory.mirror.reading import storable
from inventory.models import Device, Pool
from tests.bad_input.walking import addresses, look
from tests.mirrored import Json, mirror

OBJECTS = sorted(generate(nodes=1), key=lambda o: (o["kind"], o["metadata"]["name"]))
KINDS = sorted({obj["kind"] for obj in OBJECTS})
HEALTHY = [o for o in generate(nodes=2) if "claim" not in o["kind"].lower()]
TEXTS = ["", "x", "é\x00\ud800", "x" * 5000]
VALUES: list[Any] = [None, 0, -1, 10**25, 1.5, True, [], [None], ["x"], [{}], {}]
JUNK = st.sampled_from([*TEXTS, *VALUES, {"x": None}, {"name": 3}])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every member and entry below ``value``."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index)
            yield from places(item, (*path, index))


def damaged(obj: Json, path: tuple[Any, ...], junk: Any, *, drop: bool) -> Json:
    made = copy.deepcopy(obj)
    parent: Any = made
    for step in path[:-1]:
        parent = parent[step]
    if drop:
        del parent[path[-1]]
    else:
        parent[path[-1]] = copy.deepcopy(junk)
    return made


def may_be_damaged(path: tuple[Any, ...]) -> bool:
    """All but what says which kind it is: the mirror asks for one kind at a time."""
    return path[0] not in ("kind", "apiVersion") and path != ("metadata",)


PLACES = {
    kind: [
        (number, path)
        for number, obj in enumerate(OBJECTS)
        if obj["kind"] == kind
        for path in places(obj)
        if may_be_damaged(path)
    ]
    for kind in KINDS
}


@st.composite
def damages(draw: st.DrawFn) -> Json:
    number, path = draw(st.sampled_from(PLACES[draw(st.sampled_from(KINDS))]))
    return damaged(OBJECTS[number], path, draw(JUNK), drop=draw(st.booleans()))


def renamed(number: int, obj: Json) -> Json:
    """So that several damaged copies of one object are there at once."""
    name = obj["metadata"].get("name")
    if isinstance(name, str) and key_of(obj) is not None:
        obj["metadata"]["name"] = f"{number}-{name}"[:253]
    return obj


def is_kept(obj: Json) -> bool:
    """Whether it has a row: objects without a name and pods without claims have none."""
    return key_of(obj) is not None and (obj["kind"] != "Pod" or has_claims(obj))


@pytest.mark.django_db(transaction=True)
@settings(
    max_examples=6,
    deadline=None,
    # Each example takes a second: a smaller one is not worth minutes.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(damages(), min_size=10, max_size=25))
def test_any_damage_is_mirrored_planned_with_and_shown(those: list[Json]) -> None:
    objects = [renamed(number, obj) for number, obj in enumerate(those)]
    with transaction.atomic():
        alone = mirror(copy.deepcopy(HEALTHY), name="alone")
        cluster = mirror(copy.deepcopy([*HEALTHY, *objects]), name="demo")
        snapshot = snapshots.current(cluster)
        usable = [storable(o) for o in objects if is_kept(o)]
        Snapshot.build(objects)
        built = Snapshot.build([*HEALTHY, *usable])
        assert snapshot.in_use == built.in_use
        assert snapshot.doubts == built.doubts
        assert set(snapshot.problems_by_object) == set(built.problems_by_object)
        mine = set(Pool.objects.filter(cluster=alone).values_list("driver", "name"))
        touched = {
            (p.driver, p.name)
            for p in Pool.objects.filter(cluster=cluster)
            if p.slices_present + p.slices_older
            != Pool.objects.filter(cluster=alone, driver=p.driver, name=p.name)
            .values_list("slices_present", flat=True)
            .first()
        }
        for driver, pool in mine - touched:
            assert names(cluster.pk, driver, pool) == names(alone.pk, driver, pool)
        client = Client()
        client.force_login(User.objects.create_superuser("root"))
        for address in list(addresses(cluster))[:: len(those) // 3]:
            status, _ = look(client, address)
            assert status == 200, address
        transaction.set_rollback(True)
    snapshots.forget()


def names(cluster_id: int, driver: str, pool: str) -> list[Any]:
    rows = Device.objects.filter(cluster_id=cluster_id, driver=driver, pool=pool)
    return list(rows.order_by("slice__name", "position").values_list("name", "facts"))
