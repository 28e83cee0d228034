"""The rights that are needed: as data, as manifests, and as a cluster grants them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from cluster.rights import ROLES, check_rights, repair_role, roles_for
from cluster.standin.access import Rule, User
from cluster.standin.server import StandinServer
from cluster.writeback import Release, Released, Written
from cluster.writeback.leftovers import leftovers
from cluster.writeback.making import make_writer
from cluster.writeback.releasing import Releaser
from cluster.writer_options import (
    CarrierOptions,
    GuardOptions,
    SchedulerOptions,
    WriterName,
    WriterOptions,
)
from tests.cluster.guarded_world import GuardedWorld, options

DEPLOY = Path(__file__).parents[2] / "deploy"


def manifests(folder: str) -> list[dict[str, Any]]:
    return [
        document
        for path in sorted((DEPLOY / folder).glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]


def roles() -> dict[str, Any]:
    found = [m for m in manifests("rbac") if m["kind"] in ("ClusterRole", "Role")]
    return {role["metadata"]["name"]: role for role in found}


def rights_of(role: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {
        (verb, group, resource)
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_the_manifests_and_the_data_say_the_same():
    written = {name: rights_of(role) for name, role in roles().items()}
    known = {
        name: {(verb, n.group, n.resource) for n in needs for verb in n.verbs}
        for name, needs in ROLES.items()
    }
    assert written == known


def test_every_role_is_bound_to_the_portals_account():
    bindings = {
        m["roleRef"]["name"]: m
        for m in manifests("rbac")
        if m["kind"] in ("ClusterRoleBinding", "RoleBinding")
    }
    assert set(bindings) == set(roles())
    for name, binding in bindings.items():
        assert binding["kind"] == f"{roles()[name]['kind']}Binding"
        (subject,) = binding["subjects"]
        assert (subject["name"], subject["namespace"]) == ("dra-portal", "dra-portal")


def test_nothing_but_what_is_needed_is_granted():
    for role in roles().values():
        for verb, group, resource in rights_of(role):
            assert "*" not in (verb, group, resource)


def test_no_rule_of_a_manifest_goes_without_its_reason():
    for path in (DEPLOY / "rbac").glob("*.yaml"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if line.startswith("  - apiGroups"):
                assert lines[number - 1].strip().startswith("#"), f"{path}:{number + 1}"


def test_the_policy_refuses_bindings_of_pods_with_the_default_prefix():
    policy, binding = manifests("policies")
    assert policy["kind"] == "ValidatingAdmissionPolicy"
    assert binding["spec"]["policyName"] == policy["metadata"]["name"]
    (condition,) = policy["spec"]["matchConditions"]
    assert f'"{CarrierOptions().name_prefix}"' in condition["expression"]


SAFE = SchedulerOptions(taint_rules="safe")


@pytest.mark.parametrize(
    ("writer", "options", "expected"),
    [
        ("none", WriterOptions(), ["reader"]),
        ("carrier", WriterOptions(), ["reader", "carrier", "carrier-pods"]),
        (
            "carrier",
            WriterOptions(carrier=CarrierOptions(exact_devices=True)),
            ["reader", "carrier", "carrier-pods", "rules"],
        ),
        ("unguarded", WriterOptions(), ["reader", "direct"]),
        ("direct", WriterOptions(), ["reader", "direct", "node-taints", "barrier"]),
        (
            "direct",
            WriterOptions(scheduler=SAFE),
            ["reader", "direct", "rules", "barrier"],
        ),
        (
            "direct",
            WriterOptions(guard=GuardOptions(by="node-taint"), scheduler=SAFE),
            ["reader", "direct", "node-taints", "barrier"],
        ),
    ],
)
def test_each_way_of_writing_needs_its_roles(
    writer: WriterName, options: WriterOptions, expected: list[str]
):
    found = roles_for(writer, options, rules_served=True)
    assert found == tuple(f"dra-portal-{name}" for name in expected)


@pytest.mark.parametrize(
    ("writer", "options", "expected"),
    [
        ("none", WriterOptions(), ""),
        ("carrier", WriterOptions(), "node-taints"),
        ("carrier", WriterOptions(scheduler=SAFE), "rules"),
        (
            "carrier",
            WriterOptions(carrier=CarrierOptions(exact_devices=True), scheduler=SAFE),
            "",
        ),
        ("unguarded", WriterOptions(), "node-taints"),
        ("direct", WriterOptions(), ""),
        ("direct", WriterOptions(guard=GuardOptions(by="rule")), "node-taints"),
        (
            "direct",
            WriterOptions(guard=GuardOptions(by="node-taint"), scheduler=SAFE),
            "rules",
        ),
    ],
)
def test_a_quarantine_needs_a_role_unless_the_writer_has_it(
    writer: WriterName, options: WriterOptions, expected: str
):
    found = repair_role(writer, options, rules_served=True)
    assert found == (f"dra-portal-{expected}" if expected else "")


def granted(*names: str, but: tuple[str, str] = ("", "")) -> User:
    rules = [
        Rule(
            tuple(v for v in need.verbs if (v, need.resource) != but),
            (need.resource,),
            ("dra-portal",) if name == "dra-portal-barrier" else None,
            (need.group,),
        )
        for name in names
        for need in ROLES[name]
    ]
    return User("portal", tuple(rules))


def ask(
    tmp_path: Path, user: User, writer: WriterName, **how: Any
) -> tuple[list[str], list[str]]:
    """Rights that are there, and sentences about those that are missing."""
    with StandinServer(users={"t": user}) as server:
        path = server.write_kubeconfig(tmp_path / "kubeconfig", token="t")
        client = ClusterClient.connect(ClusterConfig(name="a", kubeconfig=path))
        found = check_rights(client, writer, **how)
        client.close()
    return (
        [str(right) for right in found if right.granted],
        [right.sentence for right in found if not right.granted],
    )


@pytest.mark.parametrize("writer", ["carrier", "direct", "unguarded", "none"])
def test_the_roles_suffice(tmp_path: Path, writer: WriterName):
    names = roles_for(writer, WriterOptions(), rules_served=False)
    repairs = repair_role(writer, WriterOptions(), rules_served=False)
    held, missing = ask(tmp_path, granted(*names, *filter(None, [repairs])), writer)
    assert missing == []
    assert "list resourceslices.resource.k8s.io (cluster-wide)" in held


def test_a_missing_right_is_named_with_the_role_that_grants_it(tmp_path: Path):
    names = roles_for("carrier", WriterOptions(), rules_served=False)
    user = granted(*names, but=("patch", "resourceclaims/binding"))
    _, missing = ask(tmp_path, user, "carrier")
    assert missing == [
        "patch resourceclaims/binding.resource.k8s.io (cluster-wide) is missing, for: "
        "any change of reservations. The role dra-portal-carrier grants it.",
        *(
            f"{verb} nodes (cluster-wide) is missing, for: a quarantine, before a double "
            "booking is repaired. The role dra-portal-node-taints grants it."
            for verb in ("get", "patch")
        ),
    ]


def test_barriers_are_asked_for_in_their_namespace(tmp_path: Path):
    names = roles_for("direct", WriterOptions(), rules_served=False)
    held, _ = ask(tmp_path, granted(*names), "direct")
    assert "create pods (in namespace dra-portal)" in held
    assert "create pods (cluster-wide)" not in held


def test_kinds_that_are_not_served_are_not_asked_for(tmp_path: Path):
    held, missing = ask(tmp_path, User("nobody"), "none")
    assert held == []
    assert not any("devicetaintrules" in sentence for sentence in missing)


def test_authoring_is_asked_for_on_demand(tmp_path: Path):
    user = granted("dra-portal-reader", "dra-portal-authoring")
    held, missing = ask(tmp_path, user, "none", authoring=True)
    assert missing == []
    assert "create resourceclaims.resource.k8s.io (cluster-wide)" in held


@pytest.mark.parametrize(
    ("writer", "told"),
    [
        ("carrier", {}),
        ("carrier", {"exact_devices": True, "taint_rules": "safe"}),
        ("direct", {"by": "node-taint"}),
        ("direct", {"taint_rules": "safe"}),
        ("unguarded", {}),
    ],
)
def test_with_its_roles_a_writer_writes_releases_and_sweeps(
    tmp_path: Path, writer: WriterName, told: dict[str, Any]
):
    chosen = options(**told)
    names = roles_for(writer, chosen, rules_served=True)
    users = {"t": granted(*names)}
    with GuardedWorld(tmp_path, users=users, token="t") as world:
        config = replace(world.client.config, writer=writer, options=chosen)
        client = ClusterClient.connect(config)
        world.add()
        order = world.order()
        written = make_writer(client).write(order)
        assert isinstance(written, Written)
        assert written.note == ""
        assert world.nothing_left()
        released = Releaser(client).release(Release("lab", "one", order.uid))
        assert isinstance(released, Released)
        assert released.note == ""
        assert leftovers(client) == []
        client.close()
