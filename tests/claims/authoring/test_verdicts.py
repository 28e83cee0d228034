"""The first sentence of a preview: which reason counts."""

from __future__ import annotations

from dra.snapshot import Snapshot
from tests.allocator import builders as build
from tests.claims.authoring.test_previewing import preview, wanted


def test_a_capacity_that_no_device_can_give_is_the_reason_before_what_is_in_use() -> (
    None
):
    held = build.allocated("holder", build.result("n0", "gpu-0"))
    world = Snapshot.build([*build.lab(2), held])

    def asking(**amounts: str) -> str:
        request = build.request(capacity={"requests": amounts})
        return preview(world, wanted(request)).sentence

    start = "Fits nowhere: 4 devices match, but none can give what is asked of"
    assert asking(memory="90Gi") == (
        f"{start} memory: it asks 90Gi, more than the device has, 80Gi."
    )
    assert asking(memory="1Gi", cores="2") == (
        f"{start} cores: it asks 2, but the device has no cores."
    )
