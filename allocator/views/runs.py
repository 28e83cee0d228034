"""The list of runs, and the story of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse

from allocator import queries
from allocator.choices import FINAL, NodePolicy, RunKind, RunState
from allocator.filtersets import RunFilter
from allocator.models import AllocationRun
from allocator.views.differences import difference
from inventory import clients
from inventory.views.kit import ClusterDetail, ClusterList
from web.pages import Column, Crumb, Fact, Heading, cells


class Runs(ClusterList[AllocationRun]):
    """All runs of a cluster, newest first."""

    template_name = "allocator/runs.html"
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
            Column("kind", "Kind", value=kind_in_words),
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
            Column(
                "reason",
                "What happened",
                value=lambda r: r.reason or r.waits_for,
                kind="line",
            ),
            Column("by", "Started by", value=started_by),
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
            queries.runs(self.cluster)
            .select_related("batch", "retry_of", "repair")
            .prefetch_related("transitions", "steps"),
            pk=self.kwargs["pk"],
        )

    def heading(self) -> Heading:
        run, cluster = self.object, self.cluster.name
        return Heading(
            kind="Run",
            name=f"{run.namespace}/{run.claim_name}",
            badges=[cells.badge(run.state)]
            + ([cells.badge(kind_in_words(run))] if _is_unusual(run) else []),
            sentence=run.reason or sentence_of(run),
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
            Fact("Started by", started_by(run)),
            Fact("Started", cells.ago(run.created_at)),
        ]
        if run.wanted_node:
            facts.append(Fact("Only on node", cells.mono(run.wanted_node)))
        elif run.kind == RunKind.ALLOCATE and run.policy != NodePolicy.FIRST:
            facts.append(Fact("Choice of node", run.get_policy_display()))
        if run.node_name:
            href = reverse("node", args=[cluster, run.node_name])
            facts.append(Fact("Node", cells.link(href, run.node_name, mono=True)))
        if run.finished_at:
            took = (run.finished_at - run.created_at).total_seconds()
            facts.append(Fact("Took", f"{took:.2f} s"))
        if run.attempts > 1:
            facts.append(Fact("Attempts", run.attempts))
        if run.batch is not None:
            href = reverse("run-batch", args=[cluster, run.batch.pk])
            facts.append(Fact("Batch", cells.link(href, "its batch")))
        if run.retry_of is not None:
            href = reverse("run", args=[cluster, run.retry_of.pk])
            facts.append(Fact("After", cells.link(href, "an earlier run")))
        if run.repair is not None and run.repair.finding_id is not None:
            href = reverse("finding", args=[cluster, run.repair.finding_id])
            facts.append(Fact("Step of", cells.link(href, "a repair")))
        facts.append(Fact("Run id", cells.copyable(str(run.pk))))
        return facts

    def extra(self) -> dict[str, object]:
        run = self.object
        plan = run.plan if isinstance(run.plan, dict) else {}
        devices = plan.get("devices") or {}
        over = run.state in FINAL
        writable = not self.cluster.read_only
        return {
            **super().extra(),
            "run": run,
            "story": queries.story(run),
            "results": devices.get("results") or [],
            "difference": difference(run),
            "is_open": not over,
            "rule_risk": rule_risk(run),
            "releases": run.kind == RunKind.DEALLOCATE,
            "can_cancel": _can_cancel(run),
            "can_retry": _can_retry(run) and self.cluster.left_at is None,
            "can_write": run.dry_run and run.state == RunState.DONE and writable,
            "later_runs": list(run.retries.order_by("created_at")[:3]),
            "booked_twice": queries.booked_twice(
                self.cluster, run.namespace, run.claim_name
            )
            if run.state == RunState.FAILED
            else [],
        }


def rule_risk(run: AllocationRun) -> str:
    """What DeviceTaintRules of this run risk, or may risk where none was sent yet."""
    if run.state in FINAL and not run.dry_run and not _used_rules(run):
        return ""
    return clients.rule_risks().get(run.cluster.name, "")


def _used_rules(run: AllocationRun) -> bool:
    return any(
        "/devicetaintrules" in str(step.request.get("request"))
        for step in run.steps.all()
    )


def _can_retry(run: AllocationRun) -> bool:
    """A rewriting belongs to a repair: it is asked for again there."""
    if run.state not in FINAL or run.kind == RunKind.REWRITE:
        return False
    return run.dry_run or run.state != RunState.DONE


def _can_cancel(run: AllocationRun) -> bool:
    if run.state in {RunState.QUEUED, RunState.PLANNING}:
        return True
    return run.state == RunState.WRITING and not run.committed and not run.stop_asked


def _is_unusual(run: AllocationRun) -> bool:
    return run.dry_run or run.kind != RunKind.ALLOCATE


def kind_in_words(run: AllocationRun) -> str:
    """ "allocate", "deallocate", and "plan only" where nothing is to be written."""
    if not run.dry_run:
        return str(run.kind)
    return "plan only" if run.kind == RunKind.ALLOCATE else "deallocate, plan only"


def started_by(run: AllocationRun) -> str:
    """The user, or the rule; of users that are gone no name is left."""
    if run.created_by is not None:
        return str(run.created_by)
    return f"the rule for {run.rule.namespace}" if run.rule is not None else ""


_SENTENCES: Final = {
    RunState.QUEUED: "Waits for a worker. If it stays so, no worker is running.",
    RunState.PLANNING: "Looks for devices on the newest picture of the cluster.",
    RunState.WRITING: "Writes the allocation to the cluster.",
    RunState.VERIFYING: "Waits for the watch to bring the allocation back.",
    RunState.DONE: "The claim is allocated; the watch has confirmed it.",
    RunState.NO_FIT: "No node has what the claim asks for.",
    RunState.CONFLICT: "Somebody else changed the claim at the same time.",
    RunState.FAILED: "It failed.",
    RunState.CANCELLED: "It was cancelled before anything was written.",
}
_OF_RELEASES: Final = {
    RunState.PLANNING: "Looks at who uses the claim.",
    RunState.WRITING: "Takes the allocation back.",
    RunState.VERIFYING: "Waits for the watch to show that the claim is free.",
}
_OF_REWRITINGS: Final = {
    RunState.PLANNING: "Looks at what the claim holds.",
    RunState.WRITING: "Takes the allocation away and puts it back as it was.",
    RunState.VERIFYING: "Waits for the watch to bring it back.",
    RunState.DONE: "The allocation was written anew; the watch has confirmed it.",
}


def sentence_of(run: AllocationRun) -> str:
    """What is going on, for a state that gives no reason of its own."""
    if run.stop_asked and run.state == RunState.WRITING:
        return (
            f"{run.stop_asked} wants it stopped: what it has put into the cluster is "
            "taken away first."
        )
    if run.waits_for:
        return run.waits_for
    state = RunState(run.state)
    if run.kind == RunKind.DEALLOCATE and state in _OF_RELEASES:
        return _OF_RELEASES[state]
    if run.kind == RunKind.REWRITE and state in _OF_REWRITINGS:
        return _OF_REWRITINGS[state]
    return _SENTENCES[state]
