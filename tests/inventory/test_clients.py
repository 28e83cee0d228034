"""Clients of clusters: one each, as long as the file says the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inventory import clients
from inventory.clients import NoClientError

KUBECONFIG = """
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


@pytest.fixture
def file(tmp_path: Path, settings: Any) -> Iterator[Path]:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG, encoding="utf-8")
    path = tmp_path / "clusters.yaml"
    path.write_text(
        "clusters:\n- {name: a, kubeconfig: kubeconfig}\n- {name: b, dump: [x]}\n",
        encoding="utf-8",
    )
    settings.CLUSTERS_FILE = str(path)
    clients.forget()
    yield path
    clients.forget()


def test_a_client_stays_until_its_entry_changes(file: Path) -> None:
    first = clients.connected("a")
    assert clients.connected("a") is first
    file.write_text("clusters: [{name: a, kubeconfig: kubeconfig, impersonate: true}]")
    second = clients.connected("a")
    assert second is not first
    assert second.config.impersonate


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("b", "The cluster b is a dump file: there is no API server."),
        ("c", "The cluster c is not in the clusters file."),
    ],
)
def test_what_cannot_be_talked_to_is_said(file: Path, name: str, says: str) -> None:
    with pytest.raises(NoClientError) as caught:
        clients.connected(name)
    assert str(caught.value) == says


def test_a_broken_file_or_kubeconfig_is_a_sentence(file: Path) -> None:
    (file.parent / "kubeconfig").unlink()
    with pytest.raises(NoClientError, match=r"kubeconfig.*\.$"):
        clients.connected("a")
    file.write_text("clusters: 7")
    with pytest.raises(NoClientError, match=r"clusters\.yaml: .*\.$"):
        clients.connected("a")
