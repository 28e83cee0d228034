"""Steps that change the shape of an object."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claims.authoring.form import STEPS, StepError, blank, done
from claims.authoring.form.paths import get, parse
from tests.claims.authoring.form.test_fields import claim

REQUESTS = "spec.devices.requests"
ASK = f"{REQUESTS}[0].exactly"


def devices(value: Any) -> Any:
    return value["spec"]["devices"]


def test_a_new_request_takes_the_class_of_the_last_one_and_a_free_name() -> None:
    step = done(claim(), f"add {REQUESTS}")
    assert devices(step.value)["requests"][1] == {
        "name": "devices",
        "exactly": {"deviceClassName": "a"},
    }
    assert step.focus == f"{REQUESTS}[1].name"
    again = done(step.value, f"add {REQUESTS}")
    assert devices(again.value)["requests"][2]["name"] == "devices-2"


def test_a_removed_request_is_named_no_more() -> None:
    value = claim(
        requests=[{"name": "gpu"}, {"name": "nic"}, {"name": "disk"}],
        constraints=[
            {"requests": ["gpu", "nic"], "matchAttribute": "a/b"},
            {"requests": ["nic"], "distinctAttribute": "a/c"},
            {"matchAttribute": "a/d"},
        ],
        config=[{"requests": ["nic/best"], "opaque": {"driver": "d"}}],
    )
    new = done(value, f"remove {REQUESTS}[1]").value
    assert devices(new) == {
        "requests": [{"name": "gpu"}, {"name": "disk"}],
        "constraints": [
            {"requests": ["gpu"], "matchAttribute": "a/b"},
            {"matchAttribute": "a/d"},
        ],
        "config": [],
    }


def test_the_last_entry_of_a_list_takes_the_list_with_it() -> None:
    value = done(claim(), f'add {ASK}.selectors "true"').value
    assert devices(value)["requests"][0]["exactly"]["selectors"] == [
        {"cel": {"expression": "true"}}
    ]
    assert done(value, f"remove {ASK}.selectors[0]").value == claim()


def test_entries_change_places() -> None:
    value = claim(requests=[{"name": "a"}, {"name": "b"}, {"name": "c"}])

    def names(step: str) -> list[str]:
        return [each["name"] for each in devices(done(value, step).value)["requests"]]

    assert names(f"up {REQUESTS}[1]") == ["b", "a", "c"]
    assert names(f"down {REQUESTS}[1]") == ["a", "c", "b"]
    assert names(f"move {REQUESTS}[2] 0") == ["c", "a", "b"]
    with pytest.raises(StepError, match="end already"):
        done(value, f"up {REQUESTS}[0]")


def test_a_request_becomes_a_prioritized_list_and_one_again() -> None:
    value = done(claim(), f"set {ASK}.count 2").value
    several = done(value, f"alternatives {REQUESTS}[0]")
    assert devices(several.value)["requests"] == [
        {
            "name": "gpu",
            "firstAvailable": [
                {"name": "best", "deviceClassName": "a", "count": 2},
                {"name": "other", "deviceClassName": "a"},
            ],
        }
    ]
    assert several.focus.endswith("firstAvailable[1].deviceClassName")
    assert done(several.value, f"exactly {REQUESTS}[0]").value == value


def test_what_was_for_the_alternative_that_stays_is_for_the_request_then() -> None:
    nic = {
        "name": "nic",
        "firstAvailable": [
            {"name": "fast", "deviceClassName": "a"},
            {"name": "slow", "deviceClassName": "b"},
        ],
    }
    value = claim(
        requests=[{"name": "gpu"}, nic],
        constraints=[{"requests": ["gpu", "nic/fast", "nic/slow"]}],
        config=[{"requests": ["nic/fast"]}, {"requests": ["nic/slow"]}],
    )
    new = devices(done(value, f"exactly {REQUESTS}[1]").value)
    assert new["requests"][1]["exactly"] == {"deviceClassName": "a"}
    assert new["constraints"] == [{"requests": ["gpu", "nic"]}]
    assert new["config"] == [{"requests": ["nic"]}]


def test_a_capacity_is_asked_for() -> None:
    new = done(claim(), f'capacity {ASK} ["memory", "8Gi"]').value
    assert devices(new)["requests"][0]["exactly"]["capacity"] == {
        "requests": {"memory": "8Gi"}
    }
    assert done(new, f"remove {ASK}.capacity.requests[memory]").value == claim()


def test_a_term_is_added_to_an_expression() -> None:
    value = done(claim(), f"add {ASK}.selectors").value
    path = f"{ASK}.selectors[0].cel.expression"
    value = done(value, f'and {path} "a"').value
    assert get(value, parse(path)) == "a"
    value = done(value, f'and {path} "b"').value
    assert get(value, parse(path)) == "a &&\nb"


def test_a_toleration_is_added_as_offered() -> None:
    new = done(
        claim(), f'add {ASK}.tolerations {{"key": "k", "operator": "Exists"}}'
    ).value
    assert devices(new)["requests"][0]["exactly"]["tolerations"] == [
        {"key": "k", "operator": "Exists"}
    ]


def test_a_claim_becomes_a_template_and_a_claim_again() -> None:
    template = done(claim(), 'kind spec "ResourceClaimTemplate"').value
    assert template["kind"] == "ResourceClaimTemplate"
    assert template["spec"] == {"spec": claim()["spec"]}
    assert done(template, 'kind spec "ResourceClaim"').value == claim()


def test_a_claim_keeps_the_labels_that_its_template_gives_to_claims() -> None:
    value = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "labels": {"own": "x", "app": "old"}},
        "spec": {
            "metadata": {"labels": {"app": "y"}, "annotations": {"k": "v"}},
            "spec": {"devices": {}},
        },
    }
    assert done(value, 'kind metadata "ResourceClaim"').value == {
        "kind": "ResourceClaim",
        "metadata": {
            "name": "t",
            "labels": {"own": "x", "app": "y"},
            "annotations": {"k": "v"},
        },
        "spec": {"devices": {}},
    }


@pytest.mark.parametrize(
    "step",
    [
        "",
        "dance spec",
        "add",
        "add spec.devices",
        "add spec.devices.requests[0].name",
        "remove spec.devices.requests[7]",
        "up spec",
        "set spec.devices.requests[9].name 1",
        "set spec {",
        "alternatives spec.devices.requests[4]",
        'kind spec "Pod"',
        "capacity spec.devices.requests[0].exactly 3",
        "and " + "x" * 30_000,
    ],
)
def test_a_step_that_cannot_be_done_says_so(step: str) -> None:
    with pytest.raises(StepError):
        done(claim(), step)


@given(
    st.sampled_from(sorted(STEPS)),
    st.text(max_size=30) | st.sampled_from([ASK, REQUESTS, f"{REQUESTS}[0]", "spec"]),
    st.none() | st.integers() | st.text(max_size=9) | st.lists(st.text(max_size=3)),
    st.sampled_from([claim(), blank("DeviceClass"), {}, [], None, {"kind": []}]),
)
def test_a_step_is_done_or_refused(
    word: str, path: str, given_: Any, value: Any
) -> None:
    with contextlib.suppress(StepError):
        done(value, f"{word} {path} {json.dumps(given_)}")
