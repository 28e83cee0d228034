"""Drafts as the engine reads them."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claims.authoring.reading import claim_of
from dra.errors import ObjectError
from tests.allocator import builders as build


def test_a_claim_and_a_template_ask_for_the_same() -> None:
    claim = claim_of(build.claim("mine"))
    template = claim_of(build.template("mine"))
    assert claim.spec == template.spec
    assert (claim.metadata.namespace, claim.metadata.name) == ("lab", "mine")


def test_an_older_layout_is_read_too() -> None:
    flat = {"name": "gpu"} | build.request()["exactly"]
    old = build.claim("mine", flat) | {"apiVersion": "resource.k8s.io/v1beta1"}
    assert claim_of(old).spec == claim_of(build.claim("mine")).spec


def test_what_is_left_out_is_filled_in() -> None:
    bare = {"kind": "ResourceClaim", "spec": build.claim("x")["spec"]}
    assert claim_of(bare).metadata.namespace == "default"
    assert claim_of(bare, namespace="lab").metadata.namespace == "lab"
    assert claim_of(bare | {"metadata": {"generateName": "a-"}}).metadata.name == "a-"
    assert claim_of({"kind": "ResourceClaim"}).spec.devices.requests is None


def test_an_allocated_claim_is_asked_about_as_if_it_were_new() -> None:
    held = build.allocated("mine", build.result("n0", "gpu-0"))
    assert claim_of(held).status.allocation is None


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (build.pod("p", "c"), "kind"),
        ({"kind": "ResourceClaim", "metadata": []}, "metadata"),
        ({"kind": "ResourceClaim", "metadata": {"name": 7}}, "metadata.name"),
        ({"kind": "ResourceClaim", "spec": {"devices": 7}}, "spec.devices"),
        ({"kind": "ResourceClaimTemplate", "spec": 7}, "spec"),
        (
            build.claim("x", build.request(count=2**63)),
            "spec.devices.requests[0].exactly.count",
        ),
        (
            {"kind": "ResourceClaimTemplate", "spec": {"spec": {"devices": 7}}},
            "spec.spec.devices",
        ),
    ],
)
def test_what_cannot_be_read_has_its_path(value: Any, path: str) -> None:
    with pytest.raises(ObjectError) as caught:
        claim_of(value)
    assert caught.value.path == path


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    spec=JSON_VALUES,
    meta=JSON_VALUES,
    kind=st.sampled_from(["ResourceClaim", "ResourceClaimTemplate"]),
)
def test_any_json_is_read_or_refused(spec: Any, meta: Any, kind: str) -> None:
    with contextlib.suppress(ObjectError):
        claim_of({"kind": kind, "metadata": meta, "spec": spec})
