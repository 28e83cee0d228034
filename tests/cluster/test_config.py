from __future__ import annotations

from pathlib import Path

import pytest

from cluster.config import MAX_BYTES, load_clusters
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
    assert (prod.source, prod.writer, prod.read_only) == (
        "in-cluster",
        "carrier",
        False,
    )
    assert looked_at.kubeconfig == Path("/etc/kubeconfig")
    assert looked_at.read_only
    assert customer.dump == (tmp_path / "a.json", tmp_path / "b.yaml")
    assert (customer.source, customer.writer) == ("dump", "none")
    assert customer.origin == "a.json, b.yaml"
    assert small.dump == (tmp_path / "one.json",)


def test_the_options_of_a_writer_are_read_beside_it(write):
    carrier, direct = load_clusters(
        write("""
clusters:
- name: a
  inCluster: true
  owner: portal-north
  carrier:
    {image: registry.example.com/pause:1, waitSeconds: 120, exactDevices: true,
     resources: {memory: 16Mi, cpu: 10m}, priorityClass: no-preemption,
     labels: {mesh.example.com/inject: "false"}}
  scheduler: {version: v1.37.1, names: [default-scheduler, batch]}
- name: b
  inCluster: true
  writer: direct
  guard: {by: node-taint, settleMilliseconds: 400, namespace: barriers}
""")
    )

    assert carrier.options.owner == "portal-north"
    assert carrier.options.carrier.image == "registry.example.com/pause:1"
    assert carrier.options.carrier.wait == 120
    assert carrier.options.carrier.exact_devices
    assert not carrier.options.carrier.accept_other_devices
    assert carrier.options.carrier.resources == (("cpu", "10m"), ("memory", "16Mi"))
    assert carrier.options.carrier.priority_class == "no-preemption"
    assert carrier.options.carrier.labels == (("mesh.example.com/inject", "false"),)
    assert carrier.options.scheduler.names == ("default-scheduler", "batch")
    assert carrier.options.scheduler.version == "v1.37.1"
    assert (direct.options.guard.by, direct.options.guard.settle) == ("node-taint", 0.4)
    assert direct.options.guard.namespace == "barriers"
    assert direct.options.guard.barrier == 60


def test_gates_that_are_not_as_by_default_are_read(write):
    (config,) = load_clusters(
        write(
            "clusters: [{name: a, dump: x, featureGates: {DRADerivedAttributes: true}}]"
        )
    )
    assert config.feature_gates == {"DRADerivedAttributes": True}


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
            "clusters: [{name: a, kubeconfig: x, writer: pod}]",
            "clusters.yaml: clusters[0].writer: must be one of carrier, direct, unguar",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, guard: {by: rule}}]",
            "clusters.yaml: clusters[0].guard: only goes with writer: direct",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, writer: direct, carrier: {}}]",
            "clusters.yaml: clusters[0].carrier: only goes with writer: carrier",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: [x]}]",
            "clusters.yaml: clusters[0].carrier: must be a mapping",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: {waitSeconds: 0}}]",
            "clusters.yaml: clusters[0].carrier.waitSeconds: must be a number from 1",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: {waitSeconds: true}}]",
            "clusters.yaml: clusters[0].carrier.waitSeconds: must be a number",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: {imge: x}}]",
            "clusters.yaml: clusters[0].carrier.imge: unknown key; known are image,",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: {namePrefix: Carrier}}]",
            "clusters.yaml: clusters[0].carrier.namePrefix: must be up to 31 lower",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: {resources: {cpu: 1}}}]",
            "clusters.yaml: clusters[0].carrier.resources: must be amounts, such as 10m",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: {resources: {gpu: 1m}}}]",
            "clusters.yaml: clusters[0].carrier.resources: must be amounts, such as 10m",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: {labels: {a: false}}}]",
            "clusters.yaml: clusters[0].carrier.labels: must be labels with text values",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: {priorityClass: A}}]",
            "clusters.yaml: clusters[0].carrier.priorityClass: must be the name of a",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, carrier: {exactDevices: 1}}]",
            "clusters.yaml: clusters[0].carrier.exactDevices: must be true or false",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, writer: direct, guard: {by: x}}]",
            "clusters.yaml: clusters[0].guard.by: must be one of auto, rule, node-tai",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, scheduler: {names: []}}]",
            "clusters.yaml: clusters[0].scheduler.names: must be a list of 1 to 8",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, scheduler: {version: latest}}]",
            "clusters.yaml: clusters[0].scheduler.version: must be a version like 1.3",
        ),
        (
            "clusters: [{name: a, kubeconfig: x, owner: A B}]",
            "clusters.yaml: clusters[0].owner: must be 1 to 40 lower-case letters",
        ),
        (
            "clusters: [{name: a, dump: x, featureGates: [DRADerivedAttributes]}]",
            "clusters.yaml: clusters[0].featureGates: must be a mapping of names",
        ),
        (
            "clusters: [{name: a, dump: x, featureGates: {DRANothing: true}}]",
            "clusters.yaml: clusters[0].featureGates.DRANothing: is no gate that is",
        ),
        (
            "clusters: [{name: a, dump: x, featureGates: {DRAAdminAccess: 1}}]",
            "clusters.yaml: clusters[0].featureGates.DRAAdminAccess: must be true or",
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
