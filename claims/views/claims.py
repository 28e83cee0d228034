"""The list of claims and the page of one: why does it wait, what did it get?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from allocator import queries as run_queries
from allocator.findings.queries import ObjectRef, claim_ref
from claims.choices import ClaimState
from claims.filtersets import ClaimFilter
from claims.models import AllocatedDevice, ClaimRequest, ResourceClaim
from claims.queries import claims as queries
from claims.views import cells as claim_cells
from claims.views.consequences import finalizers_of
from claims.views.selectors import Selector, selectors_of
from claims.views.verdicts import waiting_cell, waiting_line
from dra.audits.claims import MOST_CONSUMERS
from dra.extended_resources import CLAIM_ANNOTATION
from inventory import clients
from inventory.queries.raws import list_at, mappings_at
from inventory.views.kit import ClusterDetail, ClusterList
from web.doors import Role, role_of
from web.pages import Column, Crumb, Fact, Heading, cells


class Claims(ClusterList[ResourceClaim]):
    """All claims of a cluster."""

    template_name = "claims/claims.html"
    title = "Claims"
    name = "claims"
    noun = ("claim", "claims")
    filterset_class = ClaimFilter
    default_sort = "-created"
    refresh_on = ("ResourceClaim", "Pod")
    nothing_yet = "No ResourceClaim exists in this cluster."

    def available_columns(self) -> Sequence[Column]:
        name = self.cluster.name
        pick = Column(
            "pick",
            "",
            title="To be allocated together",
            cell=self.pick_cell,
            kind="html",
            exported=False,
        )
        return (
            *((pick,) if self.may_run else ()),
            Column(
                "name",
                "Claim",
                value=str,
                sort=("name", "namespace"),
                kind="mono",
                flexible=True,
                href=lambda c: claim_cells.claim_href(name, c.namespace, c.name),
            ),
            Column("state", "State", sort=("state",), kind="badge"),
            Column("requests", "Asks for", value="requests_text", kind="line"),
            Column(
                "device_count",
                "Devices",
                sort=("device_count",),
                kind="number",
                shown=False,
            ),
            Column(
                "devices",
                "Holds",
                if_any=True,
                value=lambda c: ", ".join(map(str, c.devices.all())),
                cell=lambda c: claim_cells.devices_cell(name, c),
            ),
            Column(
                "node",
                "Node",
                if_any=True,
                value="node_name",
                sort=("node_name",),
                cell=lambda c: claim_cells.node_cell(name, c.node_name),
            ),
            *self._use_columns(),
            Column("namespace", "Namespace", sort=("namespace",), shown=False),
            Column("template", "Template", value="template_name", shown=False),
            Column(
                "created", "Age", value="created_at", sort=("created_at",), kind="age"
            ),
        )

    def _use_columns(self) -> Sequence[Column]:
        """Who uses a claim and why one waits: together on the page, apart in exports."""
        name = self.cluster.name
        return (
            Column(
                "use",
                "Used by, or why it waits",
                value=lambda c: self.why_it_waits(c) or _users(c),
                cell=self.use_cell,
                kind="line",
                exported=False,
            ),
            Column(
                "consumers",
                "Used by",
                value=_users,
                cell=lambda c: claim_cells.consumers_cell(name, c),
                on_page=False,
            ),
            Column(
                "waiting",
                "Why it waits",
                value=self.why_it_waits,
                cell=self.waiting_cell,
                kind="line",
                on_page=False,
            ),
        )

    @property
    def may_run(self) -> bool:
        """Whether the user may start runs."""
        held = role_of(self.request.user)
        return held is not None and held.includes(Role.OPERATOR)

    def pick_cell(self, claim: ResourceClaim) -> SafeString | str:
        """A box to tick, for claims that a batch can allocate."""
        if claim.state != ClaimState.PENDING or claim.problem:
            return ""
        return format_html(
            '<input type="checkbox" class="pick" name="claim" form="batch-form" '
            'value="{}/{}" aria-label="Choose {}/{}">',
            *(claim.namespace, claim.name) * 2,
        )

    def extra(self) -> dict[str, object]:
        return {**super().extra(), "policies": run_queries.NODE_POLICIES}

    def queryset(self) -> QuerySet[ResourceClaim]:
        return queries.claim_rows(self.cluster)

    def prepare(self, rows: list[ResourceClaim]) -> list[ResourceClaim]:
        waiting = [claim for claim in rows if claim.state == ClaimState.PENDING]
        self.messages = queries.scheduler_messages(waiting)
        self.reasons = run_queries.waiting_reasons(self.cluster, waiting)
        return rows

    def why_it_waits(self, claim: ResourceClaim) -> str:
        if claim.problem:
            return claim.problem
        if claim.state != ClaimState.PENDING:
            return ""
        said = self.messages.get((claim.namespace, claim.name), "")
        return waiting_line(self.reasons.get(claim.pk), said)

    def waiting_cell(self, claim: ResourceClaim) -> SafeString:
        return waiting_cell(self.why_it_waits(claim), self.reasons.get(claim.pk))

    def use_cell(self, claim: ResourceClaim) -> SafeString:
        """Nobody uses a claim that waits, so one column has room for both."""
        if self.why_it_waits(claim):
            return self.waiting_cell(claim)
        return claim_cells.consumers_cell(self.cluster.name, claim)

    def sentence(self) -> str:
        counts, holding = queries.counts_and_holding(self.cluster)
        total = sum(counts.values())
        waiting = counts[ClaimState.PENDING]
        return (
            f"{holding:,} of {cells.count(total, 'claim')} hold devices; "
            f"{waiting:,} {'waits' if waiting == 1 else 'wait'}."
        )


def _users(claim: ResourceClaim) -> str:
    return ", ".join(map(str, claim.consumers.all()))


@dataclass(frozen=True, slots=True)
class Ask:
    """One request (or alternative) beside the devices it got."""

    request: ClaimRequest
    selectors: Sequence[Selector]
    results: Sequence[AllocatedDevice]

    @property
    def name(self) -> str:
        return str(self.request)


def asks_of(claim: ResourceClaim, cluster: str) -> list[Ask]:
    """Requests in order, each with what it asks for and what it got."""
    selectors = selectors_of(cluster, claim.raw, "spec")
    results: dict[str, list[AllocatedDevice]] = {}
    for result in claim.devices.all():
        results.setdefault(result.request, []).append(result)
    return [
        Ask(
            request=request,
            selectors=selectors.get(str(request), []),
            results=results.get(str(request), []),
        )
        for request in claim.requests.all()
    ]


def constraints_of(claim: ResourceClaim) -> list[str]:
    """Constraints in words: "gpu, nic: same resource.kubernetes.io/pcieRoot"."""
    words = []
    for constraint in mappings_at(claim.raw, "spec", "devices", "constraints"):
        who = ", ".join(map(str, list_at(constraint, "requests"))) or "all requests"
        if attribute := constraint.get("matchAttribute"):
            words.append(f"{who}: same {attribute}")
        if attribute := constraint.get("distinctAttribute"):
            words.append(f"{who}: different {attribute}")
    return words


def claim_for_extended_resources(raw: object) -> bool:
    """Whether the scheduler made the claim of a pod's extended resources."""
    meta = raw.get("metadata") if isinstance(raw, dict) else None
    notes = meta.get("annotations") if isinstance(meta, dict) else None
    return isinstance(notes, dict) and notes.get(CLAIM_ANNOTATION) == "true"


