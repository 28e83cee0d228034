"""What to do about a finding, as steps with lines to copy for a terminal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from allocator.findings.concerned import device_of, pool_of
from allocator.models import Finding
from dra.audits import Code


@dataclass(frozen=True, slots=True)
class Step:
    """``command`` may be empty: then the words say it all."""

    text: str
    command: str = ""


class Facts:
    """The names of a finding, ready for a shell."""

    def __init__(self, finding: Finding, nodes: Sequence[str] = ()) -> None:
        self.finding = finding
        self.nodes = nodes
        self.node = _quoted(nodes[0]) if len(nodes) == 1 else "NODE"
        self.ns = _quoted(finding.namespace)
        self.name = _quoted(finding.name)
        self.device = device_of(finding.device or self.of("device"))
        pool = pool_of(finding.name) if finding.kind == "Pool" else None
        driver = finding.name if finding.kind == "Driver" else self.of("driver")
        if pool is not None:
            driver = pool.driver
        if self.device is not None and not driver:
            driver = self.device.driver
        self.driver = driver
        self.pool = pool.name if pool is not None else ""

    def of(self, name: str) -> str:
        """A fact of the evidence, empty when it has none."""
        return str(self.finding.evidence.get(name, ""))

    def names(self, name: str) -> list[str]:
        return [one for one in self.of(name).split(", ") if one][:5]

    @property
    def slices(self) -> str:
        """Lists the slices of the pool."""
        wanted = f"spec.driver={_quoted(self.driver)}" if self.driver else ""
        return f"kubectl get resourceslices --field-selector {wanted} -o wide"

    @property
    def driver_pods(self) -> Step:
        if not self.nodes:
            return Step(
                f"See whether what publishes for {self.driver} runs, and read its log.",
                "kubectl get pods -A -o wide",
            )
        return Step(
            f"See whether the driver {self.driver} runs on that node, and read its log.",
            f"kubectl get pods -A -o wide --field-selector spec.nodeName={self.node}",
        )


type _Steps = Callable[[Facts], Sequence[Step]]

_STEPS: dict[Code, _Steps] = {}


def steps_of(finding: Finding, nodes: Sequence[str] = ()) -> list[Step]:
    """In order; ``nodes`` are those that it concerns. Words in capitals are to be filled in.

    For a code without steps of its own, what its meaning says.
    """
    maker = _STEPS.get(Code(finding.code)) if finding.meaning else None
    return list(maker(Facts(finding, nodes))) if maker else [Step(finding.repair)]


def _for(*codes: Code) -> Callable[[_Steps], _Steps]:
    def register(maker: _Steps) -> _Steps:
        _STEPS.update(dict.fromkeys(codes, maker))
        return maker

    return register


def _quoted(text: str) -> str:
    return shlex.quote(text) if text else ""


def _get(kind: str, facts: Facts) -> str:
    where = f" -n {facts.ns}" if facts.ns else ""
    return f"kubectl get {kind} {facts.name}{where} -o yaml"


def _claims(facts: Facts) -> list[tuple[str, str]]:
    """Namespace and name of the claims that a finding names."""
    pairs = (one.partition("/") for one in facts.names("claims"))
    return [(_quoted(ns), _quoted(name)) for ns, slash, name in pairs if slash]


# --- devices ---------------------------------------------------------------------


@_for(Code.DEVICE_BOOKED_TWICE)
def _booked_twice(facts: Facts) -> list[Step]:
    looks = "; ".join(
        f"kubectl get resourceclaim {name} -n {ns} -o yaml"
        for ns, name in _claims(facts)
    )
    return [
        Step(
            "Keep further claims off the device before anything is released: when one of "
            "the claims ends, the scheduler takes the device for free although the other "
            "one has it. Cordon its node, or taint the device with a DeviceTaintRule.",
            f"kubectl cordon {facts.node}",
        ),
        Step(
            "Decide which of the claims keeps the device. Their pages are linked below.",
            looks,
        ),
        Step(
            "End the pods of the other one and wait until its status is cleared.",
            "kubectl delete pod POD -n NAMESPACE",
        ),
        Step(
            "Make the scheduler count again: restart every replica of kube-scheduler, "
            "those that stand by too. Or leave the device cordoned until the claim that "
            "kept it has ended; then it counts rightly by itself.",
        ),
        Step(
            "Let claims have the node again when this page says that it has ended.",
            f"kubectl uncordon {facts.node}",
        ),
    ]


@_for(Code.COUNTERS_OVERCOMMITTED, Code.CAPACITY_OVERCOMMITTED)
def _overcommitted(facts: Facts) -> list[Step]:
    looks = "; ".join(
        f"kubectl get resourceclaim {name} -n {ns} -o yaml"
        for ns, name in _claims(facts)
    )
    return [
        Step("Decide which of the claims gives way; they are linked below.", looks),
        Step(
            "Delete the pods of that claim; its controller takes the devices back.",
            "kubectl delete pod POD -n NAMESPACE",
        ),
        Step("Find out what wrote the allocation: the scheduler does not do this."),
    ]


@_for(Code.DEVICE_UNPUBLISHED)
def _unpublished(facts: Facts) -> list[Step]:
    return [
        Step("See what the driver publishes now.", facts.slices),
        facts.driver_pods,
        Step(
            "If the device is gone for good, delete the pods of the claim so that it is "
            "allocated anew.",
            f"kubectl get resourceclaim {facts.name} -n {facts.ns} "
            "-o jsonpath='{.status.reservedFor[*].name}'",
        ),
    ]


@_for(Code.DEVICE_TAINTED_IN_USE)
def _tainted(facts: Facts) -> list[Step]:
    return [
        Step("See who uses the claim.", _get("resourceclaim", facts)),
        Step(
            "Move the workload: delete these pods, and those that replace them get "
            "another device.",
            f"kubectl delete pod POD -n {facts.ns}",
        ),
        Step("Or let the claim tolerate the taint, if it is meant to stay."),
    ]


# --- claims ----------------------------------------------------------------------


@_for(Code.CLAIM_IDLE, Code.CLAIM_UNUSED)
def _idle(facts: Facts) -> list[Step]:
    return [
        Step("Start the pod that was to use the claim.", _get("resourceclaim", facts)),
        Step(
            "Or delete the claim when nobody needs it.",
            f"kubectl delete resourceclaim {facts.name} -n {facts.ns}",
        ),
    ]


@_for(Code.CLAIM_RESERVED_BY_GONE_POD, Code.CLAIM_STUCK_IN_DELETION)
def _controller(facts: Facts) -> list[Step]:
    finalizers = "-o jsonpath='{.metadata.finalizers}'"
    return [
        Step(
            "See whether kube-controller-manager runs; it does this within seconds.",
            "kubectl get pods -n kube-system -l component=kube-controller-manager",
        ),
        Step(
            "See who else holds the claim by a finalizer.",
            f"kubectl get resourceclaim {facts.name} -n {facts.ns} {finalizers}",
        ),
    ]


@_for(Code.CLAIM_WITHOUT_FINALIZER)
def _no_finalizer(facts: Facts) -> list[Step]:
    patch = '{"metadata":{"finalizers":["resource.kubernetes.io/delete-protection"]}}'
    return [
        Step(
            "Add the finalizer; this line replaces the claim's other finalizers, if any.",
            f"kubectl patch resourceclaim {facts.name} -n {facts.ns} --type merge "
            f"-p '{patch}'",
        ),
        Step("Mend what wrote the allocation."),
    ]


@_for(Code.CLAIM_WITHOUT_NODE_SELECTOR, Code.CLAIM_WITHOUT_TIMESTAMP)
def _anew(facts: Facts) -> list[Step]:
    return [
        Step("See who uses the claim.", _get("resourceclaim", facts)),
        Step(
            "Delete these pods; when the last one is gone the claim is allocated anew.",
            f"kubectl delete pod POD -n {facts.ns}",
        ),
        Step("Mend what wrote the allocation."),
    ]


@_for(Code.CLAIM_MISSING_CLASS, Code.TEMPLATE_MISSING_CLASS)
def _no_class(facts: Facts) -> list[Step]:
    return [
        Step("See which classes there are.", "kubectl get deviceclasses"),
        Step(
            f"Install the driver that brings {facts.of('device_class')}, or create the "
            "class."
        ),
        Step(
            "Or write the right name: a claim's spec cannot be changed, so make it anew."
        ),
    ]


@_for(Code.POD_MISSING_CLAIM, Code.POD_MISSING_TEMPLATE, Code.POD_CLAIM_UNNAMED)
def _reference(facts: Facts) -> list[Step]:
    kind = "resourceclaimtemplates" if facts.of("template") else "resourceclaims"
    return [
        Step("See what it asks for.", _get(facts.finding.kind.lower(), facts)),
        Step(
            "See what there is in its namespace.", f"kubectl get {kind} -n {facts.ns}"
        ),
        Step(
            "Create what is missing under that name, or make the pod anew with the right "
            "one: this part of a pod cannot be changed."
        ),
    ]


# --- pools, nodes ----------------------------------------------------------------


@_for(
    Code.POOL_INCOMPLETE,
    Code.POOL_SLICE_COUNT,
    Code.POOL_TWO_GENERATIONS,
    Code.POOL_INVALID,
    Code.POOL_EMPTY,
)
def _pool(facts: Facts) -> list[Step]:
    return [
        Step("See the slices of the pool.", facts.slices),
        facts.driver_pods,
        Step(
            "Restart the driver's pod there: it publishes the pool anew. If it comes back "
            "the same, the driver has to be mended.",
            "kubectl delete pod POD -n NAMESPACE",
        ),
    ]


@_for(Code.POOL_STALE_SLICES)
def _stale(facts: Facts) -> list[Step]:
    names = " ".join(map(_quoted, facts.names("slices")))
    return [
        facts.driver_pods,
        Step(
            "If it does not remove them, do it; nothing uses them.",
            f"kubectl delete resourceslice {names}",
        ),
    ]


@_for(Code.POOL_NODE_GONE)
def _node_gone(facts: Facts) -> list[Step]:
    left = " ".join(map(_quoted, facts.names("slices")))
    if left:
        return [
            facts.driver_pods,
            Step(
                "If it does not replace what the former node has left, delete that.",
                f"kubectl delete resourceslice {left}",
            ),
        ]
    deletes = (
        f"kubectl delete resourceslices --field-selector spec.nodeName={_quoted(node)}"
        for node in facts.names("node")
    )
    return [
        Step("See whether the node comes back.", "kubectl get nodes"),
        Step("If not, delete its slices.", "; ".join(deletes)),
    ]


@_for(Code.NODE_DRIVER_MISSING)
def _no_driver(facts: Facts) -> list[Step]:
    selector = f"spec.nodeName={facts.name}"
    return [
        Step(
            f"See whether a pod of {facts.of('driver')} runs on the node.",
            f"kubectl get pods -A -o wide --field-selector {selector}",
        ),
        Step(
            "See what is published for the node.",
            f"kubectl get resourceslices --field-selector {selector}",
        ),
        Step("Read the driver's log for slices that the API server refused."),
    ]


# --- rules, classes, attributes --------------------------------------------------


@_for(Code.RULE_MATCHES_NOTHING, Code.RULE_MATCHES_EVERYTHING)
def _rule(facts: Facts) -> list[Step]:
    return [
        Step("See what the rule means.", _get("devicetaintrule", facts)),
        Step(
            "Correct its deviceSelector, or delete it.",
            f"kubectl delete devicetaintrule {facts.name}",
        ),
    ]


@_for(
    Code.CLASS_MATCHES_NOTHING,
    Code.CLASS_MATCHES_EVERYTHING,
    Code.CLASS_SELECTOR_ERROR,
    Code.CLASS_RESOURCE_CLASH,
)
def _class(facts: Facts) -> list[Step]:
    return [
        Step(
            "See on the class's page what each term of its selectors does on the devices; "
            "try a change on the page CEL before you make it.",
            _get("deviceclass", facts),
        ),
        Step(facts.finding.repair, f"kubectl edit deviceclass {facts.name}"),
    ]


@_for(Code.NAMESPACE_ADMIN_ACCESS)
def _admin_namespace(facts: Facts) -> list[Step]:
    return [
        Step("See who may create claims there, and whether that is meant."),
        Step(
            "If not, take the label away.",
            f"kubectl label namespace {facts.name} resource.kubernetes.io/admin-access-",
        ),
    ]


@_for(Code.ATTRIBUTE_DROPPED, Code.ATTRIBUTE_RETYPED)
def _drift(facts: Facts) -> list[Step]:
    attribute = _quoted(_identifier(facts.of("attribute")))
    return [
        Step(
            "Find the classes, claims and templates that read it.",
            "kubectl get deviceclasses,resourceclaims,resourceclaimtemplates -A -o yaml "
            f"| grep -n {attribute}",
        ),
        Step(facts.finding.repair),
        Step("Or go back to the driver's former release."),
    ]


def _identifier(attribute: str) -> str:
    return re.split(r"/", attribute)[-1]


COVERED: Final = frozenset(_STEPS)
"""Codes with steps of their own."""
