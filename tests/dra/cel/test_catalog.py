"""What a cluster publishes, counted."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra.cel.catalog import EXAMPLES, catalog, type_of, value_text
from dra.cel.devices import split_name
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.objects import DeviceAttribute, DeviceCapacity
from tests.dra.cel.advice.clusters import device, real_drivers

TYPE = Read("attributes", "gpu.nvidia.com", "type")
MEMORY = Read("capacity", "gpu.nvidia.com", "memory")


def test_a_column_is_counted_with_types_and_most_common_values():
    found = catalog(real_drivers())[TYPE]
    assert found.types == {"string": 432}
    assert (found.devices, found.distinct) == (432, 2)
    assert found.examples == ("mig", "gpu")


def test_unique_values_are_counted_and_few_shown():
    found = catalog(real_drivers())[Read("attributes", "gpu.nvidia.com", "uuid")]
    assert found.distinct == found.devices == 84
    assert len(found.examples) == EXAMPLES


def test_capacities_versions_and_fields_have_types():
    known = catalog(real_drivers()).known
    assert known[MEMORY].types == {"quantity": 432}
    version = Read("attributes", "gpu.nvidia.com", "driverVersion")
    assert known[version].types == {"version": 432}
    assert known[Read("driver")].types == {"string": 568}
    assert known[Read("allowMultipleAllocations")].types == {"bool": 568}


def test_domains_are_counted_by_device():
    known = catalog(real_drivers())
    assert known.domains("attributes") == {
        "dra.cpu": 40,
        "dra.net": 64,
        "gpu.amd.com": 32,
        "gpu.nvidia.com": 432,
        "resource.kubernetes.io": 568,
    }
    assert known.domains("capacity") == {
        "dra.cpu": 40,
        "gpu.amd.com": 32,
        "gpu.nvidia.com": 432,
    }


def test_it_is_made_once_for_a_table():
    assert catalog(real_drivers()) is catalog(real_drivers())


def test_what_nobody_publishes_is_not_in_it():
    known = catalog(real_drivers())
    wanted = Read("attributes", "gpu.nvidia.com", "nope")
    assert wanted not in known
    with pytest.raises(KeyError):
        known[wanted]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        (("attributes", "gpu.nvidia.com", "productname"), (TYPE[:2], "productName")),
        (("attributes", "gpu.nvidia.com", "memory"), (MEMORY[:2], "memory")),
        (("attributes", "nvidia.com/gpu", "type"), (TYPE[:2], "type")),
        (("attributes", "nvidia.com", "tpye"), (TYPE[:2], "type")),
        (
            ("attributes", "gpu.nvidia.com", "numaNode"),
            (("attributes", "resource.kubernetes.io"), "numaNode"),
        ),
    ],
)
def test_what_was_probably_meant_is_found(wanted, meant):
    first, *_ = catalog(real_drivers()).near(Read(*wanted))
    assert (first[:2], first.identifier) == meant


def test_a_name_of_other_devices_is_not_what_was_meant():
    wanted = Read("attributes", "gpu.nvidia.com", "ifName")
    assert wanted._replace(domain="dra.net") in catalog(real_drivers())
    assert catalog(real_drivers()).near(wanted) == ()


def test_drivers_and_domains_of_like_names_are_found():
    known = catalog(real_drivers())
    assert known.near(Read("driver", "nvidia.com/gpu")) == (
        Read("driver", "gpu.nvidia.com"),
    )
    assert known.near(Read("capacity", "gpu.nvidia.co")) == (
        Read("capacity", "gpu.nvidia.com"),
    )


@pytest.mark.parametrize(
    ("raw", "kind", "text"),
    [
        (DeviceAttribute(string=""), "string", ""),
        (DeviceAttribute(int_=-1), "int", "-1"),
        (DeviceAttribute(bool_=False), "bool", "false"),
        (DeviceAttribute(version="1.0.0"), "version", "1.0.0"),
        (DeviceAttribute(ints=[1, 2]), "ints", "[1, 2]"),
        (DeviceAttribute(bools=[True]), "bools", "[true]"),
        (DeviceAttribute(strings=[]), "strings", "[]"),
        (DeviceAttribute(), "nothing", ""),
        (DeviceCapacity(value="80Gi"), "quantity", "80Gi"),
        (DeviceCapacity(value=5), "quantity", "5"),
        (True, "bool", "true"),
        ("dra.net", "string", "dra.net"),
    ],
)
def test_values_have_a_type_and_a_text(raw, kind, text):
    assert (type_of(raw), value_text(raw)) == (kind, text)


values = st.sampled_from(["a", "b", "A", 1, 2, True, "v:1.0.0", "v:broken"])
names = st.sampled_from(["x", "y", "e.example/x"])
devices = st.lists(
    st.builds(
        device,
        st.sampled_from(["d.example", "e.example"]),
        st.dictionaries(names, values),
    ),
    max_size=20,
)


@settings(deadline=None)
@given(devices)
def test_counts_are_those_of_the_devices(found):
    known = catalog(DeviceTable.of(found))
    published: dict[Read, list[DeviceAttribute]] = {}
    for each in found:
        raws = {}
        for name, raw in each.attributes.items():
            raws[Read("attributes", *split_name(name, each.driver))] = raw
        for read, raw in raws.items():
            published.setdefault(read, []).append(raw)
    attributes = {read for read in known if read.kind == "attributes"}
    assert attributes == set(published)
    for read, values in published.items():
        counted = Counter(values)
        assert known[read].devices == len(values)
        assert known[read].types == Counter(map(type_of, values))
        assert known[read].distinct == len(counted)
        most = sorted(counted.values(), reverse=True)[:EXAMPLES]
        shown = Counter(map(value_text, values))
        if len(shown) == len(counted):
            assert [shown[text] for text in known[read].examples] == most


def test_an_unused_value_of_an_earlier_table_does_not_count():
    table = DeviceTable.of([device(), device("d.example", {"x": "a"})])
    column = table.columns[Read("attributes", "d.example", "x")]
    column.dictionary.encode([DeviceAttribute(int_=1)])
    assert catalog(table)[column.read].types == {"string": 1}
