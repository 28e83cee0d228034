from __future__ import annotations

import pytest

from dra.names import DeviceID, PoolKey, qualified_name, split_qualified_name


@pytest.mark.parametrize(
    ("name", "domain", "identifier"),
    [
        ("memory", "gpu.example.com", "memory"),
        ("resource.kubernetes.io/numaNode", "resource.kubernetes.io", "numaNode"),
        ("a/b/c", "a", "b/c"),
        ("/x", "", "x"),
    ],
)
def test_a_name_without_a_slash_is_in_the_domain_of_the_driver(
    name, domain, identifier
):
    assert split_qualified_name(name, "gpu.example.com") == (domain, identifier)


def test_a_name_is_written_out_once():
    assert qualified_name("memory", "gpu.example.com") == "gpu.example.com/memory"
    assert qualified_name("dra.net/rdma", "gpu.example.com") == "dra.net/rdma"
    assert str(split_qualified_name("memory", "d")) == "d/memory"


def test_keys_are_equal_to_plain_tuples():
    assert PoolKey("d", "p") == ("d", "p")
    assert DeviceID("d", "p", "x") == ("d", "p", "x")
    assert str(DeviceID("d", "p", "x")) == "d/p/x"
