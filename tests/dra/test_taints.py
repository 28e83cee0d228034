from __future__ import annotations

import pytest

from dra.names import DeviceID
from dra.objects import (
    DeviceTaint,
    DeviceTaintRule,
    ResourceSlice,
    Toleration,
    read,
)
from dra.pools import make_pool
from dra.taints import TaintRules, tolerates, untolerated
from tests.dra.builders import DRIVER, device, piece, taint_rule

TAINT = DeviceTaint(key="xid", value="79", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "matches"),
    [
        ({"key": "xid", "operator": "Exists"}, True),
        ({"key": "xid", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "xid", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"operator": "Exists"}, True),
        ({"key": "xid", "operator": "Equal", "value": "79"}, True),
        ({"key": "xid", "operator": "Equal", "value": "80"}, False),
        ({"key": "xid", "value": "79"}, True),
        ({"key": "xid"}, False),
        ({"operator": "Equal", "value": "79"}, True),
        ({"key": "xid", "operator": "Near", "value": "79"}, False),
        (
            {"key": "xid", "value": "79", "operator": "Equal", "tolerationSeconds": 0},
            True,
        ),
    ],
)
def test_a_toleration_matches_by_key_value_and_effect(toleration, matches):
    assert tolerates(read(toleration, Toleration), TAINT) is matches


@pytest.mark.parametrize(
    ("effect", "prevents"),
    [
        ("NoSchedule", True),
        ("NoExecute", True),
        ("None", False),
        ("", False),
        ("PreferNoSchedule", False),
    ],
)
def test_only_two_effects_keep_claims_away(effect, prevents):
    taint = DeviceTaint(key="k", effect=effect)
    assert (untolerated([taint], None) is taint) is prevents


def test_every_taint_needs_a_toleration():
    other = DeviceTaint(key="other", effect="NoExecute")
    tolerations = [Toleration(key="xid", operator="Exists")]
    assert untolerated([TAINT], tolerations) is None
    assert untolerated([TAINT, other], tolerations) is other


@pytest.mark.parametrize(
    ("selector", "means"),
    [
        ({}, {"d/p/x", "d/p/y", "d/q/x", "e/p/x"}),
        ({"driver": "d"}, {"d/p/x", "d/p/y", "d/q/x"}),
        ({"pool": "p"}, {"d/p/x", "d/p/y", "e/p/x"}),
        ({"device": "x"}, {"d/p/x", "d/q/x", "e/p/x"}),
        ({"driver": "d", "pool": "p", "device": "x"}, {"d/p/x"}),
        ({"driver": ""}, set()),
    ],
)
def test_a_rule_means_the_devices_that_equal_all_it_asks_for(selector, means):
    rule = read(taint_rule("r", **selector), DeviceTaintRule)
    devices = [
        DeviceID("d", "p", "x"),
        DeviceID("d", "p", "y"),
        DeviceID("d", "q", "x"),
        DeviceID("e", "p", "x"),
    ]
    found = {str(d) for d in devices if TaintRules([rule]).for_device(d)}
    assert found == means


def test_taints_of_rules_come_by_name_of_the_rule():
    raws = [taint_rule("b", driver=DRIVER), taint_rule("a"), taint_rule("c", pool="p")]
    rules = TaintRules(read(raw, DeviceTaintRule) for raw in raws)
    found = rules.for_device(DeviceID(DRIVER, "p", "x"))
    assert [taint.rule for taint in found] == ["a", "b", "c"]


def test_a_pool_gets_the_taints_of_its_devices():
    pool = make_pool([read(piece("s", device("x"), device("y")), ResourceSlice)])
    rules = TaintRules([read(taint_rule("r", device="y"), DeviceTaintRule)])
    assert list(rules.for_pool(pool)) == ["y"]
    other = TaintRules([read(taint_rule("r", pool="other"), DeviceTaintRule)])
    assert other.for_pool(pool) == {}
    assert TaintRules([]).for_pool(pool) == {}
