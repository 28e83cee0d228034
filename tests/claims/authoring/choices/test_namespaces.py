"""Namespaces to choose from say whether admin access is allowed."""

from __future__ import annotations

from claims.authoring.choices import namespace_choices
from dra.snapshot import Snapshot


def test_those_of_kubernetes_come_last(demo: Snapshot) -> None:
    names = [choice.name for choice in namespace_choices(demo)]
    assert names[:2] == ["default", "inference"]
    assert names[-1] == "kube-system"


def test_admin_access_needs_the_label(demo: Snapshot) -> None:
    found = {choice.name: choice for choice in namespace_choices(demo)}
    assert [name for name, choice in found.items() if choice.admin] == ["monitoring"]
    assert found["monitoring"].sentence == "Claims here may ask for admin access."
    assert "lacks the label" in found["default"].sentence
