"""Whatever shape an object has, the mirror keeps it and goes on."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from claims.mirror import KINDS, store_for
from cluster.standin.generator import generate
from cluster.store import Event, EventType
from inventory.choices import Source
from inventory.models import Cluster
from tests.inventory.mirror.equality import MODELS, key

pytestmark = pytest.mark.django_db

JUNK: list[Any] = [
    None,
    [],
    {},
    "",
    "x",
    "\u0000",
    "y" * 400,
    -1,
    0,
    2**80,
    1.5,
    True,
    [None],
    [{}],
    {"a": None},
    {"name": "x"},
    ["x", 1],
]


def spoil(value: Any, pick: random.Random) -> Any:
    """``value`` with one part, at any depth, replaced by something else."""
    if isinstance(value, dict) and value and pick.random() < 0.9:
        name = pick.choice(sorted(value))
        return {**value, name: spoil(value[name], pick)}
    if isinstance(value, list) and value and pick.random() < 0.9:
        index = pick.randrange(len(value))
        return [*value[:index], spoil(value[index], pick), *value[index + 1 :]]
    return copy.deepcopy(pick.choice(JUNK))


def spoilt_metadata(meta: dict[str, Any], pick: random.Random) -> dict[str, Any]:
    """Everything but the name may be odd."""
    odd = {k: spoil(v, pick) if pick.random() < 0.3 else v for k, v in meta.items()}
    odd |= {k: meta[k] for k in ("name", "namespace") if k in meta}
    return odd | {"resourceVersion": "9"}


@pytest.mark.parametrize("seed", range(3))
def test_spoilt_objects_are_kept_and_stop_nothing(seed: int) -> None:
    pick = random.Random(seed)
    cluster = Cluster.objects.create(name="c", source=Source.KUBECONFIG)
    good = [o for o in generate(nodes=2) if o["kind"] in KINDS]
    for number, obj in enumerate(good):
        obj["metadata"]["resourceVersion"] = str(number)
    spoilt = []
    for obj in good:
        parts = {
            name: spoil(part, pick) if pick.random() < 0.6 else part
            for name, part in obj.items()
            if name in {"spec", "status"}
        }
        spoilt.append({**obj, **parts})
    for kind in KINDS:
        these = [o for o in spoilt if o["kind"] == kind]
        store = store_for(kind, cluster.pk)
        store.replace([o for o in these if store.keeps(o)], "1")
        worse = [{**o, "metadata": spoilt_metadata(o["metadata"], pick)} for o in these]
        store.apply([Event(EventType.MODIFIED, o) for o in worse], "9")
        kept = {key(o) for o in worse if store.keeps(o)}
        rows = MODELS[kind]._default_manager.filter(cluster=cluster)
        assert {(getattr(r, "namespace", ""), r.name) for r in rows} == kept
    for obj in good:
        obj["metadata"]["resourceVersion"] += "0"
    for kind in KINDS:
        store = store_for(kind, cluster.pk)
        store.replace([o for o in good if o["kind"] == kind], "10")
        rows = MODELS[kind]._default_manager.filter(cluster=cluster)
        assert not rows.exclude(problem="").exists()
