"""Counting says of a constraint what the engine finds by searching."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claims.authoring.choices import Ask, AttributeChoice, attribute_choices
from dra.allocation import Features
from dra.allocation.placing import Question
from dra.snapshot import Snapshot
from tests.dra.allocation.world import (
    attribute,
    device_class,
    distinct,
    everything,
    exactly,
    match,
    wanted,
)
from tests.dra.builders import Json, device, node, piece

NODES = ("n1", "n2")
LISTS = Features.preset("1.36").override({"listTypeAttributes": True})

scalars: st.SearchStrategy[Json] = st.sampled_from(
    [{"string": "a"}, {"string": "b"}, {"int": 0}, {"int": 1}, {"version": "1.0.0"}]
)
lists: st.SearchStrategy[Json] = st.sampled_from(
    [{"strings": ["a", "b"]}, {"strings": ["b", "c"]}, {"ints": [0]}, {"string": "c"}]
)
kinds = st.sampled_from(["x", "y"])


@st.composite
def published(draw: st.DrawFn, values: st.SearchStrategy[Json]) -> Json:
    attributes: Json = {"kind": {"string": draw(kinds)}}
    found = draw(st.none() | values)
    if found is not None:
        attributes["at"] = found
    return {
        "attributes": attributes,
        **({"allowMultipleAllocations": True} if draw(st.booleans()) else {}),
    }


@st.composite
def clusters(draw: st.DrawFn, values: st.SearchStrategy[Json]) -> Snapshot:
    slices = []
    for name in NODES:
        made = draw(st.lists(published(values), max_size=4))
        devices = [device(f"d{place}", **each) for place, each in enumerate(made)]
        slices.append(piece(f"slice-{name}", *devices, pool=name, nodeName=name))
    shared = draw(st.lists(published(values), max_size=1))
    if shared:
        devices = [device("far", **each) for each in shared]
        slices.append(piece("slice-far", *devices, pool="far", allNodes=True))
    return Snapshot.build([device_class(), *map(node, NODES), *slices])


asked = st.lists(
    st.tuples(st.sampled_from(["", "x", "y"]), st.sampled_from([0, 1, 2])),
    min_size=1,
    max_size=3,
)


def requests_of(wants: list[tuple[str, int]]) -> tuple[list[Ask], list[Json]]:
    """The same requests as asks and as JSON; a count of 0 is all devices."""
    asks, requests = [], []
    for place, (kind, count) in enumerate(wants):
        texts = [f'{attribute("kind")} == "{kind}"'] if kind else []
        made = (
            exactly(f"r{place}", count, *texts)
            if count
            else everything(f"r{place}", *texts)
        )
        requests.append(made)
        asks.append(Ask.of(made["exactly"], made["name"]))
    return asks, requests


def fitting(
    snapshot: Snapshot,
    requests: list[Json],
    constraint: Json | None,
    features: Features,
) -> int:
    """On how many nodes the engine finds devices."""
    claim = wanted(*requests, constraints=[constraint] if constraint else None)
    question = Question(snapshot, [claim], features=features)
    return len(question.on_nodes(NODES).fitting)


def offered(found: list[AttributeChoice]) -> AttributeChoice | None:
    return next((c for c in found if c.name.endswith("/at")), None)


def agree(snapshot: Snapshot, wants: list[tuple[str, int]], features: Features) -> Any:
    asks, requests = requests_of(wants)
    choice = offered(attribute_choices(snapshot, asks, features))
    matching = fitting(snapshot, requests, match("at"), features)
    differing = fitting(snapshot, requests, distinct("at"), features)
    if choice is None:
        # A value that devices of every request have is what makes it a choice.
        return matching, 0 if len(asks) > 1 else differing, None
    assert choice.nodes == fitting(snapshot, requests, None, features)
    assert choice.match_nodes == matching
    if choice.distinct_nodes is not None:
        assert choice.distinct_nodes == differing
    return matching, differing, choice


@settings(max_examples=60, deadline=None)
@given(clusters(scalars), asked)
def test_it_can_be_met_where_the_engine_finds_devices(
    snapshot: Snapshot, wants: list[tuple[str, int]]
) -> None:
    matching, _, choice = agree(snapshot, wants, Features.preset("1.36"))
    assert choice is not None or not matching


@settings(max_examples=60, deadline=None)
@given(clusters(scalars | lists), asked)
def test_values_that_are_lists_agree_when_they_have_one_in_common(
    snapshot: Snapshot, wants: list[tuple[str, int]]
) -> None:
    matching, _, choice = agree(snapshot, wants, LISTS)
    assert choice is not None or not matching


@pytest.mark.parametrize("count", [5, 6])
def test_many_requests_are_counted_too(count: int) -> None:
    devices = [
        device(f"d{n}", attributes={"at": {"string": "a" if n else "b"}})
        for n in range(count + 1)
    ]
    snapshot = Snapshot.build(
        [device_class(), node("n1"), piece("s", *devices, pool="p")]
    )
    asks = [Ask("gpu", name=f"r{n}") for n in range(count)]
    (choice,) = attribute_choices(snapshot, asks)
    assert (choice.nodes, choice.match_nodes, choice.distinct_nodes) == (1, 1, 0)
