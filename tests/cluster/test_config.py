from __future__ import annotations

from pathlib import Path

import pytest

from cluster.config import MAX_BYTES, cluster_from_dump, load_clusters
from cluster.errors import ConfigError


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "clusters.yaml"
        path.write_text(text)
        return path

    return write


def test_every_kind_of_cluster_is_read_in_the_order_of_the_file(write, tmp_path):
    clusters = load_clusters(
        write("""
clusters:
- {name: demo, kubeconfig: sub/demo.kubeconfig, context: admin, writer: direct}
- {name: prod, inCluster: true}
- {name: looked-at, kubeconfig: /etc/kubeconfig, writer: none}
- {name: customer, dump: [a.json, b.yaml]}
- {name: small, dump: one.json}
""")
    )
    demo, prod, looked_at, customer, small = clusters

    assert (demo.name, demo.source, demo.writer) == ("demo", "kubeconfig", "direct")
    assert demo.kubeconfig == tmp_path / "sub/demo.kubeconfig"
    assert demo.origin == f"{tmp_path}/sub/demo.kubeconfig (context admin)"
    assert (prod.source, prod.writer, prod.read_only) == ("in-cluster", "direct", False)
    assert looked_at.kubeconfig == Path("/etc/kubeconfig")
    assert looked_at.read_only
    assert customer.dump == (tmp_path / "a.json", tmp_path / "b.yaml")
    assert (customer.source, customer.writer) == ("dump", "none")
    assert customer.origin == "a.json, b.yaml"
    assert small.dump == (tmp_path / "one.json",)


def test_a_file_that_is_named_need_not_exist(write):
    """One missing kubeconfig must not hide the other clusters."""
    [config] = load_clusters(write("clusters: [{name: a, kubeconfig: nowhere}]"))
    assert config.kubeconfig is not None
    assert not config.kubeconfig.exists()


def test_no_clusters_are_allowed(write):
    assert load_clusters(write("clusters: []")) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "clusters.yaml: is empty"),
        ("[]", "clusters.yaml: must be a mapping with the key clusters"),
        ("clusters: 5", "clusters.yaml: clusters: must be a list of clusters"),
        ("{}", "clusters.yaml: clusters: must be a list of clusters"),
        (
            "{clusters: [], extra: 1}",
            "clusters.yaml: extra: unknown key; only clusters is known",
        ),
        ("clusters: [x]", "clusters.yaml: clusters[0]: must be a mapping"),
        (
            "clusters: [{kubeconfig: a}]",
            "clusters.yaml: clusters[0].name: is missing",
        ),
        (
            "clusters: [{name: 5, kubeconfig: a}]",
            "clusters.yaml: clusters[0].name: must be text",
        ),
        (
            "clusters: [{name: Prod_1, kubeconfig: a}]",
            "clusters.yaml: clusters[0].name: must be 1 to 63 lower-case letters",
        ),
        (
            "clusters: [{name: a}]",
            "clusters.yaml: clusters[0]: needs one of kubeconfig, inCluster",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, dump: [y]}]",
            "clusters.yaml: clusters[0].dump: only one of kubeconfig and dump can",
        ),
        (
            "clusters: [{name: a, inCluster: false}]",
            "clusters.yaml: clusters[0].inCluster: can only be true",
        ),
        (
            "clusters: [{name: a, inCluster: true, context: x}]",
            "clusters.yaml: clusters[0].context: only goes with kubeconfig",
        ),
        (
            "clusters: [{name: a, kubeconfig: ''}]",
            "clusters.yaml: clusters[0].kubeconfig: must be text",
        ),
        (
            "clusters: [{name: a, dump: []}]",
            "clusters.yaml: clusters[0].dump: must be a list of files",
        ),
        (
            "clusters: [{name: a, dump: [x, 5]}]",
            "clusters.yaml: clusters[0].dump[1]: must be a file name",
        ),
        (
            "clusters: [{name: a, dump: [x], writer: direct}]",
            "clusters.yaml: clusters[0].writer: a dump cannot be written to",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, writer: carrier}]",
            "clusters.yaml: clusters[0].writer: must be direct or none",
        ),
        (
            "clusters: [{name: a, kubeConfig: x}]",
            "clusters.yaml: clusters[0].kubeConfig: unknown key; known are name, kub",
        ),
        (
            "clusters: [{name: a, dump: x}, {name: a, dump: y}]",
            "clusters.yaml: clusters[1].name: a is also the name of clusters[0]",
        ),
        (
            "clusters:\n- name: a\n  name: b",
            "clusters.yaml: not valid YAML: line 3, column 3: a key is given twice",
        ),
        ("clusters: [", "clusters.yaml: not valid YAML: line "),
        (
            "clusters: &a [*a]",
            "clusters.yaml: not valid YAML: line 1, column 11: alias",
        ),
        (
            "clusters: !!python/object/apply:os.getcwd []",
            "clusters.yaml: not valid YAML: line 1, column 11: could not determine",
        ),
        ("a: 1\n---\nb: 2", "clusters.yaml: must hold one YAML document"),
        ("#" * (MAX_BYTES + 1), "clusters.yaml: bigger than 1,000,000 bytes"),
    ],
)
def test_every_mistake_names_its_field(write, text, message):
    with pytest.raises(ConfigError) as caught:
        load_clusters(write(text))
    assert str(caught.value).startswith(message)


def test_a_missing_file_says_which(tmp_path):
    with pytest.raises(ConfigError, match=r"nothing-here\.yaml: there is no such file"):
        load_clusters(tmp_path / "nothing-here.yaml")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ConfigError, match="is a directory"):
        load_clusters(tmp_path)


def test_a_dump_alone_makes_a_read_only_cluster():
    config = cluster_from_dump("dump", [Path("a.json")])
    assert config.dump == (Path.cwd() / "a.json",)
    assert config.read_only


@pytest.mark.parametrize(("name", "paths"), [("A b", [Path("x")]), ("a", [])])
def test_a_dump_needs_a_name_and_files(name, paths):
    with pytest.raises(ConfigError):
        cluster_from_dump(name, paths)
