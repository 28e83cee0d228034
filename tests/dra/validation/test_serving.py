"""Advice on an object in a version that the cluster does not serve."""

from __future__ import annotations

import pytest

from dra.snapshot import Snapshot
from dra.validation import Gates
from dra.validation.advice import advise
from tests.dra.validation.objects import claim, request

EMPTY = Snapshot.build([])
GROUP = "resource.k8s.io"
ENABLED = " (a beta version only where an administrator enabled it)"


def told(version, *, kind="ResourceClaim", kubernetes="1.36", served=""):
    """What is said of the version: the sentence and the suggestion, or None."""
    sent = {**claim(request("gpu", "gpu")), "kind": kind}
    found = advise(
        sent | {"apiVersion": f"{GROUP}/{version}"},
        EMPTY,
        features=Gates.preset(kubernetes),
        served=served and f"{GROUP}/{served}",
    )
    said = [a for a in found if a.code == "version-not-served"]
    assert {a.field for a in said} <= {"apiVersion"}
    assert len(said) <= 1
    return (said[0].message, said[0].suggestion) if said else None


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_a_version_newer_than_the_newest_that_is_served_is_refused(version):
    assert told(version, kubernetes="1.34", served="v1beta1") == (
        f"This cluster does not serve {GROUP}/{version} for a ResourceClaim: the newest "
        f"version that it serves is {GROUP}/v1beta1. kubectl would refuse the object.",
        "",
    )


def test_a_version_of_the_same_layout_is_put_in_its_place():
    found = told("v1", kubernetes="1.33", served="v1beta2")
    assert found is not None
    assert found[1] == f"{GROUP}/v1beta2"


@pytest.mark.parametrize(
    ("version", "kubernetes", "served", "instead"),
    [
        ("v1", "1.33", "", f"yet, but {GROUP}/v1beta2 or {GROUP}/v1beta1{ENABLED}"),
        (
            "v1beta1",
            "1.38",
            "",
            f"any more, but {GROUP}/v1 or {GROUP}/v1beta2{ENABLED}",
        ),
        ("v1beta1", "1.38", "v1", f"any more, but {GROUP}/v1"),
        ("v1beta2", "1.39", "", f"any more, but {GROUP}/v1"),
    ],
)
def test_a_release_tells_what_it_cannot_serve(version, kubernetes, served, instead):
    found = told(version, kubernetes=kubernetes, served=served)
    assert found is not None
    assert f"Kubernetes {kubernetes} does not serve {GROUP}/{version} " in found[0]
    assert f"for a ResourceClaim {instead}. kubectl" in found[0]


@pytest.mark.parametrize(
    ("version", "kubernetes", "served"),
    [
        ("v1", "1.36", "v1"),
        ("v1", "1.36", ""),
        ("v1beta2", "1.33", "v1beta2"),
        # A beta version beside a newer one: an administrator may have enabled it.
        ("v1beta1", "1.36", "v1"),
        ("v1beta1", "1.36", ""),
        # Served whatever the release says.
        ("v1", "1.33", "v1"),
        ("v7", "1.36", "v1"),
        ("v1", "1.36", "v7"),
    ],
)
def test_nothing_is_said_of_what_may_be_served(version, kubernetes, served):
    assert told(version, kubernetes=kubernetes, served=served) is None


@pytest.mark.parametrize(
    ("version", "kubernetes", "refused"),
    [
        ("v1", "1.36", True),
        ("v1beta2", "1.35", True),
        ("v1beta2", "1.36", False),
        ("v1alpha3", "1.36", False),
        ("v1alpha3", "1.39", True),
    ],
)
def test_taint_rules_have_versions_of_their_own(version, kubernetes, refused):
    found = told(version, kind="DeviceTaintRule", kubernetes=kubernetes)
    assert (found is not None) is refused
