"""What the portal may do in a cluster: as a command, as a page, and how to grant it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.test import Client

from cluster.rights import ROLES
from cluster.standin.access import Rule, User
from cluster.standin.server import StandinServer
from dra_portal import access
from dra_portal.checks import check_word_about_taint_rules
from inventory import clients
from inventory.models import Cluster
from tests.cluster.guarded_world import SERVED
from tests.dra_portal.deployed import ROOT
from tests.dra_portal.watched import write_clusters

ALL = Rule(("*",), ("*",))
READER = Rule(("get", "list", "watch"), ("*",))
ACCOUNT = "system:serviceaccount:tools:portal"
ENTRY = (
    "- {name: lab, kubeconfig: kubeconfig, writer: direct, guard: {by: node-taint}}\n"
)


@pytest.fixture
def cluster(tmp_path: Path, settings: Any) -> Iterator[Callable[..., str]]:
    """``cluster(rule, …)``: the clusters file names one in which we have these rules."""
    servers: list[StandinServer] = []

    def make(
        *rules: Rule, entry: str = ENTRY, name: str = ACCOUNT, **served: Any
    ) -> str:
        server = StandinServer(users={"t": User(name, rules=rules)}, **served)
        servers.append(server)
        server.start()
        server.write_kubeconfig(tmp_path / "kubeconfig", token="t")
        settings.CLUSTERS_FILE = str(write_clusters(tmp_path, entry))
        clients.forget()
        return "lab"

    yield make
    clients.forget()
    for server in servers:
        server.stop()


def run(*names: str, **options: Any) -> str:
    out = StringIO()
    call_command("check_cluster", *names, stdout=out, **options)
    return out.getvalue()


def test_with_every_right_the_command_is_content(cluster: Callable[..., str]) -> None:
    cluster(ALL)
    said = run()
    assert said.startswith("lab: All ")
    assert "writer direct" in said
    assert f"as {ACCOUNT}" in said
    assert "gates of such a release: admin access" in said
    assert "MISSING" not in said
    assert "grant:" not in said


def test_a_missing_right_is_named_and_the_command_fails(
    cluster: Callable[..., str],
) -> None:
    name = cluster(READER)
    out = StringIO()
    with pytest.raises(CommandError, match=r"Not all is well with: lab\."):
        call_command("check_cluster", name, stdout=out)
    said = out.getvalue()
    assert (
        "  MISSING patch resourceclaims/binding.resource.k8s.io (cluster-wide): "
        "any change of allocations" in said
    )
    assert "  ok      list nodes (cluster-wide)" in said
    assert "  grant:  kubectl apply -f deploy/rbac/direct.yaml" in said


def test_what_people_write_can_be_left_out(cluster: Callable[..., str]) -> None:
    cluster(READER, entry="- {name: lab, kubeconfig: kubeconfig, writer: none}\n")
    assert (
        "deviceclasses" in access.look("lab").commands[0] or access.look("lab").missing
    )
    assert run(no_authoring=True).startswith("lab: All ")


def test_a_cluster_that_is_away_or_unknown_is_told(
    cluster: Callable[..., str], settings: Any, tmp_path: Path
) -> None:
    cluster(ALL)
    with pytest.raises(CommandError, match="other"):
        run("lab", "other")
    settings.CLUSTERS_FILE = str(
        write_clusters(tmp_path, "- {name: gone, kubeconfig: nowhere}\n")
    )
    found = access.look("gone")
    assert "nowhere" in found.sentence
    assert (found.missing, found.commands) == ([], [])


def test_a_file_that_cannot_be_used_is_told(settings: Any, tmp_path: Path) -> None:
    settings.CLUSTERS_FILE = str(tmp_path / "none.yaml")
    with pytest.raises(CommandError, match="DRA_PORTAL_CLUSTERS"):
        run()


def test_dumps_are_not_asked(settings: Any, tmp_path: Path) -> None:
    settings.CLUSTERS_FILE = str(
        write_clusters(tmp_path, "- {name: a, dump: x.json}\n")
    )
    assert "No cluster" in run()


@pytest.mark.parametrize(
    ("account", "subject"),
    [
        (ACCOUNT, "--serviceaccount=tools:portal"),
        ("ada", "--user=ada"),
        ("ada; rm -rf /", "'--user=ada; rm -rf /'"),
        ("", "'--user=<the portal'\"'\"'s user>'"),
    ],
)
def test_the_lines_bind_the_roles_to_whoever_we_are(
    cluster: Callable[..., str], account: str, subject: str
) -> None:
    cluster(READER)
    lines = access.grant(access.look("lab").missing, account)
    bindings = [line for line in lines if " create " in line]
    assert bindings
    for line in bindings:
        assert line.endswith(subject)
        assert len(shlex.split(line)) in (6, 8)
    (barrier,) = [line for line in bindings if "rolebinding" in line.split()[2] and " --role=" in line]  # fmt: skip
    assert " --namespace dra-portal " in barrier


def test_the_portals_own_account_is_bound_by_the_files(
    cluster: Callable[..., str],
) -> None:
    cluster(READER)
    lines = access.grant(access.look("lab").missing, access._OURS)
    assert lines
    assert all(line.startswith("kubectl apply -f deploy/rbac/") for line in lines)


def test_every_role_is_in_the_file_that_is_named_and_bound_to_the_account() -> None:
    assert set(access._FILES) == set(ROLES)
    for role, name in access._FILES.items():
        text = (ROOT / "deploy" / "rbac" / name).read_text(encoding="utf-8")
        found = [m for m in yaml.safe_load_all(text) if m["metadata"]["name"] == role]
        kinds = {m["kind"] for m in found}
        assert kinds & {"ClusterRole", "Role"}
        (binding,) = [m for m in found if m["kind"].endswith("Binding")]
        (subject,) = binding["subjects"]
        account = f"system:serviceaccount:{subject['namespace']}:{subject['name']}"
        assert account == access._OURS


WORD = (
    "- {name: lab, kubeconfig: kubeconfig, writer: direct, "
    "scheduler: {version: 1.36.1, taintRules: safe}}\n"
)
IN_NAMES = "- {name: lab, kubeconfig: kubeconfig, writer: none, impersonate: true}\n"


def test_a_word_against_what_is_known_of_the_scheduler_is_told(
    cluster: Callable[..., str],
) -> None:
    cluster(ALL, entry=WORD)
    assert "  note:   DeviceTaintRules are made in this cluster" in run()
    (message,) = check_word_about_taint_rules()
    assert message.id == "dra_portal.W003"
    assert "kube-scheduler 1.36.1 is killed" in str(message.msg)
    cluster(ALL)
    assert "note:" not in run()
    assert check_word_about_taint_rules() == []


def to_act_as(*names: str) -> Rule:
    return Rule(("impersonate",), ("users",), names=names or None)


def test_the_right_to_act_as_people_is_asked_for_each_who_may_write(
    cluster: Callable[..., str], person: Callable[..., Any]
) -> None:
    for role in ("viewer", "author", "operator", "admin"):
        person(role)
    cluster(READER, to_act_as("a-operator", "a-viewer"), entry=IN_NAMES)
    found = access.look("lab")
    asked = [r for r in found.rights if r.verb == "impersonate"]
    assert {r.name: r.granted for r in asked} == {
        "a-admin": False,
        "a-author": False,
        "a-operator": True,
    }
    assert (
        "impersonate users a-admin (cluster-wide) is missing"
        in found.missing[0].sentence
    )
    assert found.commands == [
        "kubectl create clusterrole dra-portal-impersonate --verb=impersonate "
        "--resource=users --resource-name=a-admin --resource-name=a-author "
        "--resource-name=a-operator --dry-run=client --output=yaml | kubectl apply -f -",
        "kubectl create clusterrolebinding dra-portal-impersonate-system-serviceaccount-"
        "tools-portal --clusterrole=dra-portal-impersonate --serviceaccount=tools:portal",
    ]
    with pytest.raises(CommandError, match="lab"):
        run()


def test_who_may_act_as_everybody_is_asked_once(
    cluster: Callable[..., str], person: Callable[..., Any]
) -> None:
    person("author")
    cluster(READER, to_act_as(), entry=IN_NAMES)
    assert "  ok      impersonate users (cluster-wide)" in run()
    assert "deviceclasses" not in "".join(r.why for r in access.look("lab").missing)


def test_without_anybody_who_may_write_the_line_has_a_place_for_the_name(
    cluster: Callable[..., str], db: None
) -> None:
    cluster(READER, entry=IN_NAMES)
    found = access.look("lab")
    assert [str(right) for right in found.missing] == [
        "impersonate users (cluster-wide)"
    ]
    assert "'--resource-name=<a user'" in found.commands[0]


CARRIER = "- {name: lab, kubeconfig: kubeconfig, writer: carrier}\n"


def roles(*names: str) -> list[Rule]:
    return [
        Rule(need.verbs, (need.resource,), groups=(need.group,))
        for name in names
        for need in ROLES[name]
    ]


def of_a_carrier() -> list[Rule]:
    """What the files give that an installation applies."""
    return roles(
        "dra-portal-reader",
        "dra-portal-carrier",
        "dra-portal-carrier-pods",
        "dra-portal-authoring",
    )


def test_what_only_repairs_need_is_named_and_granted_apart_and_is_no_failure(
    cluster: Callable[..., str],
) -> None:
    cluster(*of_a_carrier(), entry=CARRIER)
    said = run()
    assert " rights that the portal needs are granted. 2 more are missing that " in said
    assert (
        "  MISSING patch nodes (cluster-wide): a quarantine, before a double booking is "
        "repaired (only for repairs)" in said
    )
    assert "  grant:  " not in said
    assert (
        "  grant, only for repairs:  kubectl apply -f "
        "deploy/rbac/guard-node-taints.yaml" in said
    )
    assert "--clusterrole=dra-portal-node-taints --serviceaccount=tools:portal" in said


def test_with_rules_that_are_safe_repairs_need_the_role_for_rules(
    cluster: Callable[..., str],
) -> None:
    entry = CARRIER.replace("}", ", scheduler: {version: 1.37.0}}")
    cluster(*of_a_carrier(), entry=entry, served=SERVED)
    found = access.look("lab")
    assert [right.verb for right in found.missing_for_repairs] == [
        "create",
        "get",
        "delete",
    ]
    assert found.commands_for_repairs[0].endswith("guard-rules.yaml")


def test_with_the_role_nothing_is_said_of_repairs(cluster: Callable[..., str]) -> None:
    cluster(*of_a_carrier(), *roles("dra-portal-node-taints"), entry=CARRIER)
    found = access.look("lab")
    assert (found.missing_for_repairs, found.commands_for_repairs) == ([], [])
    assert found.sentence.endswith(" rights that the portal needs are granted.")


def test_the_page_tells_them_apart_too(
    cluster: Callable[..., str], client_of: Callable[..., Client]
) -> None:
    cluster(*of_a_carrier(), entry=CARRIER)
    Cluster.objects.create(name="lab")
    page = client_of("operator").get("/c/lab/access/").content.decode()
    assert "2 more are missing that only the repair of a double booking needs" in page
    assert "Only for the repair of double bookings" in page
    assert "Grant what is missing" not in page
    assert '<span class="dim small">only for repairs</span>' in page


def test_with_very_many_people_it_says_that_not_all_were_asked_about(
    cluster: Callable[..., str], person: Callable[..., Any], monkeypatch: Any
) -> None:
    person("author")
    person("operator")
    monkeypatch.setattr(access, "_MOST_NAMES", 1)
    cluster(READER, entry=IN_NAMES)
    (note,) = access.look("lab").notes
    assert note.startswith("1 more people may write here")


def test_what_only_workers_need_is_told_as_such(cluster: Callable[..., str]) -> None:
    roles = ("dra-portal-reader", "dra-portal-authoring")
    rules = [
        Rule(need.verbs, (need.resource,), groups=(need.group,))
        for role in roles
        for need in ROLES[role]
    ]
    cluster(*rules, entry="- {name: lab, kubeconfig: kubeconfig}\n")
    found = access.look("lab")
    assert {right.process for right in found.missing} == {"worker"}
    assert "Only workers need what is missing." in found.notes[0]


@pytest.fixture
def row(db: None) -> Cluster:
    return Cluster.objects.create(name="lab", source="kubeconfig")


def test_the_page_says_what_is_missing_and_how_to_grant_it(
    cluster: Callable[..., str], row: Cluster, client_of: Callable[..., Client]
) -> None:
    cluster(READER)
    page = client_of("operator").get("/c/lab/access/").content.decode()
    assert "rights that the portal needs are missing." in page
    assert "kubectl apply -f deploy/rbac/direct.yaml" in page
    assert "patch resourceclaims/binding.resource.k8s.io" in page
    assert ACCOUNT in page
    assert page.index("<strong>no</strong>") < page.index("<td>yes</td>")


def test_every_page_of_a_cluster_says_what_a_word_about_rules_risks(
    cluster: Callable[..., str], row: Cluster, client_of: Callable[..., Client]
) -> None:
    operator = client_of("operator")
    for path in ("/c/lab/access/", "/clusters/", "/c/lab/"):
        cluster(ALL, entry=WORD)
        assert "kube-scheduler 1.36.1 is killed" in operator.get(path).content.decode()
        cluster(ALL)
        assert "is killed" not in operator.get(path).content.decode()


def test_the_page_of_a_cluster_that_is_away_says_what_to_do(
    settings: Any, tmp_path: Path, row: Cluster, client_of: Callable[..., Client]
) -> None:
    settings.CLUSTERS_FILE = str(
        write_clusters(tmp_path, "- {name: lab, kubeconfig: nowhere}\n")
    )
    page = client_of("operator").get("/c/lab/access/").content.decode()
    assert "nowhere" in page
    assert "load this page again" in page


def test_the_page_of_a_dump_asks_nobody(
    row: Cluster, client_of: Callable[..., Client]
) -> None:
    Cluster.objects.update(source="dump")
    page = client_of("operator").get("/c/lab/access/").content.decode()
    assert "there is no API server to ask" in page


def test_only_operators_ask_and_see_the_way_there(
    row: Cluster, client_of: Callable[..., Client]
) -> None:
    viewer, operator = client_of("viewer"), client_of("operator")
    assert viewer.get("/c/lab/access/").status_code == 403
    assert b"/c/lab/access/" not in viewer.get("/clusters/").content
    assert b"/c/lab/access/" in operator.get("/clusters/").content
    assert operator.get("/c/other/access/").status_code == 404
