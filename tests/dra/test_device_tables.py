"""Tables of a world that is only thought of."""

from __future__ import annotations

from dataclasses import replace

from dra.allocation.traits import uses_of
from dra.device_states import table_states
from dra.snapshot import Snapshot
from dra.usage import NOTHING_IN_USE
from tests.dra.builders import claim, device, piece, result


def test_a_world_apart_shares_tables_and_remembers_for_itself() -> None:
    world = Snapshot.build(
        [piece("s", device("gpu-0"), device("gpu-1")), claim("c", result("gpu-0"))]
    )
    table, states = world.devices(), table_states(world).tolist()
    uses = uses_of(world, table)
    apart = replace(
        world, in_use=NOTHING_IN_USE, device_tables=world.device_tables.apart()
    )
    assert apart.devices() is table
    assert table_states(apart).tolist() != states
    assert uses_of(apart, table).codes.tolist() == [0, 0]
    assert table_states(world).tolist() == states
    assert uses_of(world, table) is uses
