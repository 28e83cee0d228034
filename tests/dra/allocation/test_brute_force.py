"""On small clusters the engine finds what trying everything in order finds.

The other search lists every choice in the documented order (claims, requests,
alternatives, devices) and takes the first that keeps all rules, which are
written down here once more. The check of allocations knows the same rules: it
accepts a choice when they are kept and only then.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from dra.allocation import DoesNotFit, Fits, search
from dra.allocation.verify import verify
from dra.objects import AllocationResult, read
from tests.dra.allocation import world
from tests.dra.builders import claim, consumes, counter_set, device, piece, result

TOTAL = 4

devices = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from("xy"),
            "a": st.sampled_from([None, "A", "B"]),
            "draws": st.sampled_from([0, 0, 1, 2]),
            "used": st.sampled_from([False, False, False, True]),
            "tainted": st.sampled_from([False, False, False, True]),
        }
    ),
    max_size=6,
)
bodies = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["any", "x", "y"]),
        "count": st.integers(1, 3),
        "tolerates": st.booleans(),
    }
)
requests = st.one_of(
    bodies.map(lambda body: [body]), st.lists(bodies, min_size=2, max_size=3)
)
constraints = st.lists(
    st.fixed_dictionaries(
        {
            "distinct": st.booleans(),
            "requests": st.sampled_from([[], ["r0"], ["r0", "r1"], ["r1/s1"]]),
        }
    ),
    max_size=2,
)
claims = st.lists(
    st.fixed_dictionaries(
        {
            "requests": st.lists(requests, min_size=1, max_size=2),
            "constraints": constraints,
        }
    ),
    min_size=1,
    max_size=2,
)


def first_by_trying(parts: list[Any], asked: list[Any]) -> list[tuple[str, int]] | None:
    """(request, device) of the first choice that keeps all rules."""
    for choice in itertools.product(*choices(parts, asked, may_have)):
        if keeps_all(choice, parts, asked):
            return [(name, i) for _, _, name, picked in choice for i in picked]
    return None


def choices(parts: list[Any], asked: list[Any], may: Any) -> list[list[Any]]:
    """Per request, the ways to serve it with devices that it ``may`` have."""
    per_request = [
        (c, f"r{r}", options)
        for c, one in enumerate(asked)
        for r, options in enumerate(one["requests"])
    ]
    return [
        [
            (c, parent, parent if len(options) == 1 else f"{parent}/s{s}", picked)
            for s, body in enumerate(options)
            for picked in itertools.combinations(
                [i for i, part in enumerate(parts) if may(part, body)],
                body["count"],
            )
        ]
        for c, parent, options in per_request
    ]


def may_have(part: Any, body: Any) -> bool:
    return (
        not part["used"]
        and body["kind"] in {"any", part["kind"]}
        and (body["tolerates"] or not part["tainted"])
    )


def keeps_all(choice: Any, parts: list[Any], asked: list[Any]) -> bool:
    taken = [i for _, _, _, picked in choice for i in picked]
    used = [i for i, part in enumerate(parts) if part["used"]]
    drawn = sum(parts[i]["draws"] for i in [*taken, *used])
    draws_now = any(parts[i]["draws"] for i in taken)
    if len(set(taken)) < len(taken) or (draws_now and drawn > TOTAL):
        return False
    for c, one in enumerate(asked):
        for rule in one["constraints"]:
            values = [
                parts[i]["a"]
                for owner, parent, name, picked in choice
                if owner == c
                and (not rule["requests"] or {parent, name} & {*rule["requests"]})
                for i in picked
            ]
            if None in values:
                return False
            if len(set(values)) not in ({len(values)} if rule["distinct"] else {0, 1}):
                return False
    return True


def snapshot(parts: list[Any]) -> Any:
    made = []
    for i, part in enumerate(parts):
        attributes = {"kind": world.string(part["kind"])}
        if part["a"]:
            attributes["a"] = world.string(part["a"])
        fields: dict[str, Any] = {"attributes": attributes}
        if part["draws"]:
            fields["consumesCounters"] = [consumes("set", m=str(part["draws"]))]
        if part["tainted"]:
            fields["taints"] = [{"key": "k", "effect": "NoSchedule"}]
        made.append(device(str(i), **fields))
    used = [result(str(i)) for i, part in enumerate(parts) if part["used"]]
    return world.cluster(
        piece("s-1", of=2, sharedCounters=[counter_set("set", m=str(TOTAL))]),
        piece("s-2", *made, of=2),
        *([claim("other", *used)] if used else []),
    )


def wanted(number: int, one: Any) -> Any:
    made = []
    for r, options in enumerate(one["requests"]):
        bodies_ = [request(f"s{s}", body) for s, body in enumerate(options)]
        made.append(
            {**bodies_[0], "name": f"r{r}"}
            if len(options) == 1
            else world.first_of(f"r{r}", *bodies_)
        )
    rules = [
        (world.distinct if rule["distinct"] else world.match)("a", *rule["requests"])
        for rule in one["constraints"]
    ]
    return world.wanted(*made, name=f"claim-{number}", constraints=rules)


def request(name: str, body: Any) -> Any:
    expressions = []
    if body["kind"] != "any":
        expressions = [f'{world.attribute("kind")} == "{body["kind"]}"']
    tolerations = [{"operator": "Exists"}] if body["tolerates"] else []
    return world.exactly(name, body["count"], *expressions, tolerations=tolerations)


@pytest.mark.parametrize("patience", [search.PATIENCE, -1], ids=["plain", "insight"])
@settings(max_examples=300)
@examples(parts=devices, asked=claims)
def test_the_engine_finds_what_trying_everything_finds(patience, parts, asked):
    expected = first_by_trying(parts, asked)
    usual, search.PATIENCE = search.PATIENCE, patience
    try:
        got = world.ask(snapshot(parts), *(wanted(i, c) for i, c in enumerate(asked)))
    finally:
        search.PATIENCE = usual

    if expected is None:
        assert isinstance(got, DoesNotFit)
        assert got.reason.endswith(".")
    else:
        assert isinstance(got, Fits)
        assert world.given(got) == [f"{name}={i}" for name, i in expected]


@settings(max_examples=300)
@examples(parts=devices, asked=claims, data=st.data())
def test_the_check_accepts_what_keeps_all_rules(parts, asked, data):
    ways = choices(parts, asked, lambda _part, _body: True)
    if not all(ways):
        return
    choice = [data.draw(st.sampled_from(of_request)) for of_request in ways]
    waiting = [wanted(i, c) for i, c in enumerate(asked)]
    given = [allocation(i, one, choice) for i, one in enumerate(waiting)]
    able = all(
        may_have(parts[i], body_of(asked[c], name))
        for c, _, name, picked in choice
        for i in picked
    )

    wrong = verify(snapshot(parts), waiting, given, "n1")

    assert (not wrong) == (able and keeps_all(choice, parts, asked)), wrong


def body_of(one: Any, name: str) -> Any:
    parent, _, sub = name.partition("/s")
    return one["requests"][int(parent[1:])][int(sub or 0)]


def allocation(number: int, one: Any, choice: Any) -> AllocationResult:
    """The choice for one claim, written as its result."""
    bodies_ = {r.name: r.exactly for r in one.spec.devices.requests} | {
        f"{r.name}/{sub.name}": sub
        for r in one.spec.devices.requests
        for sub in r.first_available or ()
    }
    results = [
        result(str(i), request=name, tolerations=tolerations_of(bodies_[name]))
        for owner, _, name, picked in choice
        for i in picked
        if owner == number
    ]
    here = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    term = {"nodeSelectorTerms": [{"matchFields": [here]}]}
    raw = {"devices": {"results": results}, "nodeSelector": term}
    return read(raw, AllocationResult)


def tolerations_of(body: Any) -> Any:
    return [{"operator": t.operator} for t in body.tolerations or ()]
