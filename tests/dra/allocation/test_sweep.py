"""Asking about many nodes at once gives each node the answer it gets alone."""

from __future__ import annotations

import pytest

from dra.allocation import Fits
from dra.allocation.features import Features
from dra.allocation.outcome import Budget, DoesNotFit
from dra.allocation.placing import Question
from dra.allocation.sweep import Sweep
from dra.errors import DRAError
from dra.objects import ResourceClaim, read, write
from dra.snapshot import Snapshot
from tests.dra.allocation import recorded

CASES = list(recorded.cases("cluster"))[::2]
BUDGET = Budget(steps=3_000)


def snapshot_of(case) -> Snapshot:
    kinds = {
        "nodes": "Node",
        "classes": "DeviceClass",
        "slices": "ResourceSlice",
        "allocatedClaims": "ResourceClaim",
    }
    return Snapshot.build(
        {**item, "kind": kind}
        for field, kind in kinds.items()
        for item in case.get(field) or ()
    )


def claims_of(case) -> list[ResourceClaim]:
    return [read({**c, "kind": "ResourceClaim"}, ResourceClaim) for c in case["claims"]]


def plain(answer):
    if isinstance(answer, DRAError):
        return type(answer), str(answer)
    if isinstance(answer, Fits):
        return [recorded.plain(write(a)) for a in answer.allocations]
    return answer


def alone(question: Question, name: str):
    try:
        return plain(question.on_node(name))
    except DRAError as error:
        return plain(error)


def with_allocation(snapshot: Snapshot, case, answer: Fits, tag: int) -> Snapshot:
    """The cluster after the claims were allocated."""
    held = []
    for claim, allocation in zip(case["claims"], answer.allocations, strict=True):
        name = f"{claim['metadata']['name']}-{tag}"
        held.append(
            {
                "kind": "ResourceClaim",
                "metadata": {**claim["metadata"], "name": name, "uid": name},
                "spec": claim["spec"],
                "status": {"allocation": write(allocation)},
            }
        )
    return snapshot.edit(add=held)


@pytest.mark.parametrize("quirks", ["none", "1.36"])
def test_a_sweep_answers_like_single_questions_while_the_cluster_fills_up(quirks):
    fits = refusals = shared = 0
    for case in CASES:
        features = Features.from_gates(case["features"])
        snapshot, claims = snapshot_of(case), claims_of(case)
        names = sorted(snapshot.nodes)
        for round_ in range(3):

            def ask(snapshot=snapshot, claims=claims, features=features) -> Question:
                return Question(
                    snapshot, claims, features=features, quirks=quirks, budget=BUDGET
                )

            answers = ask().on_nodes(names)
            for name in names:
                assert plain(answers[name]) == alone(ask(), name), (case["id"], name)
            fits += len(answers.fitting)
            refusals += sum(isinstance(answers[n], DoesNotFit) for n in names)
            sweep = Sweep(ask(), expected=len(names))
            seen = [sweep.signature(ask().layout.view(n)) for n in names]
            shared += len(names) - len(set(seen))
            first = next((answers[n] for n in answers.fitting), None)
            if not isinstance(first, Fits):
                break
            snapshot = with_allocation(snapshot, case, first, round_)
    # The test means nothing unless nodes were alike and answers differed.
    assert min(fits, refusals, shared) > 300, (fits, refusals, shared)
