"""On small clusters the engine finds what trying everything in order finds.

The other search lists every choice in the documented order (claims, requests,
alternatives, devices) and takes the first that keeps all rules, which are
written down here once more.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from dra.allocation import DoesNotFit, Fits, search
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
    per_request = [
        (c, f"r{r}", options)
        for c, one in enumerate(asked)
        for r, options in enumerate(one["requests"])
    ]
    choices = [
        [
            (c, parent, parent if len(options) == 1 else f"{parent}/s{s}", picked)
            for s, body in enumerate(options)
            for picked in itertools.combinations(
                [i for i, part in enumerate(parts) if may_have(part, body)],
                body["count"],
            )
        ]
        for c, parent, options in per_request
    ]
    for choice in itertools.product(*choices):
        if keeps_all(choice, parts, asked):
            return [(name, i) for _, _, name, picked in choice for i in picked]
    return None


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
