"""In mode 1.36 the engine answers what the 1.36.2 allocator answered.

A wrong answer or a crash is a failure; so is a refusal, since nothing that was
recorded is refused any more.
"""

from __future__ import annotations

import json

import pytest

from dra.allocation.command import run_lines
from tests.dra.allocation import recorded

PROBES = {case["id"]: case for case in recorded.cases("probes")}


@pytest.mark.parametrize("probe", PROBES)
def test_a_rule_is_kept(probe):
    case = PROBES[probe]

    (line,) = run_lines([recorded.question(case)])

    answer = json.loads(line)
    assert recorded.agrees(case["expect"], answer), (case["expect"], answer)


@pytest.mark.parametrize("name", ["random", "cluster"])
def test_random_clusters_get_the_recorded_answers(name):
    cases = list(recorded.cases(name))

    answers = [json.loads(a) for a in run_lines(map(recorded.question, cases))]

    assert len(answers) == len(cases)
    wrong = [
        case["id"]
        for case, answer in zip(cases, answers, strict=True)
        if not recorded.agrees(case["expect"], answer)
    ]
    assert wrong == []
