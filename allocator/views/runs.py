"""The list of runs, the story of one, and the buttons that start and cancel them."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.generic import View

from allocator import queries, services
from allocator.choices import FINAL, RunState
from allocator.filtersets import RunFilter
from allocator.forms import StartRunForm
from allocator.models import AllocationRun
from inventory.views.kit import ClusterDetail, ClusterList, InCluster
from web.doors import RequiresRole, Role
from web.pages import Column, Crumb, Fact, Heading, cells


class Runs(ClusterList[AllocationRun]):
    """All runs of a cluster, newest first."""

    title = "Runs"
    name = "runs"
    noun = ("run", "runs")
    filterset_class = RunFilter
    default_sort = "-created"
    refresh_on = ("AllocationRun",)
    nothing_yet = "Nobody has allocated a claim from here. Open a pending claim and press Allocate."

    def available_columns(self) -> Sequence[Column]:
        name = self.cluster.name
        return (
            Column(
                "claim",
                "Claim",
                value=lambda r: f"{r.namespace}/{r.claim_name}",
                sort=("claim_name",),
                kind="mono",
                href=lambda r: reverse("run", args=[name, r.pk]),
            ),
            Column("state", "State", sort=("state",), kind="badge"),
            Column(
                "kind", "Kind", value=lambda r: "plan only" if r.dry_run else "allocate"
            ),
            Column(
                "node",
                "Node",
                value="node_name",
                sort=("node_name",),
                cell=lambda r: (
                    cells.link(
                        reverse("node", args=[name, r.node_name]),
                        r.node_name,
                        mono=True,
                    )
                    if r.node_name
                    else cells.NOTHING
                ),
            ),
            Column("reason", "What happened", kind="line"),
            Column("by", "Started by", value=lambda r: str(r.created_by or "")),
            Column("attempts", "Attempts", kind="number", shown=False),
            Column(
                "created", "Age", value="created_at", sort=("created_at",), kind="age"
            ),
        )

    def queryset(self) -> QuerySet[AllocationRun]:
        return queries.runs(self.cluster)

    def sentence(self) -> str:
        open_runs = self.queryset().exclude(state__in=FINAL).count()
        if not open_runs:
            return "No run is under way."
        return f"{cells.count(open_runs, 'run')} under way."


class Run(ClusterDetail[AllocationRun]):
    """One run as a story with times, what it planned and exactly what it wrote."""

    template_name = "allocator/run.html"
    fragments = ("run-body",)

    def load(self) -> AllocationRun:
        return get_object_or_404(
            queries.runs(self.cluster).prefetch_related("transitions"),
            pk=self.kwargs["pk"],
        )

    def heading(self) -> Heading:
        run, cluster = self.object, self.cluster.name
        return Heading(
            kind="Run",
            name=f"{run.namespace}/{run.claim_name}",
            badges=[cells.badge(run.state)]
            + ([cells.badge("plan only")] if run.dry_run else []),
            sentence=run.reason or sentence_of(RunState(run.state)),
            crumbs=(
                Crumb(cluster, reverse("overview", args=[cluster])),
                Crumb("Runs", reverse("runs", args=[cluster])),
                Crumb(f"{run.namespace}/{run.claim_name}"),
            ),
        )

    def facts(self) -> list[Fact]:
        run, cluster = self.object, self.cluster.name
        claim_href = reverse("claim", args=[cluster, run.namespace, run.claim_name])
        facts = [
            Fact(
                "Claim",
                cells.link(claim_href, f"{run.namespace}/{run.claim_name}", mono=True),
            ),
            Fact("Started by", str(run.created_by or "a user who is gone")),
            Fact("Started", cells.ago(run.created_at)),
        ]
        if run.wanted_node:
            facts.append(Fact("Only on node", cells.mono(run.wanted_node)))
        if run.node_name:
            href = reverse("node", args=[cluster, run.node_name])
            facts.append(Fact("Node", cells.link(href, run.node_name, mono=True)))
        if run.finished_at:
            took = (run.finished_at - run.created_at).total_seconds()
            facts.append(Fact("Took", f"{took:.2f} s"))
        if run.attempts > 1:
            facts.append(Fact("Attempts", run.attempts))
        facts.append(Fact("Run id", cells.copyable(str(run.pk))))
        return facts

    def extra(self) -> dict[str, object]:
        run = self.object
        plan = run.plan if isinstance(run.plan, dict) else {}
        devices = plan.get("devices") or {}
        return {
            **super().extra(),
            "run": run,
            "steps": queries.timeline(run),
            "results": devices.get("results") or [],
            "is_open": run.state not in FINAL,
            "can_cancel": run.state in {RunState.QUEUED, RunState.PLANNING},
            "can_retry": run.state in FINAL
            and (
                run.dry_run
                or (run.state != RunState.DONE and not self.cluster.read_only)
            ),
        }


def sentence_of(state: RunState) -> str:
    """What is going on, for a state that gives no reason of its own."""
    return {
        RunState.QUEUED: "Waits for a worker. If it stays so, no worker is running.",
        RunState.PLANNING: "Looks for devices on the newest picture of the cluster.",
        RunState.WRITING: "Writes the allocation to the cluster.",
        RunState.VERIFYING: "Waits for the watch to bring the allocation back.",
        RunState.DONE: "The claim is allocated; the watch has confirmed it.",
        RunState.NO_FIT: "No node has what the claim asks for.",
        RunState.CONFLICT: "Somebody else changed the claim at the same time.",
        RunState.FAILED: "It failed.",
        RunState.CANCELLED: "It was cancelled before anything was written.",
    }[state]


class StartRun(RequiresRole, InCluster, View):
    """POST: start a run for a pending claim and go to its page."""

    required_role = Role.OPERATOR

    def post(self, request: HttpRequest, **_: str) -> HttpResponse:
        form = StartRunForm(request.POST)
        if not form.is_valid():
            for errors in form.errors.values():
                messages.error(request, " ".join(map(str, errors)))
            return redirect("claims", self.cluster.name)
        wanted = form.cleaned_data
        assert isinstance(request.user, User)
        try:
            run = services.start_run(
                cluster=self.cluster,
                namespace=wanted["namespace"],
                claim_name=wanted["claim_name"],
                user=request.user,
                node=wanted["node"],
                dry_run=wanted["dry_run"],
            )
        except services.RunRefused as refusal:
            messages.error(request, str(refusal))
            return redirect(
                "claim", self.cluster.name, wanted["namespace"], wanted["claim_name"]
            )
        return redirect("run", self.cluster.name, run.pk)


class CancelRun(RequiresRole, InCluster, View):
    """POST: stop a run that has not written yet."""

    required_role = Role.OPERATOR

    def post(self, request: HttpRequest, pk: str, **_: str) -> HttpResponse:
        run = get_object_or_404(queries.runs(self.cluster), pk=pk)
        assert isinstance(request.user, User)
        try:
            services.cancel_run(run=run, user=request.user)
        except services.RunRefused as refusal:
            messages.error(request, str(refusal))
        return redirect("run", self.cluster.name, run.pk)