def state_sentence(claim: ResourceClaim) -> str:
    """What is so and what happens next."""
    held = cells.count(claim.device_count, "device")
    where = f" on {claim.node_name}" if claim.node_name else ""
    users = sum(not consumer.is_pin for consumer in claim.consumers.all())
    who = cells.count(users, "consumer")
    match claim.state:
        case ClaimState.PENDING:
            return "It waits for an allocation and holds nothing."
        case ClaimState.ALLOCATED:
            return (
                f"It holds {held}{where}. Nobody has reserved it: a pod can use it now."
            )
        case ClaimState.RESERVED if not users:
            return (
                f"It holds {held}{where}, kept by the portal's pin. No pod uses it: one "
                "can now, and the allocation stays when it ends."
            )
        case ClaimState.RESERVED:
            return f"It holds {held}{where}, reserved for {who} not running yet."
        case ClaimState.IN_USE:
            return f"It holds {held}{where} and is in use by {who}."
        case _:
            return _deleting_sentence(claim, held + where)


def _deleting_sentence(claim: ResourceClaim, held: str) -> str:
    """What it still holds, and what it waits for."""
    if claim.consumers.all():
        return "It is being deleted and goes when its last consumer has ended."
    names = ", ".join(finalizer.name for finalizer in finalizers_of(claim.raw))
    still = f" and still holds {held}" if claim.device_count else ""
    return (
        f"It is being deleted{still}. Nobody has it reserved: it goes when its "
        f"finalizers are gone ({names or 'there are none left'})."
    )


