"""Counting devices finds what looking at every node finds."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dra.allocation import layout
from dra.allocation.counts import Counts
from dra.allocation.explaining import (
    Explanation,
    deciding,
    explain,
    plain,
    prepare,
    surveying,
)
from dra.allocation.explaining.surveying import Survey
from dra.allocation.features import DEFAULT, Features
from dra.allocation.outcome import Budget
from dra.allocation.placing import Question
from dra.allocation.request import with_defaults
from dra.errors import DRAError
from dra.objects import ResourceClaim, read
from dra.snapshot import Snapshot
from tests.dra.allocation.test_sweep import CASES, claims_of, snapshot_of

type Json = dict[str, Any]
type World = tuple[Snapshot, list[ResourceClaim], Features]

BUDGET = Budget(steps=3_000)


# --- small clusters by chance ---


def cluster(chance: random.Random) -> list[Json]:
    """A few nodes with devices of two drivers, some held, tainted, shared or odd."""
    nodes = [f"n{number}" for number in range(chance.randint(4, 7))]
    shares = chance.choice((0.0, 0.3))
    objects: list[Json] = [{"kind": "Node", "metadata": {"name": n}} for n in nodes]
    objects += [class_of("a"), class_of("b"), class_of("any", "true")]
    for node in nodes:
        for driver in "ab":
            if chance.random() < 0.9:
                devices = [device(chance, place) for place in range(4)]
                objects.append(slice_of(driver, node, devices))
                objects += held(chance, driver, node, shares)
    if chance.random() < 0.3:
        taint = {"key": "k", "effect": "NoSchedule"}
        selector = {"driver": "a", "device": "d0"}
        spec = {"deviceSelector": selector, "taint": taint}
        objects.append(
            {"kind": "DeviceTaintRule", "metadata": {"name": "t"}, "spec": spec}
        )
    return objects


def class_of(name: str, expression: str = "") -> Json:
    text = expression or f'device.driver == "{name}"'
    spec = {"selectors": [{"cel": {"expression": text}}]}
    return {"kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def device(chance: random.Random, place: int) -> Json:
    attributes: Json = {"x.y/root": {"int": chance.randrange(3)}}
    if chance.random() < 0.1:
        attributes = chance.choice(({}, {"x.y/root": {"string": "0"}}))
    attributes["model"] = {"string": chance.choice("pq")}
    if chance.random() < 0.05:
        del attributes["model"]
    found: Json = {
        "name": f"d{place}",
        "attributes": attributes,
        "capacity": {"memory": {"value": chance.choice(("8", "16"))}},
    }
    if chance.random() < 0.25:
        policy = {"default": "2", "validRange": {"min": "2", "step": "2"}}
        found["allowMultipleAllocations"] = True
        found["capacity"]["memory"]["requestPolicy"] = policy
    if chance.random() < 0.1:
        found["taints"] = [{"key": "own", "effect": "NoSchedule"}]
    return found


def slice_of(driver: str, node: str, devices: list[Json]) -> Json:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{driver}"},
        "spec": spec,
    }


def held(
    chance: random.Random, driver: str, node: str, shares: float
) -> Iterator[Json]:
    """What a claim holds of a pool, each device with this chance only a share of it."""
    results: list[Json] = []
    for place in range(4):
        if chance.random() < 0.4:
            result: Json = {"request": "r", "driver": driver, "pool": node}
            result["device"] = f"d{place}"
            if chance.random() < shares:
                share = chance.choice(("2", "6", "8"))
                result |= {
                    "shareID": f"s-{place}",
                    "consumedCapacity": {"memory": share},
                }
            results.append(result)
    if results:
        status = {"allocation": {"devices": {"results": results}}}
        meta = {"name": f"held-{driver}-{node}", "namespace": "default"}
        yield {"kind": "ResourceClaim", "metadata": meta, "status": status}


def details(chance: random.Random) -> Json:
    found: Json = {"deviceClassName": chance.choice(("a", "b", "b", "any"))}
    if chance.random() < 0.15:
        found["allocationMode"] = "All"
    else:
        found["count"] = chance.choice((1, 1, 2, 3, 4, 5))
    if chance.random() < 0.4:
        driver = found["deviceClassName"] if found["deviceClassName"] != "any" else "a"
        text = f'device.attributes["{driver}"].model == "{chance.choice("pq")}"'
        found["selectors"] = [{"cel": {"expression": text}}]
    if chance.random() < 0.2:
        found["capacity"] = {"requests": {"memory": chance.choice(("3", "9", "20"))}}
    if chance.random() < 0.1:
        found["tolerations"] = [{"operator": "Exists"}]
    return found


def claim(chance: random.Random, name: str) -> ResourceClaim:
    requests: list[Json] = []
    for number in range(chance.choice((1, 1, 2, 3))):
        if chance.random() < 0.2:
            subs = [{"name": f"s{n}"} | details(chance) for n in range(2)]
            requests.append({"name": f"r{number}", "firstAvailable": subs})
        else:
            exactly = details(chance)
            if chance.random() < 0.05:
                exactly["adminAccess"] = True
            requests.append({"name": f"r{number}", "exactly": exactly})
    devices: Json = {"requests": requests}
    if chance.random() < 0.5:
        kind = chance.choice(("matchAttribute", "matchAttribute", "distinctAttribute"))
        constraint: Json = {kind: "x.y/root"}
        if chance.random() < 0.5:
            constraint["requests"] = [chance.choice(requests)["name"]]
        devices["constraints"] = [constraint] * chance.choice((1, 1, 2))
    raw = {
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"devices": devices},
    }
    return with_defaults(read(raw, ResourceClaim))


def worlds() -> Iterator[World]:
    for case in CASES[::4]:
        features = Features.from_gates(case["features"])
        yield snapshot_of(case), [with_defaults(c) for c in claims_of(case)], features
    chance = random.Random(5)
    for _ in range(15):
        yield contested(chance)
    for _ in range(160):
        claims = [claim(chance, f"c{n}") for n in range(chance.choice((1, 1, 1, 2)))]
        yield Snapshot.build(cluster(chance)), claims, DEFAULT


@pytest.fixture(scope="module")
def all_worlds() -> list[World]:
    return list(worlds())


@pytest.fixture
def _always_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "FEW", 1)
    monkeypatch.setattr(deciding, "FEW", 1)


# --- the laws ---


@pytest.mark.usefixtures("_always_counting")
def test_a_survey_that_counts_is_one_that_looks(all_worlds: list[World]) -> None:
    counted = looked = 0
    for snapshot, claims, features in all_worlds:
        names = sorted(snapshot.nodes)
        surveys = []
        for counting in (True, False):
            question = Question(snapshot, claims, features=features, budget=BUDGET)
            surveys.append(said_of(Survey(question, names, counting=counting)))
        assert surveys[0] == surveys[1]
        question = Question(snapshot, claims, features=features, budget=BUDGET)
        census = Survey(question, names).census
        counted += len(census.names) if census else 0
        looked += len(census.left) if census else len(names)
    # The test means nothing unless both ways were gone.
    assert min(counted, looked) > 100, (counted, looked)


def said_of(survey: Survey) -> Any:
    asks = {ask.result_name: ask for ask in survey.claims}
    return (
        {n: survey.standing[a].tolist() for n, a in asks.items()},
        {n: survey.available[a].tolist() for n, a in asks.items()},
        {n: Counter(survey.shortages[a]) for n, a in asks.items()},
        survey.unusable,
        {
            name: (kin.error, {a.where: bare(c) for a, c in kin.counts.items()})
            for name, kin in survey.by_name().items()
        },
    )


def bare(counts: Counts) -> Counts:
    """Without the values of limits, which are found when they are asked for."""
    limits = tuple(dataclasses.replace(limit, split=()) for limit in counts.limits)
    return dataclasses.replace(counts, limits=limits)


@pytest.mark.usefixtures("_always_counting")
def test_what_is_decided_by_counting_is_what_the_engine_finds(
    all_worlds: list[World],
) -> None:
    tally: Counter[str] = Counter()
    for snapshot, claims, features in all_worlds:
        names = sorted(snapshot.nodes)
        question = Question(snapshot, claims, features=features, budget=BUDGET)
        other = Question(
            snapshot, claims, features=features, quirks="1.36", budget=BUDGET
        )
        try:
            decision = deciding.decision_on(question, names, None)
        except DRAError:
            continue
        if decision is None:
            tally["left to the engine"] += len(names)
            continue
        fits = {n for n in decision.counted if question.search(n) is not None}
        assert decision.fitting <= fits
        assert fits.isdisjoint(decision.failing)
        if decision.holds_for(other):
            assert fits == {n for n in decision.counted if other.search(n) is not None}
            tally["the same in both modes"] += len(decision.counted)
        tally["fits"] += len(decision.fitting)
        tally["fails"] += len(decision.failing)
        tally["unknown"] += len(names) - len(decision.fitting | decision.failing)
    assert len(tally) == 5, tally
    assert min(tally.values()) > 50, tally


def contested(chance: random.Random) -> World:
    """Claims whose requests compete, on nodes with the same devices in other places."""
    objects: list[Json] = [class_of("a"), class_of("b")]
    roots = {"a": (0, 1), "b": chance.choice(((0, 1), (1, 2)))}
    for number in range(20):
        node = f"n{number:02d}"
        objects.append({"kind": "Node", "metadata": {"name": node}})
        for driver in "ab":
            devices = [
                {
                    "name": f"d{place}",
                    "attributes": {"x.y/root": {"int": chance.choice(roots[driver])}},
                    "capacity": {"memory": {"value": "8"}},
                    "allowMultipleAllocations": driver == "b",
                }
                for place in range(4)
            ]
            objects.append(slice_of(driver, node, devices))
            objects += held(chance, driver, node, 1.0 if driver == "b" else 0.0)
    requests = [
        {"name": name, "exactly": {"deviceClassName": cls, "count": count}}
        for name, cls, count in (("r0", "a", 1), ("r1", "a", 1), ("r2", "b", 1))
    ]
    kind = chance.choice(("matchAttribute", "distinctAttribute"))
    constraints = [
        {"matchAttribute": "x.y/root", "requests": ["r0", "r2"]},
        {kind: "x.y/root", "requests": chance.choice((["r1"], ["r0", "r1"]))},
    ]
    spec = {"devices": {"requests": requests, "constraints": constraints}}
    raw = {"kind": "ResourceClaim", "spec": spec}
    claims = [with_defaults(read(raw, ResourceClaim))]
    return Snapshot.build(objects), claims, DEFAULT


def test_nodes_that_are_alike_have_the_same_answer() -> None:
    chance = random.Random(11)
    tally: Counter[bool] = Counter()
    for _ in range(30):
        snapshot, claims, features = contested(chance)
        names = sorted(snapshot.nodes)
        question = Question(snapshot, claims, features=features)
        decision = deciding.decision_on(question, names, None)
        assert decision is not None
        alike: dict[int, set[bool]] = {}
        for name, number in decision.likeness.items():
            fits = question.search(name) is not None
            if number in alike:
                tally[fits] += 1
            alike.setdefault(number, set()).add(fits)
        assert all(len(answers) == 1 for answers in alike.values())
        examples = decision.examples(names)
        assert len(set(examples) - decision.fitting) == len(
            {decision.likeness[n] for n in decision.counted - decision.failing}
        )
    assert min(tally[True], tally[False]) > 20, tally


def test_an_explanation_is_the_same_with_and_without_counting(
    all_worlds: list[World], monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts: Counter[str] = Counter()
    for snapshot, claims, features in all_worlds:
        found: list[Explanation] = []
        for few in (1, 10**9):
            monkeypatch.setattr(surveying, "FEW", few)
            monkeypatch.setattr(deciding, "FEW", few)
            found.append(
                explain(
                    snapshot,
                    claims,
                    node_names=sorted(snapshot.nodes),
                    features=features,
                    relax=False,
                )
            )
        with_counting, without = found
        assert with_counting == without
        verdicts[with_counting.verdict] += 1
    assert min(verdicts[v] for v in ("fits", "full", "hopeless", "refused")) > 5


def test_what_is_prepared_is_not_worked_out_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = random.Random(1)
    snapshot = Snapshot.build(cluster(chance))
    prepare(snapshot)

    def again(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(plain.Plain, "__init__", again)
    monkeypatch.setattr(layout.Layout, "__init__", again)
    assert explain(snapshot, [claim(chance, "c")]).verdict


def test_counting_stops_when_it_is_told_to() -> None:
    chance = random.Random(1)
    snapshot = Snapshot.build(cluster(chance))
    found = explain(snapshot, [claim(chance, "c")], stop=lambda: True)
    assert (found.verdict, found.complete, found.requests) == ("undecided", False, ())
    assert "Undecided" in found.sentence
