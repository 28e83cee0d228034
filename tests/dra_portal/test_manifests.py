"""The manifests: each parses, fits the others, the compose file, the roles, the code."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.urls import resolve

from cluster.config import load_clusters
from cluster.rights import ROLES, roles_for
from tests.dra_portal.deployed import (
    OURS,
    ROOT,
    Json,
    compose,
    manifests,
    of_kind,
    pods,
    settings,
)

PODS = pods()
SERVICES: dict[str, Json] = compose()["services"]
FOLDER = ROOT / "deploy" / "kubernetes"


def test_every_manifest_is_complete_and_named_once() -> None:
    found = manifests()
    for manifest in found:
        assert {"apiVersion", "kind", "metadata"} <= set(manifest)
    names = [(m["kind"], m["metadata"]["name"]) for m in found]
    assert len(names) == len(set(names))


def test_every_file_of_the_folder_belongs_to_it() -> None:
    listed = set(
        yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    )
    files = {path.name for path in FOLDER.glob("*.yaml")}
    assert files - listed == {"kustomization.yaml", "secret.example.yaml"}


def test_it_runs_what_compose_runs() -> None:
    same = {"db": "postgres"}
    assert {same.get(name, name) for name in SERVICES} == set(PODS)
    for name in OURS:
        (container,) = PODS[name]["containers"]
        assert container["image"] == "dra-portal"
        assert container["command"] == SERVICES[name]["command"]
    for name in ("db", "redis"):
        (container,) = PODS[same.get(name, name)]["containers"]
        assert container["image"] == SERVICES[name]["image"]


def test_its_settings_are_those_of_compose() -> None:
    assert set(settings()) == set(SERVICES["web"]["environment"])
    for name in OURS:
        (container,) = PODS[name]["containers"]
        own = {e["name"]: e["value"] for e in container.get("env", ())}
        theirs = SERVICES[name]["environment"]
        assert own == {k: v for k, v in theirs.items() if "METRICS" in k}


@pytest.mark.parametrize("name", PODS)
def test_every_pod_is_restricted(name: str) -> None:
    pod = PODS[name]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (*pod["containers"], *pod.get("initContainers", ())):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "memory" in container["resources"]["limits"]
        assert {"cpu", "memory"} <= set(container["resources"]["requests"])


@pytest.mark.parametrize("name", PODS)
def test_every_name_that_a_pod_uses_is_defined(name: str) -> None:
    pod = PODS[name]
    volumes = {v["name"] for v in pod.get("volumes", ())}
    claimed = {
        t["metadata"]["name"]
        for m in of_kind("StatefulSet").values()
        for t in m["spec"]["volumeClaimTemplates"]
    }
    assert pod["serviceAccountName"] in of_kind("ServiceAccount")
    for volume in pod.get("volumes", ()):
        if "configMap" in volume:
            assert volume["configMap"]["name"] in of_kind("ConfigMap")
    for container in (*pod["containers"], *pod.get("initContainers", ())):
        mounted = {m["name"] for m in container["volumeMounts"]}
        assert mounted <= volumes | (claimed if name == "postgres" else set())
        for source in container.get("envFrom", ()):
            assert source["configMapRef"]["name"] in of_kind("ConfigMap")


def probes(container: Json) -> list[Json]:
    kinds = ("startupProbe", "livenessProbe", "readinessProbe")
    return [container[kind] for kind in kinds if kind in container]


def test_probes_ask_for_what_there_is() -> None:
    for name in set(PODS) - {"migrate"}:
        (container,) = PODS[name]["containers"]
        assert probes(container), name
        ports = {port["name"] for port in container["ports"]}
        for probe in probes(container):
            if asked := probe.get("httpGet"):
                assert resolve(asked["path"]).url_name in ("healthz", "readyz")
                assert asked["port"] in ports
                (header,) = asked["httpHeaders"]
                assert header["value"] in settings()["DRA_PORTAL_HOSTS"].split(",")
            if name in ("watch", "worker", "beat"):
                assert f"/tmp/{name}.alive " in probe["exec"]["command"][-1]


def test_selectors_select() -> None:
    templates = [
        m["spec"]["template"]["metadata"]["labels"]
        for m in of_kind("Deployment", "StatefulSet", "Job").values()
    ]

    def selected(labels: Json) -> int:
        return sum(labels.items() <= template.items() for template in templates)

    for m in of_kind("Service").values():
        assert selected(m["spec"]["selector"]) == 1
    for m in of_kind("PodDisruptionBudget", "Deployment", "StatefulSet").values():
        assert selected(m["spec"]["selector"]["matchLabels"]) == 1
    for m in of_kind("NetworkPolicy").values():
        (expression,) = m["spec"]["podSelector"]["matchExpressions"]
        for value in expression["values"]:
            assert selected({expression["key"]: value}) == 1


def test_addresses_of_database_and_queue_are_services() -> None:
    services = of_kind("Service")
    for variable, name in (("DATABASE", "postgres"), ("BROKER", "redis")):
        host, _, port = settings()[f"DRA_PORTAL_{variable}"].rpartition("@")[2].removeprefix("redis://").partition("/")[0].partition(":")  # fmt: skip
        assert host == f"dra-portal-{name}"
        assert services[host]["spec"]["ports"][0]["port"] == int(port)


def test_files_of_secrets_are_keys_of_the_secret() -> None:
    example = yaml.safe_load((FOLDER / "secret.example.yaml").read_text())
    assert not any(example["stringData"].values())
    files = {v.rpartition("/")[2] for k, v in settings().items() if k.endswith("_FILE")}
    assert files == set(example["stringData"])


def test_its_clusters_file_is_one_and_the_roles_of_its_writer_are_granted(
    tmp_path: Any,
) -> None:
    path = tmp_path / "clusters.yaml"
    path.write_text(
        of_kind("ConfigMap")["dra-portal-clusters"]["data"]["clusters.yaml"]
    )
    (cluster,) = load_clusters(path)
    assert cluster.in_cluster
    needed = roles_for(cluster.writer, cluster.options, rules_served=False)
    granted = set(of_kind("ClusterRole", "Role"))
    assert {*needed, "dra-portal-authoring"} <= granted
    assert granted <= set(ROLES)


def patched_subjects(role: str) -> set[str]:
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    for patch in kustomization["patches"]:
        if patch["target"] == {"kind": "ClusterRoleBinding", "name": role}:
            (change,) = yaml.safe_load(patch["patch"])
            return {subject["name"] for subject in change["value"]}
    binding = of_kind("ClusterRoleBinding", "RoleBinding")[role]
    return {subject["name"] for subject in binding["subjects"]}


def test_each_process_has_the_rights_it_needs_and_no_others() -> None:
    accounts = {name: PODS[name]["serviceAccountName"] for name in OURS}
    assert patched_subjects("dra-portal-reader") == {
        accounts["web"],
        accounts["watch"],
        accounts["worker"],
    }
    assert patched_subjects("dra-portal-carrier") == {accounts["worker"]}
    assert patched_subjects("dra-portal-carrier-pods") == {accounts["worker"]}
    assert patched_subjects("dra-portal-authoring") == {accounts["web"]}
    idle = of_kind("ServiceAccount")[accounts["beat"]]
    assert idle["automountServiceAccountToken"] is False
    assert accounts["migrate"] == PODS["redis"]["serviceAccountName"] == idle["metadata"]["name"]  # fmt: skip
