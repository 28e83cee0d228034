"""Requests on the same terms are looked at together, and find what each finds alone."""

from __future__ import annotations

from collections import Counter

from dra.allocation.counts import (
    Standing,
    availability,
    candidates,
    count,
    standings,
    terms_of,
)
from dra.allocation.errors import AllocationError
from dra.allocation.explaining.shortages import shortage_of
from dra.allocation.explaining.surveying import Survey
from dra.allocation.features import Features
from dra.allocation.outcome import Budget
from dra.allocation.placing import Question
from dra.allocation.request import with_defaults
from tests.dra.allocation.test_sweep import CASES, claims_of, snapshot_of

BUDGET = Budget(steps=3_000)


def test_a_look_at_a_node_is_that_of_each_request_by_itself() -> None:
    shared = short = 0
    for case in CASES[::3]:
        snapshot = snapshot_of(case)
        claims = [with_defaults(claim) for claim in claims_of(case)]
        features = Features.from_gates(case["features"])
        for name in sorted(snapshot.nodes):
            question = Question(snapshot, claims, features=features, budget=BUDGET)
            survey = Survey(question, [name], counting=False)
            kin = survey.by_name()[name]
            try:
                search = question.prepared(name)
            except AllocationError:
                continue  # said as the error of these nodes
            terms = {terms_of(ask) for ask in survey.claims}
            shared += len(survey.claims) > len(terms)
            for ask, claim in survey.claims.items():
                assert kin.counts[ask] == count(search, claim, ask)
                pairs = list(
                    zip(candidates(search), standings(search, ask), strict=True)
                )
                lacking = Counter(
                    what
                    for candidate, standing in pairs
                    for what in shortage_of(search, ask, candidate, standing)
                )
                assert survey.shortages[ask] == lacking
                short += bool(lacking)
                available = Counter(
                    availability(search, ask, candidate)
                    if standing is Standing.UNWANTED
                    else standing
                    for candidate, standing in pairs
                )
                found = Counter(survey.available[ask].tolist())
                for standing in Standing:
                    if standing > Standing.UNUSABLE:
                        assert found[standing] == available[standing], standing
    # The test means nothing unless both came about.
    assert min(shared, short) > 20, (shared, short)
