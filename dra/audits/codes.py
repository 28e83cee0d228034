"""What an audit can find: one table of codes, with why each matters and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Literal, NamedTuple

type Severity = Literal["error", "warning", "info"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""Worst first. An error harms somebody now, a warning will, info is good to know."""


class Code(StrEnum):
    """The name of one kind of finding; it does not change between releases."""

    DEVICE_BOOKED_TWICE = "device-booked-twice"
    COUNTERS_OVERCOMMITTED = "counters-overcommitted"
    CAPACITY_OVERCOMMITTED = "capacity-overcommitted"
    DEVICE_UNPUBLISHED = "device-unpublished"
    DEVICE_TAINTED_IN_USE = "device-tainted-in-use"
    CLAIM_IDLE = "claim-idle"
    CLAIM_RESERVED_BY_GONE_POD = "claim-reserved-by-gone-pod"
    CLAIM_STUCK_IN_DELETION = "claim-stuck-in-deletion"
    CLAIM_WITHOUT_FINALIZER = "claim-without-finalizer"
    CLAIM_WITHOUT_NODE_SELECTOR = "claim-without-node-selector"
    CLAIM_WITHOUT_TIMESTAMP = "claim-without-timestamp"
    CLAIM_NEARLY_FULL = "claim-nearly-full"
    CLAIM_UNUSED = "claim-unused"
    CLAIM_MISSING_CLASS = "claim-missing-class"
    CLAIM_ADMIN_ACCESS = "claim-admin-access"
    CLAIM_UNREADABLE = "claim-unreadable"
    NAMESPACE_ADMIN_ACCESS = "namespace-admin-access"
    TEMPLATE_MISSING_CLASS = "template-missing-class"
    TEMPLATE_ADMIN_ACCESS = "template-admin-access"
    POD_MISSING_CLAIM = "pod-missing-claim"
    POD_MISSING_TEMPLATE = "pod-missing-template"
    POD_CLAIM_UNNAMED = "pod-claim-unnamed"
    POOL_INCOMPLETE = "pool-incomplete"
    POOL_SLICE_COUNT = "pool-slice-count"
    POOL_TWO_GENERATIONS = "pool-two-generations"
    POOL_STALE_SLICES = "pool-stale-slices"
    POOL_INVALID = "pool-invalid"
    POOL_EMPTY = "pool-empty"
    POOL_NODE_GONE = "pool-node-gone"
    NODE_DRIVER_MISSING = "node-driver-missing"
    RULE_MATCHES_NOTHING = "rule-matches-nothing"
    RULE_MATCHES_EVERYTHING = "rule-matches-everything"
    CLASS_MATCHES_NOTHING = "class-matches-nothing"
    CLASS_MATCHES_EVERYTHING = "class-matches-everything"
    CLASS_SELECTOR_ERROR = "class-selector-error"
    CLASS_RESOURCE_CLASH = "class-resource-clash"
    ATTRIBUTE_DROPPED = "attribute-dropped"
    ATTRIBUTE_RETYPED = "attribute-retyped"
    VALUE_UNCOMMON = "value-uncommon"
    ATTRIBUTE_UNCOMMON = "attribute-uncommon"
    OBJECT_UNREADABLE = "object-unreadable"


class Meaning(NamedTuple):
    """What a code means to people: a title, why it matters, what to do."""

    severity: Severity
    title: str
    why: str
    repair: str


