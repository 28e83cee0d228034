"""The runs of one batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse

from allocator import queries
from allocator.choices import FINAL, RunState
from allocator.models import AllocationRun, RunBatch
from allocator.views.runs import Runs
from web.pages import Column, Crumb, cells


class Batch(Runs):
    """Every run of a batch, in their order; follows them until the last is over."""

    template_name = "allocator/batch.html"
    results_template = "allocator/batch_results.html"
    title = "Batch"
    name = "batch"
    default_sort = "turn"

    def available_columns(self) -> Sequence[Column]:
        turn = Column(
            "turn",
            "Turn",
            value=lambda run: run.position + 1,
            sort=("position",),
            kind="number",
            title="The order in which they are planned: who comes first takes first.",
        )
        return (turn, *super().available_columns())

    @cached_property
    def batch(self) -> RunBatch:
        found = queries.batches(self.cluster).filter(pk=self.kwargs["pk"]).first()
        if found is None:
            raise Http404("There is no such batch of runs in this cluster.")
        return found

    def queryset(self) -> QuerySet[AllocationRun]:
        return queries.runs(self.cluster).filter(batch=self.batch)

    @cached_property
    def states(self) -> Counter[str]:
        return Counter(self.queryset().values_list("state", flat=True))

    def sentence(self) -> str:
        total = sum(self.states.values())
        open_ = sum(n for state, n in self.states.items() if state not in FINAL)
        words = ", ".join(
            f"{self.states[state]:,} {_in_words(RunState(state), self.states[state])}"
            for state in RunState.values
            if self.states[state]
        )
        going = (
            f" {open_:,} {'is' if open_ == 1 else 'are'} under way." if open_ else ""
        )
        return f"{cells.count(total, 'claim')}: {words}.{going}"

    def crumbs(self) -> list[Crumb]:
        runs = reverse("runs", args=[self.cluster.name])
        return [self.cluster_crumb(), Crumb("Runs", runs), Crumb("Batch")]

    @property
    def live(self) -> bool:
        return any(state not in FINAL for state in self.states)

    def extra(self) -> dict[str, object]:
        planned_only = not self.queryset().filter(dry_run=False).exists()
        return {
            **super().extra(),
            "batch": self.batch,
            "sentence": self.sentence(),
            "is_open": self.live,
            "can_write": planned_only
            and not self.live
            and self.states[RunState.DONE] > 0
            and not self.cluster.read_only,
        }


def _in_words(state: RunState, number: int) -> str:
    if state == RunState.NO_FIT and number != 1:
        return "do not fit"
    return str(state.label)