class Claim(ClusterDetail[ResourceClaim]):
    """One claim: requests on the left, result on the right, users below."""

    template_name = "claims/claim.html"
    fragments: ClassVar[tuple[str, ...]] = ("claim-body",)

    def load(self) -> ResourceClaim:
        kwargs = self.kwargs
        try:
            return queries.claim_with_all(
                self.cluster,
                kwargs["namespace"],
                kwargs["name"],
            )
        except ResourceClaim.DoesNotExist:
            raise Http404(
                f"There is no claim {kwargs['namespace']}/{kwargs['name']} (any more)."
            ) from None

    def heading(self) -> Heading:
        claim: ResourceClaim = self.object
        cluster = self.cluster.name
        return Heading(
            kind="Claim",
            name=str(claim),
            badges=[cells.badge(claim.state)]
            + (
                [cells.badge("unreadable", title=claim.problem)]
                if claim.problem
                else []
            ),
            sentence=claim.problem or state_sentence(claim),
            crumbs=(
                Crumb(cluster, reverse("overview", args=[cluster])),
                Crumb("Claims", reverse("claims", args=[cluster])),
                Crumb(str(claim)),
            ),
            yaml_href=reverse(
                "claim-yaml", args=[cluster, claim.namespace, claim.name]
            ),
        )

    def facts(self) -> list[Fact]:
        claim, cluster = self.object, self.cluster.name
        facts = [
            Fact(
                "Namespace",
                cells.link(
                    reverse("namespace", args=[cluster, claim.namespace]),
                    claim.namespace,
                    mono=True,
                ),
            ),
            Fact("Created", cells.ago(claim.created_at)),
        ]
        if claim.owner_name:
            owner = f"{claim.owner_kind} {claim.owner_name}"
            if claim.owner_kind == "Pod":
                href = claim_cells.pod_href(cluster, claim.namespace, claim.owner_name)
                facts.append(Fact("Made for", cells.link(href, owner)))
            else:
                facts.append(Fact("Made for", owner))
        if claim_for_extended_resources(claim.raw):
            facts.append(
                Fact(
                    "Made by",
                    "the scheduler, of the extended resources of its pod",
                    help="The pod asks for them as it asks for CPU. Change the pod, not "
                    "this claim: it goes with the pod.",
                )
            )
        if claim.template_name:
            href = reverse(
                "template", args=[cluster, claim.namespace, claim.template_name]
            )
            facts.append(
                Fact("Template", cells.link(href, claim.template_name, mono=True))
            )
        if claim.allocated_at:
            facts.append(Fact("Allocated", cells.ago(claim.allocated_at)))
        if claim.node_name:
            facts.append(Fact("Node", claim_cells.node_cell(cluster, claim.node_name)))
        if claim.admin_access:
            facts.append(Fact("Admin access", "yes: its devices stay free for others"))
        return facts

    def _will_pin(self) -> bool:
        """Whether an allocation that is made here stays when its last pod has ended."""
        try:
            return clients.config_of(self.cluster.name).writer == "carrier"
        except clients.NoClientError:
            return False

    def concerned(self) -> list[ObjectRef]:
        return [claim_ref(self.object.namespace, self.object.name)]

    def extra(self) -> dict[str, object]:
        claim = self.object
        pods = list(queries.pods_of_claim(claim)[:50])
        is_pending = claim.state == ClaimState.PENDING and not claim.problem
        return {
            **super().extra(),
            "claim": claim,
            "asks": asks_of(claim, self.cluster.name),
            "constraints": constraints_of(claim),
            "pods": pods,
            "runs": run_queries.runs_of_claim(
                self.cluster, claim.namespace, claim.name
            )[:10],
            "is_pending": is_pending,
            "reason": run_queries.waiting_reasons(self.cluster, [claim]).get(claim.pk)
            if is_pending
            else None,
            "can_write": not self.cluster.read_only,
            "will_pin": is_pending and self._will_pin(),
            "policies": run_queries.NODE_POLICIES,
            "consumers": claim.consumers.all(),
            "most_consumers": MOST_CONSUMERS,
            "pods_hold_it": any(not c.is_pin for c in claim.consumers.all()),
            "pinned": any(c.is_pin for c in claim.consumers.all()),
            "booked_twice": run_queries.booked_twice(
                self.cluster, claim.namespace, claim.name
            )
            if claim.device_count
            else [],
        }
