from __future__ import annotations

from dra.objects import ResourceSlice, read
from dra.values import first_value_problem, value_problems
from tests.dra.builders import consumes, counter_set, device, piece


def paths(raw):
    return [p.path for p in value_problems(read(raw, ResourceSlice))]


def test_good_values_are_no_problem():
    raw = piece("s", device(capacity={"memory": {"value": "80Gi"}}))
    assert paths(raw) == []
    assert first_value_problem(read(raw, ResourceSlice)) is None


def test_each_quantity_that_does_not_parse_is_named_by_its_path():
    policy = {
        "default": "?",
        "validValues": ["1", "?"],
        "validRange": {"min": "?", "max": "1", "step": "?"},
    }
    capacity = {"memory": {"value": "80 GB", "requestPolicy": policy}}
    raw = piece(
        "s",
        device(),
        device("x", capacity=capacity, consumesCounters=[consumes("set", mem="?")]),
    )
    at = "spec.devices[1]"
    assert paths(raw) == [
        f"{at}.capacity[memory].value",
        f"{at}.capacity[memory].requestPolicy.default",
        f"{at}.capacity[memory].requestPolicy.validValues[1]",
        f"{at}.capacity[memory].requestPolicy.validRange.min",
        f"{at}.capacity[memory].requestPolicy.validRange.step",
        f"{at}.consumesCounters[0].counters[mem].value",
    ]


def test_counters_of_a_set_are_looked_at():
    raw = piece("s", sharedCounters=[counter_set("a"), counter_set("b", mem="x")])
    assert paths(raw) == ["spec.sharedCounters[1].counters[mem].value"]


def test_a_problem_says_which_slice_and_why():
    raw = piece("s", device(capacity={"memory": {"value": "80 GB"}}))
    (found,) = value_problems(read(raw, ResourceSlice))
    assert str(found).startswith(
        'ResourceSlice s: spec.devices[0].capacity[memory].value: "80 GB" is not'
    )
