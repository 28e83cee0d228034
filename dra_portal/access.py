"""What the portal may do in a cluster: asked there, right by right, and how to grant it."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.contrib.auth.models import User
from django.db import DatabaseError
from django.db.models import Q

from cluster.errors import ClusterError
from cluster.rights import IMPERSONATE, Right, check_rights
from cluster.writeback.rule_safety import overridden
from dra.allocation.features import Features
from inventory import clients
from inventory.clients import NoClientError
from web.doors import Role

if TYPE_CHECKING:
    from cluster.client import ClusterClient

_WHO: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_OURS: Final = "system:serviceaccount:dra-portal:dra-portal"
"""Whom the files of ``deploy/rbac`` bind their roles to."""
_FILES: Final = {
    "dra-portal-reader": "reader.yaml",
    "dra-portal-carrier": "carrier.yaml",
    "dra-portal-carrier-pods": "carrier.yaml",
    "dra-portal-direct": "direct.yaml",
    "dra-portal-barrier": "direct.yaml",
    "dra-portal-rules": "guard-rules.yaml",
    "dra-portal-node-taints": "guard-node-taints.yaml",
    "dra-portal-authoring": "authoring.yaml",
    IMPERSONATE: "impersonate.yaml",
}
"""Where each role of ``cluster.rights`` is written down."""
_MOST_NAMES: Final = 100
"""People that are asked about one by one; each is a request."""


@dataclass(frozen=True, slots=True)
class Access:
    """One cluster as it answers now. ``problem`` says why it could not be asked.

    ``account`` is who we are there, empty where the server does not tell; ``gates``
    are those that a release like ``version`` has on, which nobody can ask for.
    """

    cluster: str
    problem: str = ""
    version: str = ""
    account: str = ""
    writer: str = ""
    gates: tuple[str, ...] = ()
    rights: tuple[Right, ...] = ()
    risk: str = ""
    """What the clusters file risks by its word that DeviceTaintRules are safe."""
    unasked: int = 0
    """People who may write here and whom nobody was asked about: there are too many."""

    @property
    def missing(self) -> list[Right]:
        """Without those that only repairs need: nobody has to grant them."""
        return [r for r in self.rights if not r.granted and not r.only_repairs]

    @property
    def missing_for_repairs(self) -> list[Right]:
        return [r for r in self.rights if not r.granted and r.only_repairs]

    @property
    def missing_first(self) -> list[Right]:
        return sorted(self.rights, key=lambda right: right.granted)

    @property
    def sentence(self) -> str:
        if self.problem:
            return self.problem
        needed = sum(not right.only_repairs for right in self.rights)
        said = f"All {needed} rights that the portal needs are granted."
        if count := len(self.missing):
            said = f"{count} of {needed} rights that the portal needs {_are(count)} missing."
        if count := len(self.missing_for_repairs):
            said += (
                f" {count} more {_are(count)} missing that only the repair of a double "
                "booking needs."
            )
        return said

    @property
    def notes(self) -> list[str]:
        """What whoever reads the list should know besides."""
        found = [self.risk] if self.risk else []
        if self.missing and all(r.process == "worker" for r in self.missing):
            found.append(
                "Only workers need what is missing. Where they have an account of their "
                "own, as with deploy/kubernetes, that is as it should be: ask in a "
                f"worker, manage.py check_cluster {self.cluster} --no-authoring."
            )
        if self.unasked:
            found.append(
                f"{self.unasked} more people may write here; whether the portal may act "
                "as them was not asked. Give them a role of their own in the cluster, "
                "or leave resourceNames out of the role, knowing what that allows."
            )
        return found

    @property
    def commands(self) -> list[str]:
        """``kubectl`` lines that grant what is missing to this account."""
        people = [r.name for r in self.rights if r.role == IMPERSONATE and r.name]
        return grant(self.missing, self.account, people=people)

    @property
    def commands_for_repairs(self) -> list[str]:
        """Those that grant what only repairs need."""
        return grant(self.missing_for_repairs, self.account)


def look(cluster: str, *, authoring: bool = True) -> Access:
    """Ask a cluster of the clusters file. Never raises what clusters do.

    ``authoring``: also what people need who write claims and classes in the portal.
    """
    try:
        client = clients.connected(cluster).client
        return _asked(client, authoring=authoring)
    except NoClientError as error:
        return Access(cluster, problem=str(error))
    except ClusterError as error:
        reason = str(error).rstrip(".")
        return Access(cluster, problem=f"The cluster could not be asked: {reason}.")


def _asked(client: ClusterClient, *, authoring: bool) -> Access:
    version = client.version()
    features = dataclasses.asdict(
        Features.of_cluster(version, client.config.feature_gates)
    )
    people = writers() if authoring and client.config.impersonate else []
    return Access(
        client.config.name,
        version=version,
        account=_account(client),
        writer=client.config.writer,
        gates=tuple(name.replace("_", " ") for name, on in features.items() if on),
        rights=tuple(
            check_rights(client, authoring=authoring, act_as=people[:_MOST_NAMES])
        ),
        risk=overridden(client.config.options.scheduler),
        unasked=max(len(people) - _MOST_NAMES, 0),
    )


def writers() -> list[str]:
    """Names of those who may write objects here; empty where no database answers."""
    roles = [role.value for role in Role if role.includes(Role.AUTHOR)]
    may = Q(is_superuser=True) | Q(groups__name__in=roles)
    found = User.objects.filter(may, is_active=True).order_by("username").distinct()
    try:
        names = list(found.values_list("username", flat=True))
    except DatabaseError:
        return []  # then the right for everybody is asked for, and told as missing
    # In these names nothing is ever written.
    return [name for name in names if not name.startswith("system:")]


def _account(client: ClusterClient) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        answer: Any = client.request("POST", _WHO, body=body)
        return str(answer["status"]["userInfo"]["username"])
    except (ClusterError, KeyError, TypeError):
        return ""  # only what the commands say depends on it


def grant(
    missing: Sequence[Right], account: str, *, people: Sequence[str] = ()
) -> list[str]:
    """The role's file, and where it binds somebody else, a binding for ``account``.

    ``people``: all whom the portal has to act as, also those as whom it may already.
    In the order of the rights, each line once.
    """
    lines: dict[str, None] = {}
    for right in missing:
        if right.role == IMPERSONATE:
            lines[_to_act_as(people)] = None
            lines[_binding(right, account)] = None
            continue
        lines[f"kubectl apply -f deploy/rbac/{_FILES[right.role]}"] = None
        if account != _OURS:
            lines[_binding(right, account)] = None
    return list(lines)


def _to_act_as(people: Sequence[str]) -> str:
    """The role with the names, or with one to replace where nobody may write yet."""
    names = [f"--resource-name={name}" for name in people or ["<a user's name>"]]
    role = ["kubectl", "create", "clusterrole", IMPERSONATE, "--verb=impersonate"]
    made = [*role, "--resource=users", *names, "--dry-run=client", "--output=yaml"]
    return f"{shlex.join(made)} | kubectl apply -f -"


def _binding(right: Right, account: str) -> str:
    kind = "rolebinding" if right.namespace else "clusterrolebinding"
    role = "role" if right.namespace else "clusterrole"
    where = ["--namespace", right.namespace] if right.namespace else []
    name = f"{right.role}-{_slug(account)}"
    return shlex.join(
        ["kubectl", "create", kind, name, f"--{role}={right.role}", *where, *_who(account)]
    )  # fmt: skip


def _who(account: str) -> list[str]:
    if not account:
        return ["--user=<the portal's user>"]
    system, _, name = account.partition(":serviceaccount:")
    if system == "system" and name:
        return [f"--serviceaccount={name}"]
    return [f"--user={account}"]


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _slug(account: str) -> str:
    letters = "".join(c if c.isalnum() else "-" for c in account.lower())
    return letters.strip("-")[-40:].strip("-") or "portal"
