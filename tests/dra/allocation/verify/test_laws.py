"""The engine and the check, written apart, agree; and no change goes unnoticed."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from dra import quantity
from dra.allocation import AllocationError, Features, Fits, Outcome, allocate
from dra.allocation.request import with_defaults
from dra.allocation.verify import Code, verify
from dra.names import DeviceID
from dra.objects import (
    AllocationResult,
    DeviceResult,
    NodeSelector,
    ResourceClaim,
    read,
    write,
)
from dra.snapshot import Snapshot
from tests.dra.allocation import recorded
from tests.dra.allocation.verify import alterations
from tests.dra.allocation.verify.exhaustive import TooManyError, Ways

Changed = AllocationResult | None

EVERY = {"probes": 1, "random": 2, "cluster": 3}
"""Which of the recorded questions are asked here: the first of so many."""


class Question(NamedTuple):
    """One recorded question, for one node."""

    id: str
    snapshot: Snapshot
    claims: tuple[ResourceClaim, ...]
    node_name: str
    features: Features
    outcome: Outcome

    def verify(self, allocations: Any, node_name: str = "") -> set[Code]:
        node_name = node_name or self.node_name
        found = verify(
            self.snapshot, self.claims, allocations, node_name, features=self.features
        )
        return {v.code for v in found}


@functools.cache
def questions(name: str) -> list[Question]:
    """Recorded questions that have an answer, as documented."""
    return list(_questions(name))


def _questions(name: str) -> Iterator[Question]:
    for case in itertools.islice(recorded.cases(name), 0, None, EVERY[name]):
        nodes = case.get("nodes") or [case["node"]]
        objects = [
            {**item, "kind": kind}
            for field, kind in (
                ("classes", "DeviceClass"),
                ("slices", "ResourceSlice"),
                ("allocatedClaims", "ResourceClaim"),
            )
            for item in case.get(field) or ()
        ]
        snapshot = Snapshot.build([*({**n, "kind": "Node"} for n in nodes), *objects])
        claims = tuple(
            with_defaults(read(c, ResourceClaim)) for c in case.get("claims") or ()
        )
        features = Features.from_gates(case.get("features") or {})
        for node_name in snapshot.nodes:
            try:
                outcome = allocate(snapshot, claims, node_name, features=features)
            except AllocationError:
                continue
            yield Question(case["id"], snapshot, claims, node_name, features, outcome)


@functools.cache
def answered() -> list[tuple[Question, Fits]]:
    """Questions whose answer has at least one device."""
    return [
        (question, question.outcome)
        for name in ("probes", "random")
        for question in questions(name)
        if isinstance(question.outcome, Fits)
        and any(a.devices.results for a in question.outcome.allocations)
    ]


# --- the engine's answers -------------------------------------------------------


@pytest.mark.parametrize("name", ["probes", "random", "cluster"])
def test_whatever_the_engine_finds_breaks_no_rule(name: str):
    wrong = {}
    number = 0
    for question in questions(name):
        if isinstance(question.outcome, Fits):
            number += 1
            codes = question.verify(question.outcome.allocations)
            if codes:
                wrong[question.id] = codes

    assert wrong == {}
    assert number > 90


@pytest.mark.parametrize("name", ["probes", "random"])
def test_the_engine_finds_the_first_of_all_ways_that_break_no_rule(name: str):
    def plain(allocations: Any) -> Any:
        return [recorded.plain(write(a)) for a in allocations]

    tried = 0
    for question in questions(name):
        ways = Ways(*question[1:5], limit=60)
        try:
            expected = ways.first()
        except TooManyError:
            continue
        tried += 1
        if isinstance(question.outcome, Fits):
            assert expected is not None, question.id
            assert plain(expected) == plain(question.outcome.allocations), question.id
        else:
            assert expected is None, question.id
    assert tried > 100


# --- changes --------------------------------------------------------------------

Change = Callable[[Question, AllocationResult], Changed]


def repeat(_question: Question, right: AllocationResult) -> Changed:
    return alterations.first_twice(right)


def drop(_question: Question, right: AllocationResult) -> Changed:
    return alterations.without_last(right)


def invent(_question: Question, right: AllocationResult) -> Changed:
    return alterations.with_first(right, device="no-such-device")


def confuse_pools(_question: Question, right: AllocationResult) -> Changed:
    return alterations.with_first(right, pool="no-such-pool")


def rename_request(_question: Question, right: AllocationResult) -> Changed:
    return alterations.with_first(right, request="no-such-request")


def same_as_second(_question: Question, right: AllocationResult) -> Changed:
    """Where one request has two devices, the first becomes the second."""
    both = results(right)[:2]
    if len({r.request for r in both}) == len(both):
        return None
    return alterations.with_first(right, **names(both[1]))


def take_from_others(question: Question, right: AllocationResult) -> Changed:
    """A device that another claim has for itself."""
    if results(right)[0].admin_access:
        return None
    for claim in question.snapshot.claims.values():
        for held in results(claim.status.allocation):
            if held.share_id is None and not held.admin_access:
                return alterations.with_first(right, **names(held))
    return None


def turn_admin(_question: Question, right: AllocationResult) -> Changed:
    admin = None if results(right)[0].admin_access else True
    return alterations.with_first(right, admin_access=admin)


def tolerate_more(_question: Question, right: AllocationResult) -> Changed:
    first = results(right)[0]
    more = [*(first.tolerations or ()), *(first.tolerations or ())]
    return alterations.with_first(right, tolerations=more) if more else None


def expect_conditions(_question: Question, right: AllocationResult) -> Changed:
    conditions = [*(results(right)[0].binding_conditions or ()), "one-more"]
    return alterations.with_first(right, binding_conditions=conditions)


def share_otherwise(_question: Question, right: AllocationResult) -> Changed:
    share_id = None if results(right)[0].share_id else "share"
    return alterations.with_first(right, share_id=share_id)


def consume_more(_question: Question, right: AllocationResult) -> Changed:
    consumed = dict(results(right)[0].consumed_capacity or {})
    for name, amount in consumed.items():
        doubled = quantity.read(amount) + quantity.read(amount) + quantity.read("1")
        more = consumed | {name: str(doubled)}
        return alterations.with_first(right, consumed_capacity=more)
    return None


def consume_unasked(_question: Question, right: AllocationResult) -> Changed:
    consumed = {**(results(right)[0].consumed_capacity or {}), "nothing": "1"}
    return alterations.with_first(right, consumed_capacity=consumed)


def forget_config(_question: Question, right: AllocationResult) -> Changed:
    return alterations.without_config(right) if right.devices.config else None


def go_anywhere(_question: Question, right: AllocationResult) -> Changed:
    selector = None if right.node_selector else NodeSelector()
    return replace(right, node_selector=selector)


def results(allocation: AllocationResult | None) -> list[DeviceResult]:
    return list((allocation and allocation.devices.results) or ())


def names(result: DeviceResult) -> dict[str, str]:
    return {
        "driver": result.driver,
        "pool": result.pool,
        "device": result.device,
    }


@pytest.mark.parametrize(
    "change",
    [
        repeat,
        drop,
        invent,
        confuse_pools,
        rename_request,
        same_as_second,
        take_from_others,
        turn_admin,
        tolerate_more,
        expect_conditions,
        share_otherwise,
        consume_more,
        consume_unasked,
        forget_config,
        go_anywhere,
    ],
)
def test_a_changed_allocation_breaks_a_rule(change: Change):
    changed = 0
    for question, fits in answered():
        allocations = list(fits.allocations)
        at = next(i for i, a in enumerate(allocations) if a.devices.results)
        wrong = change(question, allocations[at])
        if wrong is not None:
            changed += 1
            allocations[at] = wrong
            assert question.verify(allocations), (question.id, wrong)
    assert changed > 20


def test_devices_of_one_node_are_not_for_another():
    """A node that is like the first in nothing but that it exists."""
    tried = 0
    for question, fits in answered():
        other = question.snapshot.edit(
            add=[{"kind": "Node", "metadata": {"name": "another-node"}}]
        )
        if not any(bound_to_node(question, a) for a in fits.allocations):
            continue
        tried += 1
        moved = question._replace(snapshot=other)
        assert moved.verify(fits.allocations, "another-node"), question.id
    assert tried > 100


def bound_to_node(question: Question, allocation: AllocationResult) -> bool:
    """Whether a device of the allocation is in a slice of one node."""
    chosen = {DeviceID(r.driver, r.pool, r.device) for r in results(allocation)}
    return any(
        DeviceID(s.spec.driver, s.spec.pool.name, d.name) in chosen
        for s in question.snapshot.slices.values()
        if s.spec.node_name
        for d in s.spec.devices or ()
    )


def test_any_other_device_is_judged_as_the_engine_would():
    """Where a claim asks for one device, each device that is given is right or refused.

    The engine is asked whether it would give that very device: nothing else is
    published then.
    """
    tried = 0
    for question, fits in answered():
        if len(question.claims) != 1 or len(results(fits.allocations[0])) != 1:
            continue
        (right,) = fits.allocations
        for name, snapshot in alone(question):
            try:
                outcome = allocate(
                    snapshot,
                    question.claims,
                    question.node_name,
                    features=question.features,
                )
            except AllocationError:
                continue
            tried += 1
            if isinstance(outcome, Fits):
                assert (
                    question._replace(snapshot=snapshot).verify(outcome.allocations)
                    == set()
                )
                assert name == DeviceID(
                    *names(results(outcome.allocations[0])[0]).values()
                )
            else:
                wrong = alterations.with_first(right, **name._asdict())
                assert question._replace(snapshot=snapshot).verify([wrong]), question.id
    assert tried > 200


def alone(question: Question) -> Iterator[tuple[DeviceID, Snapshot]]:
    """The snapshot with one device left, for each device of slices without counters."""
    slices = list(question.snapshot.slices.values())
    for piece in slices:
        for device in piece.spec.devices or ():
            if piece.spec.shared_counters or device.consumes_counters:
                continue
            name = DeviceID(piece.spec.driver, piece.spec.pool.name, device.name)
            emptied = [
                replace(
                    s,
                    spec=replace(s.spec, devices=[device] if s is piece else None),
                )
                for s in slices
                if not s.spec.shared_counters
            ]
            yield name, question.snapshot.edit(add=emptied)
