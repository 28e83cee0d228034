"""A gallery is made once and made anew when the cluster has changed."""

from __future__ import annotations

import pytest

from claims.authoring.gallery import forget, gallery, keeping
from dra.names import ObjectKey
from inventory.models import Cluster
from tests.claims.authoring.gallery.worlds import class_, snapshot
from tests.dra.builders import claim, result

CLUSTER = Cluster(pk=1, name="lab", version="v1.36.2")
LIST = "vendor.example/chip"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setattr(keeping, "PATIENCE", 0.0)


def test_the_same_state_is_not_looked_at_twice() -> None:
    world = snapshot("odd")
    first, second = gallery(CLUSTER, world), gallery(CLUSTER, world)
    assert [id(e) for e in first] == [id(e) for e in second]


def test_a_new_class_brings_new_examples() -> None:
    world = snapshot("gpu")
    before = gallery(CLUSTER, world)
    more = world.refresh([class_("another", "gpu.nvidia.com")], (), seq=2)
    codes = {e.code for e in gallery(CLUSTER, more)} - {e.code for e in before}
    assert "one:another" in codes
    gone = more.refresh((), [ObjectKey("DeviceClass", "", "another")], seq=3)
    assert gallery(CLUSTER, gone) == before


def test_only_what_is_in_use_is_asked_again_when_claims_change() -> None:
    world = snapshot("gpu")
    before = gallery(CLUSTER, world)
    taken = claim("c", result("gpu-0", pool="node-00000", driver="gpu.nvidia.com"))
    after = gallery(CLUSTER, world.refresh([taken], (), seq=2))
    assert [id(e.documents) for e in after] == [id(e.documents) for e in before]


def test_on_a_busy_cluster_an_answer_may_be_a_little_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keeping, "PATIENCE", 1e9)
    world = snapshot("gpu")
    before = gallery(CLUSTER, world)
    assert gallery(CLUSTER, world.refresh((), (), seq=2)) == before


def test_clusters_and_versions_have_galleries_of_their_own() -> None:
    other = Cluster(pk=2, name="other", version="v1.34.0")
    new = {e.code for e in gallery(CLUSTER, snapshot("cap"))}
    old = {e.code for e in gallery(other, snapshot("cap"))}
    assert new - old == {"share:gpu.nvidia.com", "apart:gpu.nvidia.com"}
