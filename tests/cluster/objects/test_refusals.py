"""Error texts of real API servers, and what they tell somebody who writes an object."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.errors import from_status
from cluster.objects import Forbidden, Invalid
from cluster.objects.refusals import Act, refusal
from cluster.resources import BY_KIND, ServedResource

AS_A = 'ResourceClaim in version "v1" cannot be handled as a ResourceClaim: '


def act(version: str = "v1", kind: str = "ResourceClaim", user: str = "") -> Act:
    namespace = "" if kind == "DeviceClass" else "lab"
    return Act("create", ServedResource(BY_KIND[kind], version), namespace, user)


def said(
    code: int, message: str, *causes: tuple[str, str, str], how: Act | None = None
) -> Any:
    listed = [{"field": f, "message": m, "reason": r} for f, m, r in causes]
    status = {
        "code": code,
        "message": message,
        "details": {"causes": listed} if listed else {},
    }
    return refusal(from_status(status, write=True), how or act())


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        (
            f'{AS_A}strict decoding error: unknown field "spec.devices.x"',
            ["spec.devices.x"],
        ),
        (
            f'{AS_A}strict decoding error: unknown field "spec.a", unknown field '
            '"metadata.labels[b/c]", duplicate field "spec.d"',
            ["spec.a", "metadata.labels[b/c]", "spec.d"],
        ),
        (
            f"{AS_A}json: cannot unmarshal number 1.5 into Go struct field "
            "ExactDeviceRequest.spec.devices.requests.exactly.count of type int64",
            ["spec.devices.requests.exactly.count"],
        ),
        (f"{AS_A}unable to parse quantity's suffix", []),
        ("the name of the object (a) does not match the name on the URL (b)", []),
    ],
)
def test_the_fields_that_a_bad_request_names_are_found(
    message: str, fields: list[str]
) -> None:
    outcome = said(400, message)
    assert isinstance(outcome, Invalid)
    assert [cause.field for cause in outcome.causes] == fields
    assert outcome.reason.startswith("The API server refuses it")
    if not fields:
        assert message in outcome.reason


def test_causes_keep_their_order_and_words() -> None:
    outcome = said(
        422,
        "two things",
        ("spec.b", "Required value", "FieldValueRequired"),
        ("spec.a", 'Invalid value: "x"', "FieldValueInvalid"),
    )
    assert [(c.field, c.message, c.reason) for c in outcome.causes] == [
        ("spec.b", "Required value", "FieldValueRequired"),
        ("spec.a", 'Invalid value: "x"', "FieldValueInvalid"),
    ]
    assert outcome.reason == "The API server refuses it: 2 things are wrong."


@pytest.mark.parametrize(
    ("served", "v1"),
    [
        ("spec.devices.requests[0].count", "spec.devices.requests[0].exactly.count"),
        (
            "spec.spec.devices.requests[12].selectors[1].cel.expression",
            "spec.spec.devices.requests[12].exactly.selectors[1].cel.expression",
        ),
        ("spec.devices.requests[0].name", "spec.devices.requests[0].name"),
        (
            "spec.devices.requests[0].firstAvailable[1].count",
            "spec.devices.requests[0].firstAvailable[1].count",
        ),
        (
            "spec.devices.requests[0].exactly.count",
            "spec.devices.requests[0].exactly.count",
        ),
        ("spec.devices.requests[0]", "spec.devices.requests[0]"),
        ("spec.devices.constraints[0].requests[0]", None),
        ("metadata.name", "metadata.name"),
    ],
)
def test_paths_of_an_old_version_are_told_in_v1_form(
    served: str, v1: str | None
) -> None:
    cause = (served, "wrong", "FieldValueInvalid")
    outcome = said(422, "x", cause, how=act("v1beta1"))
    assert outcome.causes[0].field == (v1 or served)
    assert said(422, "x", cause).causes[0].field == served


@pytest.mark.parametrize(
    "causes", [None, "text", [1, None], [{"field": None}], [{"message": 7}]]
)
def test_odd_causes_are_no_crash(causes: Any) -> None:
    error = from_status({"code": 422, "message": "x", "details": {"causes": causes}})
    assert isinstance(refusal(error, act()), Invalid)


def test_a_namespace_that_is_going_away_is_quoted() -> None:
    message = (
        'resourceclaims.resource.k8s.io "a" is forbidden: unable to create new content '
        "in namespace lab because it is being terminated"
    )
    outcome = said(403, message)
    assert isinstance(outcome, Forbidden)
    assert message in outcome.reason
    assert not outcome.missing


def test_a_right_on_classes_is_granted_in_the_whole_cluster() -> None:
    message = (
        'deviceclasses.resource.k8s.io is forbidden: User "ada" cannot create resource '
        '"deviceclasses" in API group "resource.k8s.io" at the cluster scope'
    )
    outcome = said(403, message, how=act(kind="DeviceClass", user="ada"))
    assert outcome.missing == "create deviceclasses"
    assert outcome.reason.startswith("The user ada may not create deviceclasses.")
    assert outcome.grant.splitlines() == [
        "kubectl create clusterrole dra-portal-deviceclasses "
        "--verb=get,create,update,delete --resource=deviceclasses.resource.k8s.io",
        "kubectl create clusterrolebinding dra-portal-deviceclasses "
        "--clusterrole=dra-portal-deviceclasses --user=ada",
    ]


def test_a_proxy_that_answers_in_html_is_an_answer_without_words() -> None:
    outcome = said(413, "")
    assert isinstance(outcome, Invalid)
    assert "(413)" in outcome.reason
