"""Quirks that are about nothing here make no difference; of the others each does somewhere."""

from __future__ import annotations

from collections import Counter

from dra.allocation import Fits
from dra.allocation.explaining.differing import telling_quirks
from dra.allocation.features import Features
from dra.allocation.outcome import Budget
from dra.allocation.placing import Question
from dra.allocation.quirks import ALL, Quirk
from dra.allocation.request import with_defaults
from dra.errors import DRAError
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot
from tests.dra.allocation import recorded
from tests.dra.allocation.test_sweep import claims_of, snapshot_of

BUDGET = Budget(steps=3_000)


def question(
    snapshot: Snapshot,
    claims: list[ResourceClaim],
    features: Features,
    without: Quirk | None = None,
) -> Question:
    quirks = ALL - {without} if without else ALL
    return Question(snapshot, claims, features=features, quirks=quirks, budget=BUDGET)


def given(asked: Question, name: str) -> object:
    """The devices that a node gives, or why there are none."""
    try:
        found = asked.on_node(name)
    except DRAError as error:
        return type(error), str(error)
    if not isinstance(found, Fits):
        return type(found)
    return [
        [(r.request, r.driver, r.pool, r.device) for r in a.devices.results or ()]
        for a in found.allocations
    ]


def test_a_quirk_that_is_left_out_changes_nothing_on_any_node() -> None:
    left_out: Counter[Quirk] = Counter()
    told: Counter[Quirk] = Counter()
    for case in list(recorded.cases("cluster"))[::4]:
        snapshot = snapshot_of(case)
        claims = [with_defaults(claim) for claim in claims_of(case)]
        features = Features.from_gates(case["features"])
        telling = telling_quirks(question(snapshot, claims, features))
        told.update(telling)
        for quirk in sorted(ALL - telling):
            left_out[quirk] += 1
            for name in sorted(snapshot.nodes)[:3]:
                with_all = given(question(snapshot, claims, features), name)
                without = given(question(snapshot, claims, features, quirk), name)
                assert with_all == without, (case["id"], quirk, name)
    assert len(left_out) >= 8, left_out
    assert len(told) >= 10, told
