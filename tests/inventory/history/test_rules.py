"""A taint rule that hits many devices is one row; each device's history is derived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from inventory.choices import Happened
from inventory.history import rules
from inventory.history.differences import counted
from inventory.history.happenings import DEVICE, RULE, of_object
from inventory.history.timelines import timeline
from inventory.models import Device
from inventory.models_history import Happening
from tests.allocator import builders as build

Json = dict[str, Any]
EVERY = {"driver": build.GPU}


@pytest.fixture
def lab(db: None, monkeypatch: pytest.MonkeyPatch) -> build.Mirror:
    """Two nodes with two GPUs each; a rule may hit three with a row for each."""
    monkeypatch.setattr(rules, "MOST_HIT", 3)
    mirror = build.Mirror()
    mirror.replace(build.lab())
    return mirror


def rule(selector: Json, key: str = "acme.test/broken") -> Json:
    spec = {
        "deviceSelector": selector,
        "taint": {"key": key, "effect": "NoSchedule"},
    }
    found = build.taint_rule("all", "gpu-0")
    return build.touched(found | {"spec": spec})


def told(lab: build.Mirror, device: str) -> list[str]:
    """The oldest first."""
    rows = timeline(lab.cluster.pk, DEVICE, f"{build.GPU}/{device}", most=99)
    return [row.what for row in rows][::-1]


def test_a_rule_that_hits_many_is_one_row_and_every_device_tells(
    lab: build.Mirror,
) -> None:
    count = Device.objects.filter(driver=build.GPU).count()
    assert count > 3
    every = rule(EVERY)
    lab.put(every)
    lab.delete(every)
    assert not Happening.objects.filter(kind=DEVICE).exists()
    rows = of_object(lab.cluster.pk, RULE, "all")
    assert [(row.what, row.detail.get("count")) for row in rows][::-1] == [
        ("created", None),
        ("tainted", count),
        ("deleted", None),
        ("untainted", count),
    ]
    for name in Device.objects.filter(driver=build.GPU).values_list("name", flat=True):
        assert told(lab, f"n0/{name}") in ([], ["tainted", "untainted"])
    assert told(lab, "n0/gpu-0") == told(lab, "n1/gpu-1") == ["tainted", "untainted"]
    first = timeline(lab.cluster.pk, DEVICE, f"{build.GPU}/n0/gpu-0", most=9)[-1]
    assert first.detail == {
        "taints": ["acme.test/broken:NoSchedule (rule all)"],
        "rule": "all",
    }


def test_a_rule_that_hits_few_has_a_row_for_each(lab: build.Mirror) -> None:
    lab.put(rule({"pool": "n0"}))
    assert set(of_object(lab.cluster.pk, RULE, "all").values_list("what")) == {
        ("created",)
    }
    assert Happening.objects.filter(kind=DEVICE, what=Happened.TAINTED).count() == 2
    assert told(lab, "n0/gpu-0") == ["tainted"]
    assert told(lab, "n1/gpu-0") == []


def test_a_rule_with_another_selector_hits_the_others_alone(lab: build.Mirror) -> None:
    lab.put(build.slice_("n0", 6))
    lab.put(rule({"pool": "n1"}))
    lab.put(rule(EVERY))
    assert told(lab, "n1/gpu-0") == ["tainted"]
    assert told(lab, "n0/gpu-0") == ["tainted"]
    lab.put(rule({"pool": "n1"}))
    assert told(lab, "n0/gpu-0") == ["tainted", "untainted"]
    assert told(lab, "n1/gpu-0") == ["tainted"]
    lab.put(rule(EVERY, key="acme.test/other"))
    assert told(lab, "n1/gpu-0") == ["tainted", "untainted", "tainted"]


def test_a_device_that_was_not_there_was_not_hit(lab: build.Mirror) -> None:
    lab.put(build.slice_("n0", 1))
    lab.put(build.slice_("n1", 4))
    every = rule(EVERY)
    lab.put(every)
    lab.put(build.slice_("n0", 2))
    lab.delete(every)
    assert told(lab, "n0/gpu-1") == ["deleted", "created", "untainted"]
    assert told(lab, "n0/gpu-0") == ["tainted", "untainted"]
    assert told(lab, "n1/gpu-3") == ["created", "tainted", "untainted"]


def test_pages_tell_of_it(
    lab: build.Mirror, client_of: Callable[..., Client], settings: Any
) -> None:
    lab.put(rule(EVERY))
    viewer = client_of("viewer")
    count = Device.objects.filter(driver=build.GPU).count()
    page = viewer.get("/c/lab/changes/").text
    assert "Taint rules that hit many devices" in page
    assert f"Tainted {count} devices" in page
    assert 'href="/c/lab/taint-rules/all/"' in page
    href = f"/c/lab/history/?kind=Device&name={build.GPU}/n0/gpu-0"
    assert "acme.test/broken:NoSchedule (rule all)" in viewer.get(href).text
    text = viewer.get("/c/lab/taint-rules/all/").text
    assert "/c/lab/history/?kind=DeviceTaintRule&amp;name=all" in text
    own = viewer.get("/c/lab/history/?kind=DeviceTaintRule&name=all").text
    assert "Created: " in own
    # Its own name would be said in every line.
    assert "acme.test/broken:NoSchedule" in own
    assert "(rule all)" not in own


def test_counts_name_the_rule_not_each_device(lab: build.Mirror) -> None:
    from datetime import timedelta

    from django.utils import timezone

    lab.put(rule(EVERY))
    now = timezone.now()
    assert counted(lab.cluster.pk, now - timedelta(hours=1), now) == {
        "Taint rules that hit many devices": 1,
        "Taint rules come, changed or gone": 1,
    }
