"""What advice keeps with a table of devices."""

from __future__ import annotations

import numpy as np

from dra.cel.reads import Read
from dra.snapshot import Snapshot
from dra.validation.advice.ground import ANYWHERE, ground
from tests.dra.validation.objects import piece

DRIVER = "gpu.example.com"


def _table(*slices):
    return Snapshot.build(slices).devices(lists=True)


def test_devices_of_one_node_have_one_place():
    table = _table(
        piece(DRIVER, {"name": "a"}, {"name": "b"}, node="n1"),
        piece(DRIVER, {"name": "c"}, node="n2"),
        piece("nic.example.com", {"name": "d"}, allNodes=True),
        piece(
            "x.example.com",
            {"name": "e", "nodeName": "n2"},
            perDeviceNodeSelection=True,
        ),
    )
    names = [str(table.ids[row]).rsplit("/", 1)[-1] for row in range(len(table))]
    places = dict(zip(names, ground(table).nodes.tolist(), strict=True))
    assert places["a"] == places["b"] != places["c"] == places["e"]
    assert places["d"] == ANYWHERE


def test_a_list_counts_as_what_is_in_it():
    values = [{"int": -1}, {"int": 2}, {"ints": [3]}, {"string": "x"}, {"bool": True}]
    table = _table(
        piece(
            DRIVER,
            *(
                {"name": f"d-{index}", "attributes": {"a": value}}
                for index, value in enumerate(values)
            ),
            {"name": "none"},
        )
    )
    column = table.columns[Read("attributes", DRIVER, "a")]
    kinds = ground(table).kinds(column)
    assert kinds.has_lists
    assert kinds.types(column.codes) == {"int", "string", "bool"}
    assert kinds.types(column.codes[:3]) == {"int"}
    assert kinds.types(column.codes[5:]) == set()
    assert np.flatnonzero(np.isin(column.codes, kinds.unknown)).tolist() == [0]


def test_it_is_made_once_for_a_table():
    table = _table(piece(DRIVER, {"name": "a"}))
    assert ground(table) is ground(table)