MEANINGS: Final[Mapping[Code, Meaning]] = {
    Code.DEVICE_BOOKED_TWICE: Meaning(
        "error",
        "Device booked by two claims",
        "Two workloads use one device as if each had it alone. Nothing in Kubernetes "
        "notices, and when one of them ends the scheduler gives the device to a third.",
        "Delete the pods of one of the claims, wait until its status is cleared, then "
        "restart the scheduler: it counts correctly only after a restart.",
    ),
    Code.COUNTERS_OVERCOMMITTED: Meaning(
        "error",
        "Counters overcommitted",
        "Partitions are given away that do not fit into their physical device together. "
        "The 1.36 scheduler gives out no other partition of the pool until it is mended.",
        "Delete the pods of one of the claims that draw on the counters.",
    ),
    Code.CAPACITY_OVERCOMMITTED: Meaning(
        "error",
        "Capacity overcommitted",
        "Claims consume more of a shared device than it has.",
        "Delete the pods of one of the claims that share the device.",
    ),
    Code.DEVICE_UNPUBLISHED: Meaning(
        "error",
        "Claim holds a device that is not published",
        "The device broke, was renamed by a driver upgrade or its node is gone. The claim "
        "keeps it, and its pods cannot start again.",
        "See whether the driver of that node runs. If the device is gone for good, delete "
        "the pods of the claim so that it is allocated anew.",
    ),
    Code.DEVICE_TAINTED_IN_USE: Meaning(
        "warning",
        "Tainted device in use",
        "The driver or an administrator says that the device should not be used, and a "
        "claim that does not tolerate the taint holds it.",
        "Move the workload: delete the pods of the claim, they get another device.",
    ),
    Code.CLAIM_IDLE: Meaning(
        "warning",
        "Allocated, but used by nobody",
        "The devices are taken and nobody uses them. Kubernetes never takes them back by "
        "itself.",
        "Start the pod that was to use the claim, or delete the claim.",
    ),
    Code.CLAIM_RESERVED_BY_GONE_POD: Meaning(
        "error",
        "Reserved by a pod that is gone",
        "The controller removes such reservations within seconds. That it did not means "
        "that it does not run, or that the devices are held for ever.",
        "See whether kube-controller-manager runs; it clears the reservation when it does.",
    ),
    Code.CLAIM_STUCK_IN_DELETION: Meaning(
        "warning",
        "Claim is being deleted and does not go",
        "A finalizer keeps the claim although nobody uses it; its devices stay taken.",
        "See whether kube-controller-manager runs, and who set the other finalizers.",
    ),
    Code.CLAIM_WITHOUT_FINALIZER: Meaning(
        "warning",
        "Allocation without finalizer",
        "Without resource.kubernetes.io/delete-protection the claim can be deleted while a "
        "pod uses its devices, and they are not taken back after the last pod.",
        "Add the finalizer to the claim, and mend what wrote the allocation.",
    ),
    Code.CLAIM_WITHOUT_NODE_SELECTOR: Meaning(
        "error",
        "Allocation without node selector",
        "The devices belong to one node, but the scheduler may start the pod on any other, "
        "where they cannot be prepared.",
        "Delete the claim's pods so that it is allocated anew, and mend what wrote the "
        "allocation.",
    ),
    Code.CLAIM_WITHOUT_TIMESTAMP: Meaning(
        "error",
        "Allocation without timestamp",
        "The scheduler of 1.36 cannot add a pod to such a claim: the API server refuses "
        "the timestamp that it would add, and the pod is tried again for ever.",
        "Let the claim be allocated anew, and let the writer set allocationTimestamp.",
    ),
    Code.CLAIM_NEARLY_FULL: Meaning(
        "warning",
        "Claim has nearly as many consumers as it can",
        "A claim can be reserved for 256 consumers. The next pods will wait without a "
        "reason that anybody sees.",
        "Give some of the pods a claim of their own.",
    ),
    Code.CLAIM_UNUSED: Meaning(
        "info",
        "Claim waits for a pod",
        "Nothing is wrong: devices are allocated when a pod that uses the claim is "
        "scheduled, and no pod does.",
        "Create the pod, or delete the claim when it was forgotten.",
    ),
    Code.CLAIM_MISSING_CLASS: Meaning(
        "error",
        "Claim asks for a class that does not exist",
        "The claim waits until somebody creates the class.",
        "Correct the class's name in a new claim, or install the driver that brings it.",
    ),
    Code.CLAIM_ADMIN_ACCESS: Meaning(
        "info",
        "Claim with admin access",
        "It reaches devices that others use. The namespace's label is the only thing that "
        "allows it.",
        "See that this workload is meant to have it.",
    ),
    Code.CLAIM_UNREADABLE: Meaning(
        "error",
        "Claim that cannot be read",
        "It takes no part in planning, and nobody may know which devices it holds.",
        "Correct the object; the field is in the sentence.",
    ),
    Code.NAMESPACE_ADMIN_ACCESS: Meaning(
        "info",
        "Namespace allows admin access",
        "Everybody who may create claims there reaches devices that others use.",
        "Keep the label resource.kubernetes.io/admin-access off other namespaces.",
    ),
    Code.TEMPLATE_MISSING_CLASS: Meaning(
        "error",
        "Template asks for a class that does not exist",
        "Every claim that is made from it will wait.",
        "Correct the class's name in the template, or install the driver that brings it.",
    ),
    Code.TEMPLATE_ADMIN_ACCESS: Meaning(
        "info",
        "Template with admin access",
        "Every claim that is made from it reaches devices that others use.",
        "See that the workload is meant to have it.",
    ),
    Code.POD_MISSING_CLAIM: Meaning(
        "error",
        "Pod uses a claim that does not exist",
        "The pod waits without any condition or event.",
        "Create the claim in the pod's namespace, or correct the name in a new pod.",
    ),
    Code.POD_MISSING_TEMPLATE: Meaning(
        "error",
        "Pod uses a template that does not exist",
        "The pod waits; only an event FailedResourceClaimCreation says why.",
        "Create the template in the pod's namespace, or correct the name in a new pod.",
    ),
    Code.POD_CLAIM_UNNAMED: Meaning(
        "error",
        "Pod names neither claim nor template",
        "An entry of spec.resourceClaims in the form of an old API (source: …) loses its "
        "content, and the pod can never run.",
        "Write resourceClaimName or resourceClaimTemplateName in the entry itself.",
    ),
    Code.POOL_INCOMPLETE: Meaning(
        "warning",
        "Pool is incomplete",
        "None of its devices can be allocated, and requests for all devices fail on its "
        "nodes. For a moment that is normal while a driver publishes.",
        "If it stays, see the log of the driver on that node.",
    ),
    Code.POOL_SLICE_COUNT: Meaning(
        "error",
        "Pool announces a wrong number of slices",
        "Its slices contradict what they announce, so it never is complete and none of its "
        "devices can be allocated.",
        "Mend the driver: resourceSliceCount must be the number of slices, in each of them.",
    ),
    Code.POOL_TWO_GENERATIONS: Meaning(
        "warning",
        "Pool is being replaced",
        "Slices of two generations exist and the newer one is not complete: none of its "
        "devices can be allocated.",
        "If it stays, restart the driver on that node.",
    ),
    Code.POOL_STALE_SLICES: Meaning(
        "info",
        "Pool has slices of an older generation",
        "They are ignored and only mislead people who read them.",
        "The driver removes them when it works; delete them if it does not.",
    ),
    Code.POOL_INVALID: Meaning(
        "error",
        "Pool contradicts itself",
        "None of its devices can be allocated, and requests that fit nowhere fail with an "
        "error on its nodes.",
        "Mend the driver; the sentence says what is wrong.",
    ),
    Code.POOL_EMPTY: Meaning(
        "warning",
        "Pool without devices",
        "The driver runs and found no device: it may have started before the hardware was "
        "ready.",
        "Restart the driver on that node; look at the hardware when it stays empty.",
    ),
    Code.POOL_NODE_GONE: Meaning(
        "warning",
        "Slices of a node that does not exist",
        "Their devices look free and nobody can use them.",
        "Delete the slices if the node does not come back.",
    ),
    Code.NODE_DRIVER_MISSING: Meaning(
        "warning",
        "Node without a driver that its kind has",
        "The driver does not run there or cannot publish: the devices of this node are "
        "lost to everybody, and nothing else shows it.",
        "See the driver's pod on that node, and its log for slices that were refused.",
    ),
    Code.RULE_MATCHES_NOTHING: Meaning(
        "warning",
        "Taint rule matches no device",
        "It taints nothing: the driver, the pool or the device is called otherwise.",
        "Correct its deviceSelector, or delete it.",
    ),
    Code.RULE_MATCHES_EVERYTHING: Meaning(
        "warning",
        "Taint rule matches every device",
        "Nothing in the cluster can be allocated without a toleration.",
        "Give it a deviceSelector that names what is meant.",
    ),
    Code.CLASS_MATCHES_NOTHING: Meaning(
        "warning",
        "Class selects no device",
        "Every claim that asks for it waits.",
        "Compare its selectors with what the devices publish.",
    ),
    Code.CLASS_MATCHES_EVERYTHING: Meaning(
        "warning",
        "Class selects devices of every driver",
        "Its claims may get a network card where a GPU was meant, and a selector that reads "
        "an attribute of one driver fails on the others.",
        'Begin its selectors with device.driver == "…".',
    ),
    Code.CLASS_SELECTOR_ERROR: Meaning(
        "error",
        "Selector of a class fails on devices",
        "When the scheduler comes to such a device it gives up on the pod, although other "
        "devices would fit.",
        "Guard what may be missing: has(…) &&, or .?name.orValue(…).",
    ),
    Code.CLASS_RESOURCE_CLASH: Meaning(
        "warning",
        "Two classes with one extended resource",
        "Pods that ask for the resource get the newer class; the other one is never used "
        "for it.",
        "Give one of the classes another extendedResourceName, or none.",
    ),
    Code.ATTRIBUTE_DROPPED: Meaning(
        "warning",
        "Driver no longer publishes an attribute",
        "Selectors that read it fail, and scheduling of their claims ends with an error.",
        "Change selectors that read it, or guard them with has(…).",
    ),
    Code.ATTRIBUTE_RETYPED: Meaning(
        "warning",
        "Driver publishes an attribute with another type",
        "Selectors that compare it with the old type fail or are never true.",
        "Change selectors that read it.",
    ),
    Code.VALUE_UNCOMMON: Meaning(
        "info",
        "Value that looks like a slip",
        "Very few devices publish it, and nearly all others one that differs by a letter: "
        "selectors miss these devices.",
        "See whether the driver or firmware of these devices is the same as elsewhere.",
    ),
    Code.ATTRIBUTE_UNCOMMON: Meaning(
        "info",
        "Attribute name that looks like a slip",
        "Very few devices of a driver publish it, and nearly all others one that differs by "
        "a letter: selectors fail on these devices.",
        "See whether these devices are published by another release of the driver.",
    ),
    Code.OBJECT_UNREADABLE: Meaning(
        "error",
        "Object that cannot be read",
        "It takes no part in anything: its devices, rules or classes do not count.",
        "Correct the object; the field is in the sentence.",
    ),
}
