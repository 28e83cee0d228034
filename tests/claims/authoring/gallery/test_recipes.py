"""What recipes make where the portal is told of more gates than a version has on."""

from __future__ import annotations

from claims.authoring.gallery.cookbook import cooked
from claims.authoring.gallery.scene import Scene
from dra.allocation import Features
from dra.validation import Gates
from tests.claims.authoring.gallery.worlds import snapshot

LISTS = Features.preset("1.36").override({"listTypeAttributes": True})


def test_a_list_is_asked_for_one_of_its_values() -> None:
    scene = Scene(snapshot("lists"), LISTS, Gates.of(LISTS, "1.36"))
    drafts = {draft.code: draft for draft, _ in cooked(scene)}
    lists = drafts["lists:chips"]
    (request,) = lists.needs[0]["requests"]
    assert request["exactly"]["selectors"] == [
        {"cel": {"expression": '"small" in device.attributes["vendor.example"].sizes'}}
    ]


def test_classes_that_people_mostly_want_come_first() -> None:
    features = Features.preset("1.36")
    scene = Scene(snapshot("demo"), features, Gates.preset("1.36"))
    assert [seen.name for seen in scene.classes] == [
        "gpu.nvidia.com",
        "gpu.amd.com",
        "rdma.dra.net",
        "shared-gpu.example.com",
        "dra.cpu",
        "mig.nvidia.com",
    ]
    parts = [seen.name for seen in scene.classes if scene.are_parts(seen)]
    assert parts == ["mig.nvidia.com"]
