"""Posted fields put into an object."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claims.authoring.form import paths, with_fields

ASK = "spec.devices.requests[0].exactly"


def claim(**devices: Any) -> dict[str, Any]:
    asked = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "a"}}]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "train", "namespace": "team-a"},
        "spec": {"devices": asked | devices},
    }


def after(value: Any, **posted: str) -> Any:
    applied = with_fields(value, {name: [text] for name, text in posted.items()})
    assert not applied.refused
    return applied.value


def posted(value: Any, name: str, *texts: str) -> Any:
    applied = with_fields(value, {name: list(texts)})
    assert not applied.refused
    return applied.value


def test_a_field_is_put_at_its_path() -> None:
    new = posted(claim(), f"{ASK}.deviceClassName", "gpu.example.com")
    assert (
        new["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"]
        == "gpu.example.com"
    )


def test_the_object_that_was_given_stays_as_it_was() -> None:
    value = claim()
    posted(value, f"{ASK}.count", "4")
    assert value == claim()


def test_what_the_form_does_not_know_stays() -> None:
    value = claim() | {"extra": {"deep": [1, 2]}}
    value["metadata"]["labels"] = {"a/b": "c"}
    new = posted(value, "metadata.name", "other")
    assert new["extra"] == {"deep": [1, 2]}
    assert new["metadata"] == {
        "name": "other",
        "namespace": "team-a",
        "labels": {"a/b": "c"},
    }


def test_a_count_is_a_number() -> None:
    assert posted(claim(), f"{ASK}.count", " 4 ")["spec"]["devices"]["requests"][0][
        "exactly"
    ] == {"deviceClassName": "a", "count": 4}


def test_a_count_that_is_no_number_is_refused_at_its_field_and_the_old_one_stays() -> (
    None
):
    value = posted(claim(), f"{ASK}.count", "4")
    applied = with_fields(value, {f"{ASK}.count": ["four"]})
    assert applied.value == value
    assert applied.refused == {f"{ASK}.count": "'four' is not a whole number."}


def test_a_blank_field_takes_its_key_away() -> None:
    value = posted(claim(), f"{ASK}.count", "4")
    assert posted(value, f"{ASK}.count", "") == claim()


def test_an_emptied_class_name_stays_in_the_text_to_be_filled_in() -> None:
    new = posted(claim(), f"{ASK}.deviceClassName", "")
    assert new["spec"]["devices"]["requests"][0]["exactly"] == {"deviceClassName": ""}


def test_all_devices_need_no_count() -> None:
    value = posted(claim(), f"{ASK}.count", "4")
    new = posted(value, f"{ASK}.allocationMode", "All")
    assert new["spec"]["devices"]["requests"][0]["exactly"] == {
        "deviceClassName": "a",
        "allocationMode": "All",
    }


def test_admin_access_is_true_or_absent() -> None:
    value = posted(claim(), f"{ASK}.adminAccess", "", "on")
    assert value["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] is True
    assert posted(value, f"{ASK}.adminAccess", "") == claim()


def test_an_expression_keeps_its_lines() -> None:
    value = claim()
    value["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [
        {"cel": {"expression": "true"}}
    ]
    new = posted(
        value, f"{ASK}.selectors[0].cel.expression", "\r\na &&\r\n  b // why\r\n"
    )
    assert (
        new["spec"]["devices"]["requests"][0]["exactly"]["selectors"][0]["cel"][
            "expression"
        ]
        == "a &&\n  b // why"
    )


def test_a_capacity_has_a_name_in_brackets() -> None:
    value = claim()
    value["spec"]["devices"]["requests"][0]["exactly"]["capacity"] = {
        "requests": {"memory": "1Gi", "x.io/cores": "2"}
    }
    new = posted(value, f"{ASK}.capacity.requests[x.io/cores]", "4")
    assert new["spec"]["devices"]["requests"][0]["exactly"]["capacity"]["requests"] == {
        "memory": "1Gi",
        "x.io/cores": "4",
    }


@pytest.mark.parametrize("name", ["count", "tolerationSeconds", "adminAccess"])
def test_a_capacity_that_is_called_as_another_field_is_an_amount(name: str) -> None:
    at = f"{ASK}.capacity.requests.{name}"
    new = posted(claim(), at, "5Gi")
    asked = new["spec"]["devices"]["requests"][0]["exactly"]
    assert asked["capacity"] == {"requests": {name: "5Gi"}}
    without = posted(new, at, "")["spec"]["devices"]["requests"][0]["exactly"]
    assert without["capacity"] == {"requests": {}}


def test_renaming_leaves_lists_alone_that_do_not_name_it() -> None:
    value = claim(constraints=[{"requests": ["other", "other"]}])
    new = posted(value, "spec.devices.requests[0].name", "card")
    assert new["spec"]["devices"]["constraints"] == [{"requests": ["other", "other"]}]


def test_a_renamed_request_is_renamed_where_it_is_named() -> None:
    value = claim(
        constraints=[{"requests": ["gpu", "nic"], "matchAttribute": "a/b"}],
        config=[{"requests": ["gpu/best"], "opaque": {"driver": "d"}}],
    )
    new = posted(value, "spec.devices.requests[0].name", "card")
    assert new["spec"]["devices"]["constraints"][0]["requests"] == ["card", "nic"]
    assert new["spec"]["devices"]["config"][0]["requests"] == ["card/best"]


def test_a_renamed_alternative_is_renamed_where_it_is_named() -> None:
    value = claim(
        requests=[
            {"name": "gpu", "firstAvailable": [{"name": "best"}, {"name": "other"}]}
        ],
        config=[{"requests": ["gpu/best", "gpu/other"], "opaque": {"driver": "d"}}],
    )
    new = posted(value, "spec.devices.requests[0].firstAvailable[0].name", "h100")
    assert new["spec"]["devices"]["config"][0]["requests"] == ["gpu/h100", "gpu/other"]


def test_a_name_that_two_requests_had_is_left_alone_elsewhere() -> None:
    value = claim(
        requests=[{"name": "gpu"}, {"name": "gpu"}],
        constraints=[{"requests": ["gpu"], "matchAttribute": "a/b"}],
    )
    new = posted(value, "spec.devices.requests[1].name", "other")
    assert new["spec"]["devices"]["constraints"][0]["requests"] == ["gpu"]


def test_requests_of_a_constraint_are_a_list_and_none_means_all() -> None:
    value = claim(constraints=[{"matchAttribute": "a/b"}])
    new = posted(value, "spec.devices.constraints[0].requests", "", "gpu", "nic")
    assert new["spec"]["devices"]["constraints"] == [
        {"matchAttribute": "a/b", "requests": ["gpu", "nic"]}
    ]
    assert posted(new, "spec.devices.constraints[0].requests", "") == value


def test_a_constraint_changes_its_kind_in_place() -> None:
    value = claim(constraints=[{"matchAttribute": "a/b", "requests": ["gpu"]}])
    new = posted(value, "~kind:spec.devices.constraints[0]", "distinctAttribute")
    assert list(new["spec"]["devices"]["constraints"][0].items()) == [
        ("distinctAttribute", "a/b"),
        ("requests", ["gpu"]),
    ]
    new = posted(new, "~attribute:spec.devices.constraints[0]", " c/d ")
    assert new["spec"]["devices"]["constraints"][0]["distinctAttribute"] == "c/d"


def test_parameters_are_an_object_in_json_or_yaml() -> None:
    value = claim(config=[{"opaque": {"driver": "d", "parameters": {}}}])
    name = "spec.devices.config[0].opaque.parameters"
    for text in ('{"kind": "GpuConfig"}', "kind: GpuConfig\n"):
        new = posted(value, name, text)
        assert new["spec"]["devices"]["config"][0]["opaque"]["parameters"] == {
            "kind": "GpuConfig"
        }
    for text in ("[1]", "a: [", "just text"):
        applied = with_fields(value, {name: [text]})
        assert name in applied.refused
        assert applied.value == value


def test_a_field_of_an_entry_that_is_gone_changes_nothing() -> None:
    for name in (
        "spec.devices.requests[3].name",
        "spec.devices.requests[0].firstAvailable[0].deviceClassName",
        "~kind:spec.devices.constraints[0]",
        "",
        "]",
        "a..b",
        "spec.devices.requests[0][1]",
    ):
        assert with_fields(claim(), {name: ["x"]}).value == claim()


@given(
    st.dictionaries(
        st.text(max_size=60) | st.sampled_from([ASK, f"{ASK}.count", "spec", "kind"]),
        st.lists(st.text(max_size=20), max_size=2),
        max_size=4,
    )
)
def test_no_field_raises(fields: dict[str, list[str]]) -> None:
    with_fields(claim(), fields)


@pytest.mark.parametrize(
    "text",
    [
        "metadata.name",
        "spec.devices.requests[0].exactly.capacity.requests[x.io/cores]",
        "metadata.labels[a/b.c]",
    ],
)
def test_a_path_reads_as_it_is_written(text: str) -> None:
    assert paths.text_of(paths.parse(text)) == text
