"""The list of claims and the page of one: why does it wait, what did it get?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils.safestring import SafeString

from allocator import queries as run_queries
from claims.choices import ClaimState
from claims.filtersets import ClaimFilter
from claims.models import AllocatedDevice, ClaimRequest, ResourceClaim
from claims.queries import claims as queries
from claims.views import cells as claim_cells
from claims.views.selectors import Selector, selectors_of
from claims.views.verdicts import waiting_cell, waiting_line
from inventory.queries.raws import list_at, mappings_at
from inventory.views.kit import ClusterDetail, ClusterList
from web.pages import Column, Crumb, Fact, Heading, cells


class Claims(ClusterList[ResourceClaim]):
    """All claims of a cluster."""

    title = "Claims"
    name = "claims"
    noun = ("claim", "claims")
    filterset_class = ClaimFilter
    default_sort = "-created"
    refresh_on = ("ResourceClaim", "Pod")
    nothing_yet = "No ResourceClaim exists in this cluster."

    def available_columns(self) -> Sequence[Column]:
        name = self.cluster.name
        return (
            Column(
                "name",
                "Claim",
                value=str,
                sort=("name", "namespace"),
                kind="mono",
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
                value=lambda c: ", ".join(map(str, c.devices.all())),
                cell=lambda c: claim_cells.devices_cell(name, c),
            ),
            Column(
                "node",
                "Node",
                value="node_name",
                sort=("node_name",),
                cell=lambda c: claim_cells.node_cell(name, c.node_name),
            ),
            Column(
                "consumers",
                "Used by",
                value=lambda c: ", ".join(map(str, c.consumers.all())),
                cell=lambda c: claim_cells.consumers_cell(name, c),
            ),
            Column(
                "waiting",
                "Why it waits",
                value=self.why_it_waits,
                cell=self.waiting_cell,
                kind="line",
            ),
            Column("namespace", "Namespace", sort=("namespace",), shown=False),
            Column("template", "Template", value="template_name", shown=False),
            Column(
                "created", "Age", value="created_at", sort=("created_at",), kind="age"
            ),
        )

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

    def sentence(self) -> str:
        counts = queries.claim_counts(self.cluster)
        total = sum(counts.values())
        holding = total - counts[ClaimState.PENDING] - counts[ClaimState.DELETING]
        waiting = counts[ClaimState.PENDING]
        return (
            f"{holding:,} of {cells.count(total, 'claim')} hold devices; "
            f"{waiting:,} {'waits' if waiting == 1 else 'wait'}."
        )


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


def state_sentence(claim: ResourceClaim) -> str:
    """What is so and what happens next."""
    held = cells.count(claim.device_count, "device")
    where = f" on {claim.node_name}" if claim.node_name else ""
    match claim.state:
        case ClaimState.PENDING:
            return "It waits for an allocation and holds nothing."
        case ClaimState.ALLOCATED:
            return (
                f"It holds {held}{where}. Nobody has reserved it: a pod can use it now."
            )
        case ClaimState.RESERVED:
            users = cells.count(claim.consumer_count, "consumer")
            return f"It holds {held}{where}, reserved for {users} not running yet."
        case ClaimState.IN_USE:
            users = cells.count(claim.consumer_count, "consumer")
            return f"It holds {held}{where} and is in use by {users}."
        case _:
            return "It is being deleted and goes when its last consumer has ended."


class Claim(ClusterDetail[ResourceClaim]):
    """One claim: requests on the left, result on the right, users below."""

    template_name = "claims/claim.html"
    fragments = ("claim-body",)

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
            Fact("Namespace", cells.mono(claim.namespace)),
            Fact("Created", cells.ago(claim.created_at)),
        ]
        if claim.owner_name:
            owner = f"{claim.owner_kind} {claim.owner_name}"
            if claim.owner_kind == "Pod":
                href = claim_cells.pod_href(cluster, claim.namespace, claim.owner_name)
                facts.append(Fact("Made for", cells.link(href, owner)))
            else:
                facts.append(Fact("Made for", owner))
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
        }
