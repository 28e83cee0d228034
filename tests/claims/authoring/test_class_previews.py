"""What a class that is being written would match, and what changes for its users."""

from __future__ import annotations

from typing import Any

import pytest

from claims.authoring.class_previews import ClassPreview, class_preview
from dra.allocation import Features
from dra.snapshot import Snapshot
from tests.allocator import builders as build
from tests.allocator.builders import Json

FEATURES = Features.of_server("v1.36.2")
GPU = build.GPU


def model(value: str) -> str:
    return f'device.attributes["{GPU}"].model == "{value}"'


def devices() -> list[Json]:
    return [
        build.device(f"gpu-{n}", attributes={"model": {"string": f"A{n % 2}"}})
        for n in range(4)
    ]


@pytest.fixture(scope="module")
def world() -> Snapshot:
    """Two nodes with four GPUs: of model A0 one is held, of A1 one, of n1 none."""
    return Snapshot.build(
        [
            *build.lab(0),
            *(build.node(f"n{n}") for n in range(2)),
            *(build.slice_(f"n{n}", devices()) for n in range(2)),
            build.allocated("holder", build.result("n0", "gpu-0")),
            build.allocated("other", build.result("n0", "gpu-1")),
            build.claim("waits"),
        ],
        seq=7,
    )


def written(*expressions: str, name: str = GPU, **spec: Any) -> Json:
    selectors = [{"cel": {"expression": text}} for text in expressions]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": spec | ({"selectors": selectors} if selectors else {}),
    }


def preview(world: Snapshot, value: Json) -> ClassPreview:
    found = class_preview(world, value, FEATURES, stop=lambda: False)
    assert found is not None
    return found


def test_each_selector_is_counted_by_itself_and_all_of_them_together(
    world: Snapshot,
) -> None:
    found = preview(world, written(f'device.driver == "{GPU}"', model("A0")))
    assert [
        (s.counts.matching, s.counts.free) for s in found.selectors if s.counts
    ] == [
        (8, 6),
        (4, 3),
    ]
    assert found.counts is not None
    assert (found.counts.matching, found.counts.free, found.counts.in_use) == (4, 3, 1)
    assert found.sentence == "It would match 4 of 8 devices (3 free, 1 in use)."


def test_what_a_term_leaves_out_is_told(world: Snapshot) -> None:
    text = f'device.driver == "{GPU}" && {model("A0")}'
    (selector,) = preview(world, written(text)).selectors
    assert [(loss.name, loss.devices, loss.alone) for loss in selector.terms] == [
        (model("A0"), 4, 4)
    ]


def test_what_a_term_leaves_out_alone_is_part_of_what_it_leaves_out() -> None:
    made = [*devices(), build.device("gpu-9", attributes={})]
    world = Snapshot.build(
        [*build.lab(0), build.node("n0"), build.slice_("n0", made)], seq=1
    )
    (selector,) = preview(world, written(model("A0"))).selectors
    assert [(loss.devices, loss.alone) for loss in selector.terms] == [(2, 2)]
    assert [loss.devices for loss in selector.errors] == [1]


def test_devices_in_use_that_would_no_longer_match_are_named(world: Snapshot) -> None:
    found = preview(world, written(f'device.driver == "{GPU}"', model("A0")))
    assert found.change is not None
    assert (found.change.lost, found.change.gained) == (4, 0)
    assert [each.claim for each in found.change.examples] == [("lab", "other")]
    assert found.consequence == (
        "3 claims use this class; one of their devices would no longer match. What is "
        "held stays so until it is released. It would match 4 devices fewer than now."
    )


def test_a_change_that_matches_the_same_says_so(world: Snapshot) -> None:
    found = preview(world, written(f'"{GPU}" == device.driver'))
    assert found.consequence == (
        "3 claims use this class. It would match the same devices as now."
    )


def test_a_class_that_is_not_there_yet_may_be_waited_for(world: Snapshot) -> None:
    found = preview(world, written(model("A1"), name="new"))
    assert found.change is None
    assert found.consequence == (
        "There is no class of this name yet, and nothing asks for it."
    )
    waiting = world.edit(
        add=[build.claim("early", build.request(deviceClassName="new"))]
    )
    assert preview(waiting, written(model("A1"), name="new")).consequence == (
        "There is no class of this name yet; 1 claim asks for it and can be served once "
        "it is there."
    )


def test_a_class_without_selectors_matches_every_device(world: Snapshot) -> None:
    assert preview(world, written()).sentence == (
        "Without selectors it matches every device: 8 (6 free, 2 in use)."
    )


def test_a_selector_that_cannot_be_compiled_leaves_the_others_counted(
    world: Snapshot,
) -> None:
    found = preview(world, written(model("A0"), "device.driver =="))
    assert found.counts is None
    assert found.change is None
    first, second = found.selectors
    assert first.counts is not None
    assert second.problem == "It cannot be asked before it is put right."
    assert found.sentence == (
        "What it matches is not known: 1 selector cannot be asked."
    )


def test_a_selector_without_an_answer_is_told_with_a_device(world: Snapshot) -> None:
    found = preview(world, written(f'device.attributes["{GPU}"].missing == 1'))
    assert found.counts is not None
    assert found.counts.failing == 8
    assert "On 8 a selector has no answer" in found.sentence
    (selector,) = found.selectors
    assert [(loss.devices, loss.note) for loss in selector.errors] == [
        (8, "no such key: missing")
    ]
    assert selector.errors[0].example is not None


def test_other_kinds_and_what_cannot_be_read_have_no_preview(world: Snapshot) -> None:
    odd: list[Any] = [None, [], build.claim("x"), written() | {"spec": 5}]
    for value in odd:
        assert class_preview(world, value, FEATURES, stop=lambda: False) is None


def test_what_is_lost_to_claims_is_counted_once_per_device_and_claim() -> None:
    shares = [
        build.result("n0", "gpu-1", shareID=f"s{number}", consumedCapacity={"mem": "1"})
        for number in range(2)
    ]
    world = Snapshot.build(
        [
            *build.lab(0),
            build.node("n0"),
            build.slice_("n0", devices()),
            build.allocated("twice", *shares),
            build.allocated("also", build.result("n0", "gpu-1", shareID="s3")),
            build.allocated(
                "more", build.result("n0", "gpu-3"), build.result("n0", "gone")
            ),
            build.allocated("kept", build.result("n0", "gpu-0")),
        ]
    )
    found = preview(world, written(f'device.driver == "{GPU}"', model("A0"))).change
    assert found is not None
    assert (found.held_lost, found.claims_lost) == (2, 3)
    assert [(each.claim[1], each.device.device) for each in found.examples] == [
        ("twice", "gpu-1"),
        ("twice", "gpu-1"),
        ("also", "gpu-1"),
        ("more", "gpu-3"),
    ]
