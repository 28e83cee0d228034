"""One finding: what, where, since when, why it matters, what to do."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.generic import View

from allocator.findings import places, queries
from allocator.findings.acknowledging import (
    AcknowledgeRefused,
    acknowledge,
    take_back,
)
from allocator.findings.repairing import steps_of
from allocator.models import Finding
from allocator.repairs.asking import DEFAULT_HOURS, HOURS
from allocator.repairs.guide import guide_of, history_of, last_failure
from allocator.repairs.looking import picture_of
from inventory.views.kit import ClusterDetail, InCluster
from web.doors import RequiresRole, Role
from web.pages import Crumb, Fact, Heading, cells

EARLIER_SHOWN = 20


class FindingPage(ClusterDetail[Finding]):
    """The finding with its evidence, and the way to mend it as steps."""

    template_name = "allocator/findings/detail.html"
    fragments = ("finding-body",)

    def load(self) -> Finding:
        return find(self.cluster.pk, self.kwargs["pk"])

    def heading(self) -> Heading:
        row = self.object
        badges = [cells.badge(row.severity)]
        if row.ended_at is not None:
            badges.append(cells.badge("ended"))
        elif row.acknowledged_at is not None:
            badges.append(cells.badge("acknowledged"))
        return Heading(
            kind="Finding",
            name=row.title,
            sentence=row.sentence,
            badges=badges,
            crumbs=[
                self.cluster_crumb(),
                Crumb("Findings", self.url("findings")),
                Crumb(row.title),
            ],
        )

    def facts(self) -> list[Fact]:
        row, here = self.object, self.cluster.name
        facts = [
            Fact("Where", places.where(here, row)),
            Fact("Since", cells.ago(row.since), help="First seen then."),
        ]
        if row.ended_at is not None:
            facts.append(Fact("Ended", cells.ago(row.ended_at)))
        else:
            facts.append(Fact("Last seen", cells.ago(self._last_seen())))
        facts.append(Fact("Code", cells.copyable(row.code)))
        return facts

    def extra(self) -> dict[str, object]:
        row, here = self.object, self.cluster.name
        concerned = [places.ref_of(one) for one in row.objects_concerned.order_by("pk")]
        nodes = [ref.name for ref in concerned if ref.kind == "Node"]
        return super().extra() | {
            "finding": row,
            "evidence": _evidence(row),
            "steps": steps_of(row, nodes),
            "concerned": [places.link_to(here, ref) for ref in concerned],
            "earlier": list(queries.earlier(row)[:EARLIER_SHOWN]),
            **self._repair(),
        }

    def _repair(self) -> dict[str, object]:
        """The guided steps, where there are any."""
        found = picture_of(self.object)
        if found is None:
            return {"picture": None}
        return {
            "picture": found,
            "guide": {step.key: step for step in guide_of(found)},
            "history": history_of(found),
            "failure": last_failure(found),
            "hours": HOURS,
            "default_hours": DEFAULT_HOURS,
        }

    def _last_seen(self) -> datetime:
        passing = queries.last_pass(self.cluster)
        return (passing and passing.ended_at) or self.object.last_seen


def _evidence(row: Finding) -> list[tuple[str, str]]:
    """Names as words: ``counter_set`` → "counter set"."""
    return [
        (name.replace("_", " "), str(value))
        for name, value in sorted(row.evidence.items())
    ]


def find(cluster_id: int, pk: int) -> Finding:
    """Or Http404."""
    rows = queries.findings().filter(cluster_id=cluster_id)
    row = rows.filter(pk=pk).first()
    if row is None:
        raise Http404(
            "There is no such finding (any more): those that ended are kept for a while only."
        )
    return row


class Acknowledge(RequiresRole, InCluster, View):
    """POST: take note of a finding with a reason, or take that back."""

    required_role = Role.OPERATOR
    http_method_names = ("post",)

    def post(self, request: HttpRequest, pk: int, **_: str) -> HttpResponse:
        row = find(self.cluster.pk, pk)
        try:
            if request.POST.get("take_back"):
                take_back(row)
            else:
                acknowledge(row, request.user, request.POST.get("reason", ""))
        except AcknowledgeRefused as refusal:
            messages.error(request, str(refusal).removeprefix("reason: ").capitalize())
        return redirect("finding", self.cluster.name, row.pk)
