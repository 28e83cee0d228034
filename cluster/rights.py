"""Which rights each way of using a cluster needs, and which of them we have.

The same lists are in ``deploy/rbac/`` as roles to apply; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cluster.resources import DRA
from cluster.writeback.rule_safety import why_no_rules
from cluster.writer_options import WriterName, WriterOptions

if TYPE_CHECKING:
    from cluster.client import ClusterClient

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_READ: Final = ("list", "watch")
_CHANGE_CLAIM: Final = ("get", "patch")


@dataclass(frozen=True, slots=True)
class Need:
    """``resource`` is a plural or ``plural/subresource``; ``group`` "" is the core."""

    verbs: tuple[str, ...]
    group: str
    resource: str
    why: str


ROLES: Final[Mapping[str, tuple[Need, ...]]] = {
    "dra-portal-reader": (
        Need(_READ, "", "nodes", "where devices are, and which nodes take pods"),
        Need(_READ, "", "namespaces", "which of them allow admin access"),
        Need(_READ, "", "pods", "who uses a claim, and who waits for one"),
        Need(_READ, DRA, "resourceslices", "the devices themselves"),
        Need(_READ, DRA, "deviceclasses", "what requests ask for"),
        Need(_READ, DRA, "resourceclaims", "what is allocated to whom"),
        Need(_READ, DRA, "resourceclaimtemplates", "what pods will ask for"),
        Need(_READ, DRA, "devicetaintrules", "devices that are kept free"),
        Need(_READ, "scheduling.k8s.io", "podgroups", "pods that share claims"),
    ),
    "dra-portal-carrier": (
        Need(
            _CHANGE_CLAIM,
            DRA,
            "resourceclaims",
            "a claim as it is before a write, and its finalizer",
        ),
        Need(("patch",), DRA, "resourceclaims/status", "the pin, and releasing"),
        Need(("patch",), DRA, "resourceclaims/binding", "any change of reservations"),
    ),
    "dra-portal-carrier-pods": (
        Need(
            ("create", "get", "watch", "delete"),
            "",
            "pods",
            "the carrier, beside each claim that is to be allocated",
        ),
    ),
    "dra-portal-direct": (
        Need(
            _CHANGE_CLAIM,
            DRA,
            "resourceclaims",
            "a claim as it is before a write, and its finalizer",
        ),
        Need(("patch",), DRA, "resourceclaims/status", "the allocation"),
        Need(("patch",), DRA, "resourceclaims/binding", "any change of allocations"),
        Need(("get",), "", "nodes", "the planned node, to check the plan once more"),
    ),
    "dra-portal-rules": (
        Need(
            ("create", "get", "list", "delete"),
            DRA,
            "devicetaintrules",
            "keep the scheduler off a device for a moment",
        ),
    ),
    "dra-portal-node-taints": (
        Need(("get", "patch"), "", "nodes", "keep pods off a node for a moment"),
    ),
    "dra-portal-barrier": (
        Need(
            ("create", "get", "list", "watch", "delete"),
            "",
            "pods",
            "the barrier pods, in a namespace of their own",
        ),
    ),
    "dra-portal-authoring": (
        *(
            Need(("get", "create", "update", "delete"), DRA, plural, why)
            for plural, why in (
                ("resourceclaims", "claims that people write in the portal"),
                ("resourceclaimtemplates", "templates that they write"),
                ("deviceclasses", "classes, which only the portal's admins write"),
            )
        ),
    ),
    "dra-portal-impersonate": (
        Need(("impersonate",), "", "users", "objects that people write in their name"),
    ),
}
IMPERSONATE: Final = "dra-portal-impersonate"
_ELSEWHERE: Final = {
    "dra-portal-reader": "all",
    "dra-portal-authoring": "web",
    IMPERSONATE: "web",
}
"""Which process needs a role; where none is named, workers do."""
_QUARANTINE: Final = "a quarantine, before a double booking is repaired"


@dataclass(frozen=True, slots=True)
class Right:
    """One verb on one resource. ``granted`` is what the API server said.

    ``namespace`` is empty where the right is needed in the whole cluster; ``role`` is
    the role of ``deploy/rbac/`` that grants it. ``name`` is the one object that it is
    needed for, empty for all. ``only_repairs``: nothing but the repair of a double
    booking needs it.
    """

    verb: str
    group: str
    resource: str
    namespace: str
    why: str
    role: str
    granted: bool
    name: str = ""
    only_repairs: bool = False

    def __str__(self) -> str:
        named = f"{self.resource}.{self.group}" if self.group else self.resource
        named += f" {self.name}" if self.name else ""
        where = f"in namespace {self.namespace}" if self.namespace else "cluster-wide"
        return f"{self.verb} {named} ({where})"

    @property
    def process(self) -> str:
        """Who needs it where the processes have accounts of their own: ``web``,
        ``worker`` or ``all``."""
        return _ELSEWHERE.get(self.role, "worker")

    @property
    def sentence(self) -> str:
        """What is missing, what for, and how to grant it."""
        if self.granted:
            return f"{self}: granted."
        return f"{self} is missing, for: {self.why}. The role {self.role} grants it."


def roles_for(
    writer: WriterName, options: WriterOptions, *, rules_served: bool
) -> tuple[str, ...]:
    """The roles of ``deploy/rbac/`` that this way of writing needs, reader included."""
    told = options.scheduler
    rules = not why_no_rules(told, served=rules_served)
    match writer:
        case "carrier":
            extra = ("dra-portal-rules",) if options.carrier.exact_devices else ()
            return (
                "dra-portal-reader",
                "dra-portal-carrier",
                "dra-portal-carrier-pods",
                *extra,
            )
        case "direct":
            by_rule = options.guard.by == "rule" or (
                options.guard.by == "auto" and rules
            )
            guard = "dra-portal-rules" if by_rule else "dra-portal-node-taints"
            return (
                "dra-portal-reader",
                "dra-portal-direct",
                guard,
                "dra-portal-barrier",
            )
        case "unguarded":
            return ("dra-portal-reader", "dra-portal-direct")
        case "none":
            return ("dra-portal-reader",)


def repair_role(
    writer: WriterName, options: WriterOptions, *, rules_served: bool
) -> str:
    """The role that a quarantine needs besides :func:`roles_for`; empty: none.

    As :mod:`cluster.writeback.quarantining` chooses where nobody says how: by a rule
    where rules are safe, else by a taint of the node.
    """
    if writer == "none":
        return ""
    no_rules = why_no_rules(options.scheduler, served=rules_served)
    role = "dra-portal-node-taints" if no_rules else "dra-portal-rules"
    given = roles_for(writer, options, rules_served=rules_served)
    return "" if role in given else role


def check_rights(
    client: ClusterClient,
    writer: WriterName | None = None,
    *,
    authoring: bool = False,
    act_as: Sequence[str] = (),
) -> list[Right]:
    """Each right that ``writer`` (else the configured one) needs, and whether we have it.

    At the end those that only a repair needs.
    ``authoring``: also what people need who write objects. Where the cluster's entry
    says ``impersonate`` that is the right to act as them, which ``act_as`` names.
    One SelfSubjectAccessReview a right; kinds that the server does not serve are left
    out. Raises ClusterError when the server cannot be asked.
    """
    options = client.config.options
    served = client.discover()
    writer = writer or client.config.writer
    with_rules = "DeviceTaintRule" in served
    roles = roles_for(writer, options, rules_served=with_rules)
    for_repairs = repair_role(writer, options, rules_served=with_rules)
    impersonate = authoring and client.config.impersonate
    if authoring and not impersonate:
        roles = (*roles, "dra-portal-authoring")
    plurals = {one.resource.plural for one in served.values()}
    found = []
    for role, need, verb in _each(roles):
        plural = need.resource.partition("/")[0]
        if plural not in plurals:
            continue
        namespace = options.guard.namespace if role == "dra-portal-barrier" else ""
        granted = _ask(client, verb, need, namespace)
        found.append(
            Right(verb, need.group, need.resource, namespace, need.why, role, granted)
        )
    if impersonate:
        found += _to_act_as(client, act_as)
    if for_repairs:
        found += _for_repairs(client, for_repairs)
    return found


def _for_repairs(client: ClusterClient, role: str) -> Iterator[Right]:
    for _, need, verb in _each((role,)):
        granted = _ask(client, verb, need, "")
        yield Right(
            verb, need.group, need.resource, "", _QUARANTINE, role, granted,
            only_repairs=True,
        )  # fmt: skip


def _to_act_as(client: ClusterClient, names: Sequence[str]) -> Iterator[Right]:
    """The right to act as each; one for all where it is not bound to names."""
    (need,) = ROLES[IMPERSONATE]
    (verb,) = need.verbs

    def right(name: str) -> Right:
        granted = _ask(client, verb, need, "", name)
        return Right(
            verb, need.group, need.resource, "", need.why, IMPERSONATE, granted, name
        )

    everybody = right("")
    if everybody.granted or not names:
        yield everybody
        return
    yield from map(right, names)


def _each(roles: tuple[str, ...]) -> Iterator[tuple[str, Need, str]]:
    for role in roles:
        for need in ROLES[role]:
            for verb in need.verbs:
                yield role, need, verb


def _ask(
    client: ClusterClient, verb: str, need: Need, namespace: str, name: str = ""
) -> bool:
    plural, _, subresource = need.resource.partition("/")
    asked = {
        "verb": verb,
        "group": need.group,
        "resource": plural,
        "subresource": subresource,
        "namespace": namespace,
        "name": name,
    }
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {k: v for k, v in asked.items() if v}},
    }
    answer = client.request("POST", _REVIEWS, body=body)
    status = answer.get("status")
    return isinstance(status, dict) and status.get("allowed") is True
