"""A table of devices, and the table of the next state of the cluster."""

from __future__ import annotations

import json
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra import cel
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.names import DeviceID, ObjectKey
from dra.snapshot import Snapshot

A = 'device.attributes["d.example"]'
EXPRESSIONS = [
    'device.driver == "d.example"',
    f'{A}.x == "a"',
    f"has({A}.y) && {A}.y == {A}.z",
    f'{A}.exists(k, k == "y") || "other.example" in device.attributes',
    f"{A}.all(k, v, v != 1)",
    f'{A}.v.isGreaterThan(semver("1.5.0"))',
    'device.capacity["d.example"].m.asInteger() > 1',
    "device.attributes.exists(d, d == 'other.example')",
    "device.attributes.size() + device.capacity.size() > 1",
    f'{A}.?x.hasValue() && "zz" in device.attributes || {A}.?x.orValue("a") == "a"',
    "[device].exists(d, d.allowMultipleAllocations)",
]

values = st.one_of(
    st.sampled_from(["a", "b"]).map(lambda text: {"string": text}),
    st.integers(0, 2).map(lambda number: {"int": number}),
    st.sampled_from(["1.0.0", "2.0.0", "not one"]).map(lambda v: {"version": v}),
    st.just({"strings": ["a"]}),
)
names = st.sampled_from(["x", "y", "z", "v", "d.example/x", "other.example/o"])
devices = st.fixed_dictionaries(
    {
        "attributes": st.dictionaries(names, values, max_size=4),
        "capacity": st.dictionaries(
            st.just("m"), st.sampled_from(["1", "2Gi"]).map(lambda q: {"value": q})
        ),
    },
    optional={"allowMultipleAllocations": st.booleans()},
)
slices = st.dictionaries(
    st.sampled_from([f"s{n}" for n in range(5)]), st.lists(devices, max_size=3)
)


def slice_json(name, published, *, driver="d.example"):
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "allNodes": True,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"dev-{n}"} | d for n, d in enumerate(published)],
        },
    }


def answers(table: DeviceTable, expression: str, *, lists: bool = False):
    program = cel.compile(
        expression, features=cel.CelFeatures(list_type_attributes=lists)
    )
    return [a if isinstance(a, bool) else str(a) for a in table.select(program)]


def alone(table: DeviceTable, expression: str):
    program = cel.compile(expression)
    found: list[bool | str] = []
    for row in range(len(table)):
        try:
            found.append(program.evaluate(table.device(row)))
        except cel.EvaluationError as error:
            found.append(str(error))
    return found


@settings(max_examples=60, deadline=None)
@given(states=st.lists(slices, min_size=1, max_size=4), asked=st.data())
def test_a_table_that_follows_answers_like_one_made_anew(states, asked):
    snapshot = Snapshot.build([])
    for seq, state in enumerate(states):
        changed = [slice_json(name, published) for name, published in state.items()]
        gone = [
            ObjectKey("ResourceSlice", "", name)
            for name in snapshot.slices
            if name not in state
        ]
        snapshot = snapshot.refresh(changed, gone, seq=seq)
        if asked.draw(st.booleans()):
            table = snapshot.devices()
            anew = Snapshot.build(changed).devices()
            assert list(table.ids) == list(anew.ids)
            assert table.columns.keys() == anew.columns.keys()
            for expression in EXPRESSIONS:
                assert answers(table, expression) == answers(anew, expression)
                assert answers(table, expression) == alone(table, expression)


def test_snapshots_with_the_same_slices_share_one_table():
    snapshot = Snapshot.build([slice_json("a", [{}])])
    node = {"kind": "Node", "metadata": {"name": "n"}}
    assert snapshot.refresh([node], (), seq=1).devices() is snapshot.devices()


def test_a_change_of_one_slice_evaluates_only_its_devices():
    asked = []

    class Counting:
        features = cel.CelFeatures()
        reads = frozenset({Read("attributes", "d.example", "n")})
        key = "counting"

        def evaluate_value(self, device):
            asked.append(device["attributes"]["d.example"]["n"])
            return True

    numbers = count()

    def published():
        return [{"attributes": {"n": {"int": next(numbers)}}} for _ in range(3)]

    snapshot = Snapshot.build(
        [slice_json("a", published()), slice_json("b", published())]
    )
    snapshot.devices().select(Counting())
    assert sorted(asked) == [0, 1, 2, 3, 4, 5]
    asked.clear()
    later = snapshot.refresh([slice_json("b", published())], (), seq=1)
    assert all(later.devices().select(Counting()))
    assert sorted(asked) == [6, 7, 8]


def test_values_that_went_away_do_not_pile_up():
    snapshot = Snapshot.build([slice_json("a", [{}] * 4)])
    keep = slice_json("b", [{"attributes": {"x": {"string": "kept"}}}] * 8)
    for seq in range(400):
        passing = [{"attributes": {"x": {"string": f"{seq}-{n}"}}} for n in range(4)]
        snapshot = snapshot.refresh([slice_json("a", passing), keep], (), seq=seq)
        column = snapshot.devices().columns[Read("attributes", "d.example", "x")]
    assert len(column.raws) < 1200
    assert answers(snapshot.devices(), f'{A}.x == "kept"').count(True) == 8
    assert answers(snapshot.devices(), f'{A}.x == "399-2"').count(True) == 1


def test_only_the_newest_generation_is_in_the_table():
    old, new = slice_json("old", [{}]), slice_json("new", [{}, {}])
    for piece, generation in ((old, 1), (new, 2)):
        piece["spec"]["pool"] |= {"name": "p", "generation": generation}
    table = Snapshot.build([old, new]).devices()
    assert list(table.ids) == [
        DeviceID("d.example", "p", "dev-0"),
        DeviceID("d.example", "p", "dev-1"),
    ]
    assert table.listing.row(table.ids[1]) == 1
    assert table.listing.row(DeviceID("d.example", "p", "gone")) is None


def test_work_ends_when_the_caller_says_so():
    published = [{"attributes": {"x": {"int": n}}} for n in range(600)]
    snapshot = Snapshot.build([json.loads(json.dumps(slice_json("a", published)))])
    looks = count()
    with pytest.raises(cel.Stopped, match="stopped after 512 of 600 evaluations"):
        snapshot.devices().select(
            cel.compile(f"{A}.x > 3"), stop=lambda: next(looks) == 512
        )
    assert answers(snapshot.devices(), f"{A}.x > 3").count(True) == 596


def test_a_program_of_another_gate_is_a_mistake_of_the_caller():
    table = Snapshot.build([slice_json("a", [{}])]).devices(lists=True)
    with pytest.raises(ValueError, match="gate of lists"):
        table.select(cel.compile("true"))
    assert answers(table, "true", lists=True) == [True]
