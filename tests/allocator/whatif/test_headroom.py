"""Headroom: how many more fit now, the shapes, and the history that is kept."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from allocator.models import HeadroomSample, HeadroomShape
from allocator.tasks import tasks_whatif
from allocator.whatif import headroom
from allocator.whatif.running import start_what_if
from dra.whatif import ScenarioError
from inventory.models import Cluster, DeviceClass, WatchLock
from tests.allocator.whatif.conftest import copies, scenario

PAGE = "/c/demo/what-if/headroom/"
TWO = {
    "devices": {
        "requests": [
            {
                "name": "gpus",
                "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2},
            }
        ]
    }
}


def test_without_a_list_it_is_one_device_of_each_class(
    demo: Cluster, viewer: User
) -> None:
    found = headroom.look(demo)
    assert not found.own
    fits = {s.name: a.fits for s, a in zip(found.shapes, found.answers, strict=True)}
    assert "gpu.nvidia.com" in fits
    run = start_what_if(cluster=demo, user=viewer, scenario=scenario(copies(500)))
    assert run.result is not None
    assert fits["gpu.nvidia.com"] == run.result["items"][0]["placed"]


def test_a_class_that_no_claim_can_name_is_an_answer_too(demo: Cluster) -> None:
    DeviceClass.objects.create(
        cluster=demo,
        name=" a b ",
        raw={"kind": "DeviceClass", "metadata": {"name": " a b "}, "spec": {}},
        seq=demo.seq + 1,
    )
    Cluster.objects.filter(pk=demo.pk).update(seq=demo.seq + 1)
    found = headroom.look(demo)
    assert " a b " in {one.name for one in found.shapes}


def test_the_answer_is_kept_while_nothing_changes(demo: Cluster) -> None:
    assert headroom.look(demo) is headroom.look(demo)
    headroom.save_shapes(demo, [("two", [TWO])])
    assert [one.name for one in headroom.look(demo).shapes] == ["two"]


def test_a_list_of_shapes_is_saved_and_dropped_again(demo: Cluster) -> None:
    headroom.save_shapes(demo, [("two", [TWO]), ("pair", [TWO, TWO])])
    found = headroom.look(demo)
    assert found.own
    assert [(s.name, len(s.claims)) for s in found.shapes] == [("two", 1), ("pair", 2)]
    headroom.save_shapes(demo, [])
    assert not headroom.look(demo).own


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("x", "shapes"),
        ([3], "shapes[0]"),
        ([{"name": "a"}], "shapes[0]"),
        ([{"name": " ", "claims": [TWO]}], "shapes[0].name"),
        ([{"name": "a", "claims": []}], "shapes[0].claims"),
        ([{"name": "a", "claims": ["x"]}], "shapes[0].claims[0]"),
        ([{"name": "a", "claims": [{"devices": {"requests": [{}]}}]}], "shapes[0]."),
        ([{"name": "a", "claims": [TWO]}] * 2, "shapes[1].name"),
        ([{"name": f"{n}", "claims": [TWO]} for n in range(51)], "shapes"),
    ],
)
def test_a_bad_list_names_its_field(raw: Any, path: str, demo: Cluster) -> None:
    with pytest.raises(ScenarioError) as caught:
        headroom.save_shapes(demo, headroom.read_shapes(raw))
    assert caught.value.path.startswith(path)
    assert not HeadroomShape.objects.exists()


def test_each_look_of_the_clock_is_kept_once(demo: Cluster) -> None:
    number = tasks_whatif.sample_headroom()
    assert number == len(headroom.look(demo).shapes) > 0
    sample = HeadroomSample.objects.get(name="gpu.nvidia.com")
    assert sample.fits == sample.least == sample.most > 0
    headroom.sample_headroom()
    assert HeadroomSample.objects.filter(name="gpu.nvidia.com").count() <= 2


def kept(cluster: Cluster, at: datetime, fits: int, span: int = 0) -> HeadroomSample:
    return HeadroomSample.objects.create(
        cluster=cluster,
        name="x",
        digest="d",
        span=span,
        at=at,
        fits=fits,
        least=fits,
        most=fits,
    )


def test_old_looks_become_hours_and_hours_days(demo: Cluster) -> None:
    hour = datetime(2026, 11, 1, 10, tzinfo=UTC)
    for minute, fits in ((0, 2), (30, 4), (59, 6), (60, 9)):
        kept(demo, hour + timedelta(minutes=minute), fits)
    gone = headroom.roll_up(0, 3600, older_than=hour + timedelta(minutes=70))
    assert gone == 3
    rolled, single = HeadroomSample.objects.all()
    assert (rolled.span, rolled.at, rolled.fits) == (3600, hour, 4.0)
    assert (rolled.least, rolled.most, rolled.looks) == (2, 6, 3)
    assert (single.span, single.fits) == (0, 9.0)
    headroom.roll_up(0, 3600, older_than=hour + timedelta(hours=3))
    headroom.roll_up(3600, 86400, older_than=hour + timedelta(days=2))
    day = HeadroomSample.objects.get()
    assert (day.span, day.looks, day.fits) == (86400, 4, 5.25)
    assert day.at == hour.replace(hour=0)
    assert headroom.roll_up(0, 3600, older_than=timezone.now()) == 0


def test_a_mirror_that_nobody_keeps_current_gives_no_sample(demo: Cluster) -> None:
    WatchLock.objects.all().delete()
    assert headroom.sample_headroom() == 0
    assert not HeadroomSample.objects.exists()


def test_classes_for_which_there_is_no_room_are_told(
    demo: Cluster, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headroom, "MOST_FROM_CLASSES", 1)
    found = headroom.look(demo)
    assert (len(found.shapes), found.left_out) == (1, DeviceClass.objects.count() - 1)
    text = browser.get(PAGE).content.decode()
    assert f"but for the last {found.left_out:,} by name" in text


def test_a_shape_for_which_there_was_no_time_is_not_0(
    demo: Cluster, settings: Any
) -> None:
    settings.HEADROOM_SECONDS = 0
    assert headroom.sample_headroom() == 0
    assert not HeadroomSample.objects.exists()


def test_a_span_is_rolled_up_whole_or_later(
    demo: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = datetime(2026, 11, 1, 10, tzinfo=UTC)
    for minute in (0, 30, 60, 90):
        kept(demo, hour + timedelta(minutes=minute), minute)
    monkeypatch.setattr(headroom, "MOST_ROLLED", 3)
    until = hour + timedelta(hours=2)
    assert headroom.roll_up(0, 3600, older_than=until) == 2
    assert headroom.roll_up(0, 3600, older_than=until) == 2
    assert list(HeadroomSample.objects.values_list("fits", "looks")) == [
        (15.0, 2),
        (75.0, 2),
    ]


def test_what_is_too_old_goes(demo: Cluster, settings: Any) -> None:
    long_ago = timezone.now() - timedelta(days=settings.HEADROOM_KEEP_DAYS + 1)
    kept(demo, long_ago, 1, span=86400)
    headroom.sample_headroom()
    assert not HeadroomSample.objects.filter(name="x").exists()


def test_the_page_shows_answers_and_their_history(
    demo: Cluster, browser: Client
) -> None:
    headroom.sample_headroom()
    text = browser.get(PAGE).content.decode()
    assert "gpu.nvidia.com" in text
    assert "not enough looks yet" in text
    HeadroomSample.objects.update(at=timezone.now() - timedelta(hours=2))
    headroom.sample_headroom()
    text = browser.get(f"{PAGE}?period=week").content.decode()
    assert "<polyline points=" in text
    assert "Between " in text
    assert browser.get(f"{PAGE}?period=nonsense").status_code == 200


def test_operators_change_the_list_and_viewers_do_not(
    demo: Cluster, browser: Client, person: Callable[..., User]
) -> None:
    text = "- name: two\n  claims:\n  - devices:\n      requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com}}]\n"
    assert browser.post(PAGE, {"shapes": text}).status_code == 403
    operator = Client()
    operator.force_login(person("operator"))
    assert operator.post(PAGE, {"shapes": text}).status_code == 302
    assert HeadroomShape.objects.get().name == "two"
    wrong = operator.post(PAGE, {"shapes": "- name: two"}).content.decode()
    assert "shapes[0]: must have name and claims" in wrong
    assert "- name: two" in wrong
    operator.post(PAGE, {"shapes": ""})
    assert not HeadroomShape.objects.exists()
