from __future__ import annotations

import pytest

from dra.errors import SelectorError
from dra.labels import matches_node, parse_label_selector
from dra.objects import Node, NodeSelector, read
from tests.dra import builders

NODE = read(builders.node("n1", zone="a", gpus="8", empty="", text="x"), Node)


def requirement(key, operator, *values):
    return {"key": key, "operator": operator, "values": list(values)}


def matches(*terms):
    selector = read({"nodeSelectorTerms": list(terms)}, NodeSelector)
    return matches_node(selector, NODE)


def labelled(key, operator, *values):
    return matches({"matchExpressions": [requirement(key, operator, *values)]})


@pytest.mark.parametrize(
    ("key", "operator", "values", "holds"),
    [
        ("zone", "In", ["a", "b"], True),
        ("zone", "In", ["b"], False),
        ("nope", "In", ["a"], False),
        ("empty", "In", [""], True),
        ("zone", "NotIn", ["b"], True),
        ("zone", "NotIn", ["a"], False),
        ("nope", "NotIn", ["a"], True),
        ("zone", "Exists", [], True),
        ("empty", "Exists", [], True),
        ("nope", "Exists", [], False),
        ("nope", "DoesNotExist", [], True),
        ("zone", "DoesNotExist", [], False),
        ("gpus", "Gt", ["7"], True),
        ("gpus", "Gt", ["8"], False),
        ("gpus", "Lt", ["9"], True),
        ("gpus", "Lt", ["8"], False),
        ("nope", "Lt", ["8"], False),
        ("text", "Gt", ["1"], False),
    ],
)
def test_each_operator_means_what_core_v1_says(key, operator, values, holds):
    assert labelled(key, operator, *values) is holds


def test_terms_are_ored_and_requirements_anded():
    yes, no = requirement("zone", "In", "a"), requirement("zone", "In", "b")
    assert matches({"matchExpressions": [no]}, {"matchExpressions": [yes]})
    assert not matches({"matchExpressions": [yes, no]})


@pytest.mark.parametrize("term", [{}, {"matchExpressions": []}, {"matchFields": None}])
def test_an_empty_term_matches_nothing(term):
    assert not matches(term)


def test_a_selector_without_terms_matches_nothing():
    assert not matches()
    assert not matches_node(NodeSelector(), NODE)


def test_a_node_is_selected_by_its_name():
    assert matches({"matchFields": [requirement("metadata.name", "In", "n1")]})
    assert not matches({"matchFields": [requirement("metadata.name", "NotIn", "n1")]})


def test_fields_and_labels_of_a_term_must_both_hold():
    name = requirement("metadata.name", "In", "n1")
    zone = requirement("zone", "In", "b")
    assert not matches({"matchFields": [name], "matchExpressions": [zone]})


@pytest.mark.parametrize(
    "broken",
    [
        requirement("zone", "Near", "a"),
        requirement("zone", "In"),
        requirement("zone", "Exists", "a"),
        requirement("zone", "DoesNotExist", "a"),
        requirement("gpus", "Gt"),
        requirement("gpus", "Gt", "1", "2"),
        requirement("gpus", "Lt", "many"),
        requirement("gpus", "Gt", "-1"),
        requirement("gpus", "Lt", str(2**63)),
        requirement("", "Exists"),
        requirement("a b", "Exists"),
        requirement("zone", "In", "not a value"),
    ],
)
def test_a_requirement_that_the_api_refuses_is_an_error(broken):
    with pytest.raises(SelectorError):
        matches({"matchExpressions": [broken]})


@pytest.mark.parametrize(
    "broken",
    [
        requirement("metadata.name", "Exists"),
        requirement("metadata.name", "In"),
        requirement("metadata.name", "In", "a", "b"),
    ],
)
def test_a_field_is_compared_with_exactly_one_value(broken):
    with pytest.raises(SelectorError):
        matches({"matchFields": [broken]})


def test_a_broken_term_is_an_error_even_behind_one_that_matches():
    good = {"matchExpressions": [requirement("zone", "In", "a")]}
    with pytest.raises(SelectorError, match='"Near" is not a valid'):
        matches(good, {"matchExpressions": [requirement("zone", "Near", "a")]})


LABELS = {"app": "web", "tier": "1", "k8s.io/role": ""}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("", True),
        ("   ", True),
        ("app=web", True),
        ("app==web", True),
        ("app = db", False),
        ("app!=db", True),
        ("nope!=db", True),
        ("app!=web", False),
        ("app in (db, web)", True),
        ("app in (db)", False),
        ("app notin (db)", True),
        ("nope notin (db)", True),
        ("app", True),
        ("nope", False),
        ("!nope", True),
        ("! app", False),
        ("k8s.io/role", True),
        ("k8s.io/role=", True),
        ("app=,tier", False),
        ("tier>0,tier<2", True),
        ("tier>1", False),
        ("app=web,!nope,tier in (1,2)", True),
        ("app=web,nope", False),
        ("nope in ()", False),
        ("k8s.io/role in (,x)", True),
    ],
)
def test_label_selectors_read_as_kubectl_reads_them(text, holds):
    assert parse_label_selector(text).matches(LABELS) is holds


@pytest.mark.parametrize(
    "text",
    [
        ",",
        "!",
        "a,",
        "a,,b",
        "a b",
        "a=b c",
        "a in",
        "a in b",
        "a in (b",
        "a in (b c)",
        "a>x",
        "-a",
        "x/y/z",
        "A_B.Example/x",
        "a=b/c",
        "a=" + "x" * 64,
        "=b",
        "(a)",
    ],
)
def test_a_selector_that_cannot_be_read_is_an_error(text):
    with pytest.raises(SelectorError):
        parse_label_selector(text)


def test_an_object_without_labels_matches_what_asks_for_nothing():
    assert parse_label_selector("!a").matches(None)
    assert not parse_label_selector("a").matches(None)
