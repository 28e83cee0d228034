"""Each planted fault is found exactly once, and nothing is found where nothing is wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from dra.audits import MEANINGS, SEVERITIES, Code
from tests.dra.audits.faults import PLANTS, planted
from tests.dra.audits.world import after, clean, found_in

DRIFT = {Code.ATTRIBUTE_DROPPED, Code.ATTRIBUTE_RETYPED}
"""What only two snapshots show."""


def test_nothing_is_found_where_nothing_is_wrong():
    assert found_in(*clean()) == []
    assert after(clean(), clean()) == []


@pytest.mark.parametrize("code", list(Code))
def test_a_fault_is_found_exactly_once_and_nothing_else(code):
    found = after(clean(), planted(code)) if code in DRIFT else found_in(*planted(code))

    assert [one.code for one in found] == [code]
    (one,) = found
    assert one.severity == MEANINGS[code].severity
    assert one.sentence.endswith(".")
    assert one.why
    assert one.repair


@pytest.mark.parametrize("code", list(Code))
def test_a_fault_that_is_mended_is_found_no_more(code):
    found = after(clean(), planted(code), clean())

    # A name that was there for a moment is one that is no longer published.
    brief = [Code.ATTRIBUTE_DROPPED] if code == Code.ATTRIBUTE_UNCOMMON else []
    assert [one.code for one in found] == brief


def test_all_faults_together_are_found_once_each():
    """All but those that get in each other's way."""
    alone = {
        Code.RULE_MATCHES_EVERYTHING,
        *DRIFT,
        Code.NODE_DRIVER_MISSING,
    }
    apart = [PLANTS[code] for code in Code if code not in alone]
    cluster = clean()
    known = {(o["kind"], o["metadata"]["name"]) for o in cluster}
    for number, plant in enumerate(apart):
        planted_ = plant(cluster)
        for new in planted_[len(cluster) :]:
            _move_apart(new, known, number)
        cluster = planted_

    found = Counter(one.code for one in found_in(*cluster))

    assert found == {code: 1 for code in Code if code not in alone}


def _move_apart(new, known, number):
    """Another pool for each planted pool, and device for each planted claim."""
    name = (new["kind"], new["metadata"]["name"])
    if new["kind"] == "ResourceSlice" and new["spec"].get("pool"):
        new["metadata"]["name"] += f"-{number}"
        new["spec"]["pool"] = {**new["spec"]["pool"], "name": f"x-{number}"}
    elif new["kind"] == "ResourceClaim":
        for result in _results(new):
            if result["pool"] == "n3" and result["device"] == "gpu-0":
                place = len([k for k in known if k[0] == "placed"])
                known.add(("placed", place))
                result["pool"] = f"n{3 + place // 4}"
                result["device"] = f"gpu-{place % 4}"
    known.add(name)


def _results(claim):
    allocation = claim.get("status", {}).get("allocation", {})
    return allocation.get("devices", {}).get("results", [])


def test_every_code_has_a_meaning_and_every_severity_is_used():
    assert set(MEANINGS) == set(Code)
    assert {meaning.severity for meaning in MEANINGS.values()} == set(SEVERITIES)
    for meaning in MEANINGS.values():
        assert meaning.why.endswith(".")
        assert meaning.repair[-1] in ".…"
