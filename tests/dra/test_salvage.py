"""What claims hold that cannot be read: it stays in use, or a sentence says why not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra.allocation import DoesNotFit, place
from dra.names import DeviceID, ObjectKey
from dra.objects import ResourceClaim, read
from dra.salvage import salvage_claim
from dra.snapshot import Snapshot
from tests.dra.builders import (
    DRIVER,
    Json,
    claim,
    device,
    node,
    piece,
    result,
    taint_rule,
)

BROKEN_SPEC = {"devices": {"requests": [{"name": 7}]}}
GPU = DeviceID(DRIVER, "pool", "gpu-0")


def broken(name: str = "claim", *results: Any, **status: Any) -> Json:
    """A claim whose spec cannot be read, with ``results`` in its status."""
    made = claim(name) | {"spec": BROKEN_SPEC}
    made["status"] = {"allocation": {"devices": {"results": list(results)}}} | status
    return made


def doubt_of(**status: Any) -> str:
    raw = claim() | {"status": status}
    return salvage_claim(raw, namespace="default", name="claim").doubt


def world(*claims: Json) -> list[Json]:
    gpu_class = {
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": "true"}}]},
    }
    return [node(), gpu_class, piece("s", device(), nodeName="n1"), *claims]


def test_its_devices_are_in_use():
    snapshot = Snapshot.build(world(broken("held", result())))

    (holder,) = snapshot.in_use.holders(GPU)
    assert holder[:4] == ("default", "held", "uid-held", 0)
    assert ("default", "held") not in snapshot.claims
    assert [p.name for p in snapshot.problems] == ["held"]
    assert snapshot.doubts == ()


def test_nobody_else_gets_its_device():
    snapshot = Snapshot.build(world(broken("held", result()), claim("waits")))

    answer = place(snapshot, [snapshot.claims["default", "waits"]])

    assert isinstance(answer, DoesNotFit)
    free = snapshot.edit(remove=[ObjectKey("ResourceClaim", "default", "held")])
    assert not isinstance(place(free, [free.claims["default", "waits"]]), DoesNotFit)


def test_it_is_in_use_once_when_the_claim_is_mended_and_free_when_it_goes():
    unreadable = Snapshot.build([broken("held", result())])
    mended = unreadable.refresh([claim("held", result())], [], seq=1)
    assert len(mended.in_use.holders(GPU)) == 1
    assert not mended.problems
    again = mended.refresh([broken("held", result())], [], seq=2)
    assert again == unreadable
    gone = again.refresh([], [ObjectKey("ResourceClaim", "default", "held")], seq=3)
    assert not gone.in_use.by_pool
    assert gone == Snapshot.build([])


def test_it_moves_with_what_the_claim_says_while_it_stays_unreadable():
    first = Snapshot.build([broken("held", result())])
    second = first.refresh([broken("held", result("gpu-1"))], [], seq=1)
    assert not second.in_use.holders(GPU)
    assert second.in_use.holders(DeviceID(DRIVER, "pool", "gpu-1"))


def test_admin_access_holds_nothing_even_where_its_device_cannot_be_told():
    snapshot = Snapshot.build(
        [broken("watch", result(adminAccess=True), {"adminAccess": True})]
    )
    assert not snapshot.in_use.holders(GPU)
    assert not snapshot.doubts


@pytest.mark.parametrize("admin", [1, "true", {}, None, False])
def test_only_true_is_admin_access(admin: Any):
    snapshot = Snapshot.build([broken("held", result(adminAccess=admin))])
    assert snapshot.in_use.holders(GPU)


def test_a_share_stays_a_share_with_its_amounts():
    share = result(shareID="s", consumedCapacity={"memory": "1Gi"})
    (holder,) = Snapshot.build([broken("held", share)]).in_use.holders(GPU)
    assert holder.result.share_id == "s"
    assert holder.result.consumed_capacity == {"memory": "1Gi"}


@pytest.mark.parametrize("amounts", [7, [], {"memory": "12 parsecs"}, {"memory": {}}])
def test_a_share_of_unknown_size_counts_as_the_whole_device(amounts: Any):
    share = result(shareID="s", consumedCapacity=amounts)
    (holder,) = Snapshot.build([broken("held", share)]).in_use.holders(GPU)
    assert holder.result.share_id is None


@pytest.mark.parametrize(
    ("status", "field"),
    [
        ({"allocation": "yes"}, "status.allocation should be an object and is text"),
        ({"allocation": {"devices": []}}, "status.allocation.devices should"),
        ({"allocation": {"devices": {"results": {}}}}, ".results should be a list"),
        ({"allocation": {"devices": {"results": [3]}}}, "results[0] should be"),
        (
            {
                "allocation": {
                    "devices": {"results": [result(), result() | {"pool": 4}]}
                }
            },
            "results[1].pool should be text and is a number",
        ),
        (
            {"allocation": {"devices": {"results": [result() | {"device": None}]}}},
            "results[0].device should be text and is missing",
        ),
    ],
)
def test_what_cannot_be_told_is_said_with_claim_and_field(status: Any, field: str):
    doubt = doubt_of(**status)
    assert doubt.startswith(
        "Which devices the claim default/claim holds cannot be told"
    )
    assert field in doubt


def test_what_can_be_told_beside_a_doubtful_entry_is_in_use():
    snapshot = Snapshot.build([broken("held", result(), 3)])
    assert snapshot.in_use.holders(GPU)
    assert len(snapshot.doubts) == 1


@pytest.mark.parametrize(
    "status",
    [{}, {"allocation": None}, {"allocation": {}}, {"allocation": {"devices": {}}}],
)
def test_a_claim_that_was_given_nothing_holds_nothing(status: Any):
    assert not doubt_of(**status)


def test_a_status_that_is_no_object_is_a_doubt():
    raw = claim() | {"status": [1]}
    assert salvage_claim(raw, namespace="n", name="c").doubt
    assert not salvage_claim(claim(), namespace="n", name="c").doubt


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("gpu-0"),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["driver", "pool", "device", "results", "devices"]), inner
        )
    ),
    max_leaves=6,
)


@given(JUNK, JUNK, JUNK)
def test_it_never_raises_and_never_loses_a_plain_result(one: Any, two: Any, three: Any):
    raw = broken("c", result(), one, reservedFor=two, devices=three)
    found = salvage_claim(raw, namespace="default", name="c")
    results = found.claim.status.allocation.devices.results  # type: ignore[union-attr]  # given above
    assert results[0].device == "gpu-0"  # type: ignore[index]  # given above


@given(st.lists(st.sampled_from(["gpu-0", "gpu-1"]), max_size=3), st.booleans())
def test_of_a_readable_claim_it_tells_what_reading_tells(names: list[str], admin: bool):
    raw = claim("c", *(result(name, adminAccess=admin or None) for name in names))
    found = salvage_claim(raw, namespace="default", name="c").claim
    assert found.status == read(raw, ResourceClaim).status


def test_a_taint_rule_that_cannot_be_read_is_a_doubt_until_it_is_mended_or_gone():
    rule = {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "odd"},
        "spec": {"taint": 7},
    }
    snapshot = Snapshot.build(world(claim("waits"), rule))

    (doubt,) = snapshot.doubts
    assert doubt.startswith("Which devices the taint rule odd taints cannot be told")
    assert "spec.taint" in doubt
    assert not snapshot.edit(add=[taint_rule("odd")]).doubts
    gone = snapshot.edit(remove=[ObjectKey("DeviceTaintRule", "", "odd")])
    assert not gone.doubts


def test_another_object_that_cannot_be_read_is_no_doubt():
    broken_node = {"kind": "Node", "metadata": {"name": "n9"}, "spec": 7}
    snapshot = Snapshot.build(world(broken_node))
    assert snapshot.problems
    assert not snapshot.doubts
